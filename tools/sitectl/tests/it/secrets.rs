//! No program takes a secret as an argument, offers one in its help, or shows one by `Debug`.

use std::{collections::HashMap, ffi::OsString, fmt::Debug, fs};

use clap::{Arg, Command, Parser};
use site_service::settings::{self, Exit};
use tempfile::TempDir;
use testkit::root;
use uuid::Uuid;

use crate::settings_table;

/// In every secret, and nowhere else.
const MARK: &str = "marked";
const SECRET_WORDS: [&str; 5] = ["PASSWORD", "SECRET", "KEY", "TOKEN", "WEBHOOKS"];
/// Public key from age's documentation.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
/// Names with these words that are no secrets.
const NO_SECRETS: [&str; 6] = [
    "BACKUP_S3_ACCESS_KEY_ID",
    "GRPC_KEY_FILE",
    "S3_ACCESS_KEY_ID",
    "WEBHOOKS_ALLOW_PRIVATE",
    "WEBHOOKS_CA_FILE",
    "WEBHOOKS_SECRETS_DIR",
];

/// Returns the settings as `Debug` shows them, or the error.
type Read = fn(Vec<OsString>, &HashMap<String, String>) -> Result<String, String>;

fn read<S: Parser + Debug>(args: Vec<OsString>, files: &HashMap<String, String>) -> Result<String, String> {
    match settings::read_from::<S>(args, |name| files.get(name).cloned()) {
        Ok(settings) => Ok(format!("{settings:?}")),
        Err(Exit::Help(said) | Exit::InvalidSetting(said)) => Err(said),
    }
}

fn reads() -> [Read; 7] {
    [
        read::<gateway::Settings>,
        read::<contact::Settings>,
        read::<newsletter::Settings>,
        read::<careers::Settings>,
        read::<notifier::Settings>,
        read::<web::Settings>,
        read::<sitectl::Cli>,
    ]
}

fn for_each_command(mut look: impl FnMut(&str, &Command, Read)) {
    for (program, read) in settings_table::programs().iter().zip(reads()) {
        for (name, command) in settings_table::leaves(program, program.get_name()) {
            look(&name, command, read);
        }
    }
}

fn variable(arg: &Arg) -> Option<String> {
    arg.get_env().map(|name| name.to_string_lossy().into_owned())
}

fn secrets(command: &Command) -> impl Iterator<Item = (String, String)> {
    let secrets = command.get_arguments().filter(|arg| arg.is_hide_env_values_set());
    secrets.filter_map(|arg| Some((variable(arg)?, format!("--{}", arg.get_long()?))))
}

fn words(name: &str, more: &[&str]) -> Vec<OsString> {
    let words = name.split(' ').chain(more.iter().copied());
    words.map(OsString::from).collect()
}

#[test]
fn a_secret_is_no_argument_of_any_program_and_its_help_offers_none() {
    let mut looked_at = 0;
    for_each_command(|name, command, read| {
        let help = read(words(name, &["--help"]), &HashMap::new()).expect_err("help");
        for (variable, flag) in secrets(command) {
            looked_at += 1;
            assert!(
                help.contains(&format!("{variable}_FILE")),
                "{name} {variable}: {help}"
            );
            let offered = help.split([' ', '\n', '=']).any(|word| word == flag);
            assert!(!offered, "{name} {flag}: {help}");
            for given in [&[&*format!("{flag}={MARK}")][..], &[&*flag, MARK]] {
                let said = read(words(name, given), &HashMap::new()).expect_err("refused");
                let refusal = format!("The setting {variable} is a secret and not taken as an argument");
                assert!(
                    said.starts_with(&refusal) && !said.contains(MARK),
                    "{name}: {said}"
                );
            }
        }
    });
    assert!(looked_at > 20, "{looked_at}");
}

#[test]
fn what_is_called_as_secrets_are_is_one() {
    for_each_command(|name, command, _| {
        for arg in command.get_arguments() {
            let Some(variable) = variable(arg) else { continue };
            let sounds_secret = SECRET_WORDS
                .iter()
                .any(|word| variable.split('_').any(|part| part == *word));
            if sounds_secret && !NO_SECRETS.contains(&&*variable) {
                assert!(arg.is_hide_env_values_set(), "{name}: {variable}");
            }
        }
    });
}

fn marked(variable: &str) -> String {
    match variable {
        "DKIM_KEY" => "bWFya2VkbWFya2VkbWFya2VkbWFya2VkbWFya2VkbWE=".to_owned(),
        "WEBHOOKS" => format!(
            r#"[{{"name": "crm", "url": "https://crm.example/{MARK}", "events": ["contact.received"],
                "secrets": ["whsec_bWFya2VkbWFya2VkbWFya2VkbWFya2VkbWFya2VkbWE="]}}]"#
        ),
        _ => MARK.repeat(8),
    }
}

/// Flags without which a command does not accept its secrets.
fn needed(command: &Command) -> Vec<String> {
    let brand = root().join("brand.json").to_string_lossy().into_owned();
    let values = [
        ("backup-recipients", RECIPIENT),
        ("backup-s3-access-key-id", "somebody"),
        ("backup-s3-endpoint", "https://s3.example"),
        ("brand-file", &*brand),
        ("dkim-domain", "oculant.example"),
        ("dkim-selector", "site"),
        ("imap-host", "imap.example"),
        ("imap-user", "somebody"),
        ("mail-from", "site@oculant.example"),
        ("nats-user", "somebody"),
        ("site-url", "https://oculant.example"),
        ("smtp-user", "somebody"),
        ("spf-host", "mx.oculant.example"),
        ("synthetic-email", "check@oculant.example"),
        ("to", "editor@oculant.example"),
    ];
    let plain = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_env_values_set());
    let needed = plain.filter_map(|arg| {
        let long = arg.get_long().unwrap_or_default();
        match values.iter().find(|(name, _)| *name == long) {
            Some((name, value)) => Some(format!("--{name}={value}")),
            None if long == "all" => Some("--all".to_owned()),
            None if arg.get_id() == "id" => Some(Uuid::nil().to_string()),
            None if arg.get_id() == "shell" => Some("bash".to_owned()),
            None if arg.is_required_set() && arg.is_positional() => Some("1".to_owned()),
            None if arg.is_required_set() => Some(format!("--{long}=1")),
            None => None,
        }
    });
    needed.collect()
}

#[test]
fn debug_shows_no_secret_of_any_program() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    for variable in [
        "BACKUP_IDENTITY",
        "BACKUP_S3_SECRET_ACCESS_KEY",
        "CHALLENGE_KEY",
        "DKIM_KEY",
        "IMAP_PASSWORD",
        "NATS_PASSWORD",
        "PERSON_KEY",
        "S3_SECRET_ACCESS_KEY",
        "SMTP_PASSWORD",
        "SYNTHETIC_KEY",
        "TOKEN_KEY",
        "TOKEN_KEY_FORMER",
        "WEBHOOKS",
    ] {
        fs::write(folder.path().join(variable), marked(variable))?;
    }
    for_each_command(|name, command, read| {
        let files: HashMap<String, String> = secrets(command)
            .map(|(variable, _)| {
                let file = folder.path().join(&variable);
                (format!("{variable}_FILE"), file.to_string_lossy().into_owned())
            })
            .collect();
        let needed = needed(command);
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        let shown = read(words(name, &needed), &files).unwrap_or_else(|said| panic!("{name}: {said}"));
        for secret in [MARK, "bWFya2Vk"] {
            assert!(!shown.contains(secret), "{name}: {shown}");
        }
    });
    Ok(())
}
