//! `sitectl init`: settings and secrets of a new installation.

mod overlay;
mod question;

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use age::x25519::Identity;
use anyhow::{Context as _, ensure};
use base16ct::lower::encode_string;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use serde_json::json;
use site_mail::{dkim::dns_name, is_example, mailbox};
use site_service::settings::{ExposeSecret as _, Secret};

use self::{
    overlay::Profile,
    question::{Question, some},
};
use crate::output::print_output;

/// Passwords at the broker (`crates/broker/nats/users.conf`).
const BROKER_PASSWORDS: [&str; 9] = [
    "NATS_OPERATOR_PASSWORD",
    "NATS_CONTACT_PASSWORD",
    "NATS_NEWSLETTER_PASSWORD",
    "NATS_CAREERS_PASSWORD",
    "NATS_NOTIFIER_PASSWORD",
    "NATS_BACKUP_PASSWORD",
    "NATS_READER_PASSWORD",
    "NATS_MONITOR_PASSWORD",
    "NATS_ROUTES_PASSWORD",
];
/// The store of `compose/compose.yaml`, which keeps objects in a folder of the machine.
const LOCAL_STORE: &str = "http://s3:9000";
const IDENTITY_FILE: &str = "backup-identity.txt";

/// Answers without a flag are asked for at a terminal.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// Writes an overlay for Kubernetes into this folder, such as k8s/overlays/mine, instead of `.env` for compose.yaml
    #[arg(long, value_name = "FOLDER")]
    kubernetes: Option<PathBuf>,
    /// Profile that the overlay builds on
    #[arg(long, value_enum, default_value = "small")]
    profile: Profile,
    /// Host name of the site, such as www.company.com
    #[arg(long)]
    domain: Option<String>,
    /// Sender of mails, such as "Company <hello@company.com>"
    #[arg(long)]
    mail_from: Option<String>,
    /// Recipient of contact messages
    #[arg(long)]
    sales_to: Option<String>,
    /// Recipient of applications
    #[arg(long)]
    recruiters_to: Option<String>,
    /// Recipient of reports about undeliverable events
    #[arg(long)]
    operator_to: Option<String>,
    /// Host name of the mail server
    #[arg(long)]
    smtp_host: Option<String>,
    /// Port of the mail server
    #[arg(long)]
    smtp_port: Option<String>,
    /// How the connection is encrypted: `implicit` at port 465, else `starttls`; `none` for a server on this machine
    #[arg(long, value_parser = ["none", "starttls", "implicit"])]
    smtp_tls: Option<String>,
    /// User at the mail server, empty if it has no login
    #[arg(long)]
    smtp_user: Option<String>,
    /// Password at the mail server
    #[arg(long, env = "SMTP_PASSWORD", hide_env_values = true)]
    smtp_password: Option<Secret>,
    /// Address of the S3 store of résumés; with compose.yaml, by default a store in a folder of the machine
    #[arg(long)]
    s3_endpoint: Option<String>,
    /// Region of this store
    #[arg(long, default_value = "us-east-1")]
    s3_region: String,
    /// Bucket of résumés
    #[arg(long, default_value = "resumes")]
    s3_bucket: String,
    /// Access key to the bucket of résumés
    #[arg(long)]
    s3_access_key_id: Option<String>,
    /// Secret of the access key to the bucket of résumés
    #[arg(long, env = "S3_SECRET_ACCESS_KEY", hide_env_values = true)]
    s3_secret_access_key: Option<Secret>,
    /// Registry of the images, such as ghcr.io/company/site
    #[arg(long)]
    registry: Option<String>,
    /// Version of the images
    #[arg(long, default_value = env!("CARGO_PKG_VERSION"))]
    image_version: String,
}

/// # Errors
///
/// If an answer is missing or invalid, or a file exists.
pub fn init(args: &InitArgs) -> anyhow::Result<()> {
    let identity = Identity::generate();
    let settings: BTreeMap<_, _> = answers(args)?.into_iter().chain(secrets(&identity)?).collect();
    let folder = args.kubernetes.clone().unwrap_or_default();
    let mut files = match args.kubernetes {
        Some(_) => overlay::files(args.profile, &settings)?,
        None => vec![(".env".to_owned(), env_file(&settings)?)],
    };
    // Git ignores the secrets of an overlay.
    let identity_file = match args.kubernetes {
        Some(_) => format!("secrets/{IDENTITY_FILE}"),
        None => IDENTITY_FILE.to_owned(),
    };
    files.push((identity_file, identity.to_string().expose_secret().to_owned()));
    let files = files.into_iter().map(|(path, text)| (folder.join(path), text));
    let files: Vec<(PathBuf, String)> = files.collect();
    for (path, _) in &files {
        ensure!(
            !path.exists(),
            "{} exists, and is not overwritten",
            path.display()
        );
    }
    for (path, text) in &files {
        write_new(path, text)?;
    }
    let written = files.iter().map(|(path, _)| path.display().to_string());
    let hint = [
        String::new(),
        format!("Move {IDENTITY_FILE} to two places elsewhere: no backup can be read without it."),
        "Keep a copy of PERSON_KEY and TOKEN_KEY beside it: they are in no backup.".to_owned(),
        "Backups go to the same store until you name another (BACKUP_S3_ENDPOINT and its keys).".to_owned(),
    ];
    print_output(false, &json!(null), written.chain(hint))
}

fn env_file(settings: &BTreeMap<&str, String>) -> anyhow::Result<String> {
    let mut text = "# Settings and secrets of compose.yaml.\n".to_owned();
    for (name, value) in settings {
        writeln!(text, "{name}={}", quoted(name, value)?)?;
    }
    Ok(text)
}

type Setting = (&'static str, String);

fn answers(args: &InitArgs) -> anyhow::Result<Vec<Setting>> {
    let domain = Question("Host name of the site", "--domain");
    let domain = domain.required(args.domain.as_ref(), |raw| dns_name(raw).map(drop))?;
    let registry = Question("Registry of the images", "--registry");
    let registry = registry.required(args.registry.as_ref(), some)?;
    let mut answers = Vec::from(mail_addresses(args)?);
    answers.extend(mail_server(args)?);
    answers.extend(stores(args, &domain)?);
    answers.extend([
        ("SITE_URL", format!("https://{domain}")),
        ("DOMAIN", domain),
        ("REGISTRY", registry),
        ("VERSION", args.image_version.clone()),
        ("WEBHOOKS", "[]".to_owned()),
    ]);
    Ok(answers)
}

fn mail_addresses(args: &InitArgs) -> anyhow::Result<[Setting; 4]> {
    let address = |raw: &str| match mailbox(raw)? {
        example if is_example(&example.email) => Err("nobody reads mail in a domain for examples"),
        _ => Ok(()),
    };
    let from = Question(
        "Sender of mails, such as Company <hello@company.com>",
        "--mail-from",
    );
    let from = from.required(args.mail_from.as_ref(), address)?;
    let sales = Question("Recipient of contact messages", "--sales-to");
    let sales = sales.or(args.sales_to.as_ref(), &from, address)?;
    let recruiters = Question("Recipient of applications", "--recruiters-to");
    let recruiters = recruiters.or(args.recruiters_to.as_ref(), &sales, address)?;
    let operator = Question("Recipient of reports about undeliverable events", "--operator-to");
    let operator = operator.or(args.operator_to.as_ref(), &sales, address)?;
    Ok([
        ("MAIL_FROM", from),
        ("SALES_TO", sales),
        ("RECRUITERS_TO", recruiters),
        ("OPERATOR_TO", operator),
    ])
}

fn mail_server(args: &InitArgs) -> anyhow::Result<[Setting; 5]> {
    let host = Question("Host name of the mail server", "--smtp-host");
    let host = host.required(args.smtp_host.as_ref(), some)?;
    let is_port = |raw: &str| raw.parse::<u16>().map(drop).map_err(|_| "it is no port");
    let port = Question("Port of the mail server", "--smtp-port");
    let port = port.or(args.smtp_port.as_ref(), "587", is_port)?;
    let by_port = if port == "465" { "implicit" } else { "starttls" };
    let tls = args.smtp_tls.as_deref().unwrap_or(by_port).to_owned();
    let user = Question("User at the mail server, if it has a login", "--smtp-user");
    let user = user.or(args.smtp_user.as_ref(), "", |_| Ok(()))?;
    let password = Question("Password at the mail server", "SMTP_PASSWORD");
    let password = match user.as_str() {
        "" => String::new(),
        _ => password.required(exposed(args.smtp_password.as_ref()).as_ref(), some)?,
    };
    Ok([
        ("SMTP_HOST", host),
        ("SMTP_PORT", port),
        ("SMTP_TLS", tls),
        ("SMTP_USER", user),
        ("SMTP_PASSWORD", password),
    ])
}

/// Settings of the two stores. Backups go to the store of résumés until the operator names another.
fn stores(args: &InitArgs, domain: &str) -> anyhow::Result<Vec<Setting>> {
    let is_store = |raw: &str| resumes::endpoint(raw).map(drop);
    let endpoint = Question("Address of the S3 store of résumés", "--s3-endpoint");
    let local = args.kubernetes.is_none().then_some(LOCAL_STORE);
    let endpoint = match local {
        Some(local) => endpoint.or(args.s3_endpoint.as_ref(), local, is_store)?,
        None => endpoint.required(args.s3_endpoint.as_ref(), is_store)?,
    };
    let (id, secret) = if Some(endpoint.as_str()) == local {
        ("site".to_owned(), random_key()?)
    } else {
        let id = Question("Access key to its bucket", "--s3-access-key-id");
        let secret = Question("Secret of this access key", "S3_SECRET_ACCESS_KEY");
        let given = exposed(args.s3_secret_access_key.as_ref());
        (
            id.required(args.s3_access_key_id.as_ref(), some)?,
            secret.required(given.as_ref(), some)?,
        )
    };
    let mut stores = vec![
        ("BACKUP_S3_ENDPOINT", endpoint.clone()),
        ("BACKUP_S3_ACCESS_KEY_ID", id.clone()),
        ("BACKUP_S3_SECRET_ACCESS_KEY", secret.clone()),
        ("S3_REGION", args.s3_region.clone()),
        ("S3_BUCKET", args.s3_bucket.clone()),
        ("BACKUP_S3_REGION", args.s3_region.clone()),
        ("S3_ACCESS_KEY_ID", id),
        ("S3_SECRET_ACCESS_KEY", secret),
    ];
    if Some(endpoint.as_str()) == local {
        stores.push(("COMPOSE_PROFILES", "s3".to_owned()));
        stores.push(("S3_PUBLIC_ENDPOINT", format!("https://{domain}")));
    }
    stores.push(("S3_ENDPOINT", endpoint));
    Ok(stores)
}

fn secrets(identity: &Identity) -> anyhow::Result<Vec<Setting>> {
    let mut secrets = vec![("BACKUP_RECIPIENTS", identity.to_public().to_string())];
    for name in ["PERSON_KEY", "TOKEN_KEY", "CHALLENGE_KEY"] {
        secrets.push((name, random_key()?));
    }
    for name in BROKER_PASSWORDS {
        // The broker reads a value such as 12e4 as a number.
        secrets.push((name, format!("p{}", random_key()?)));
    }
    // For the first endpoint in WEBHOOKS.
    secrets.push(("WEBHOOK_SECRET", format!("whsec_{}", STANDARD.encode(random()?))));
    Ok(secrets)
}

fn exposed(secret: Option<&Secret>) -> Option<String> {
    secret.map(|secret| secret.expose_secret().to_owned())
}

fn random() -> anyhow::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the system has no random bytes")?;
    Ok(bytes)
}

fn random_key() -> anyhow::Result<String> {
    Ok(encode_string(&random()?))
}

/// Value in an `.env` file, quoted to keep `$` and `#`. Fails at characters that readers unescape differently.
fn quoted(name: &str, value: &str) -> anyhow::Result<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+=".contains(c);
    if value.chars().all(is_plain) {
        return Ok(value.to_owned());
    }
    let is_quotable = !value.contains(['\'', '\\', '\n']);
    ensure!(
        is_quotable,
        "{name} has a quote, a backslash or a line break, which an .env file cannot hold"
    );
    Ok(format!("'{value}'"))
}

/// Writes a file that only its owner can read.
fn write_new(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let written = opened.and_then(|mut file| writeln!(file, "{}", text.trim_end()));
    written.with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_as_env_files_need_it() {
        let quoted = |value: &str| quoted("SMTP_PASSWORD", value).ok();
        assert_eq!(quoted("smtp.company.com").as_deref(), Some("smtp.company.com"));
        assert_eq!(quoted("").as_deref(), Some(""));
        assert_eq!(quoted("a $b#c").as_deref(), Some("'a $b#c'"));
        for value in ["it's", "a\\b", "a\nb"] {
            assert_eq!(quoted(value), None, "{value}");
        }
    }
}
