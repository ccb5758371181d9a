//! No program takes a secret as an argument, offers one in its help, or shows one by `Debug`.

use std::{collections::HashMap, ffi::OsString, fmt::Debug, fs};

use clap::{Arg, Command, Parser};
use site_service::settings::{self, Exit};
use tempfile::TempDir;
use testkit::root;
use uuid::Uuid;

use crate::{settings_table, tool::assert_says};

/// Text in every secret, and nowhere else.
const MARK: &str = "marked";
const SECRET_WORDS: [&str; 6] = ["PASSWORD", "CREDENTIALS", "SECRET", "KEY", "TOKEN", "WEBHOOKS"];
/// Public key from age's documentation.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
/// Seed from NATS's documentation.
const NKEY_SEED: &str = "SUAIO3FHUX5PNV2LQIIP7TZ3N4L7TX3W53MQGEIVYFIGA635OZCKEYHFLM";
/// Settings whose name has one of these words, but which are no secrets.
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
fn no_program_accepts_secret_arguments_or_prints_secrets() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let mut seen = 0;
    for_each_command(|name, command, read| {
        let help = read(words(name, &["--help"]), &HashMap::new()).expect_err("help");
        let mut files = HashMap::new();
        for (variable, flag) in secrets(command) {
            seen += 1;
            assert_says(&help, &[&format!("{variable}_FILE")]);
            let is_offered = help.split([' ', '\n', '=']).any(|word| word == flag);
            assert!(!is_offered, "{name} {flag}: {help}");
            let given = format!("{flag}={MARK}");
            let said = read(words(name, &[&given]), &HashMap::new()).expect_err("refused");
            let refusal = format!("The setting {variable} is a secret and not taken as an argument");
            assert!(
                said.starts_with(&refusal) && !said.contains(MARK),
                "{name}: {said}"
            );
            let file = folder.path().join(&variable);
            fs::write(&file, marked(&variable)).expect("a file is written");
            files.insert(format!("{variable}_FILE"), file.to_string_lossy().into_owned());
        }
        let needed = needed(command);
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        let shown = read(words(name, &needed), &files).unwrap_or_else(|said| panic!("{name}: {said}"));
        // Secrets that are too short or malformed.
        for file in files.values() {
            fs::write(file, MARK).expect("a file is written");
        }
        let wrong = read(words(name, &needed), &files).unwrap_or_else(|said| said);
        for shown in [shown, wrong] {
            let is_secret = shown.contains(MARK) || shown.contains("bWFya2Vk");
            assert!(!is_secret, "{name}: {shown}");
        }
    });
    assert!(seen > 20, "{seen}");
    Ok(())
}

#[test]
fn a_setting_named_like_a_secret_is_a_secret() {
    for_each_command(|name, command, _| {
        for arg in command.get_arguments() {
            let Some(variable) = variable(arg) else { continue };
            let sounds_secret = variable.split('_').any(|part| SECRET_WORDS.contains(&part));
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
        "NATS_CREDENTIALS" => {
            format!("-----BEGIN NATS USER JWT-----\n{MARK}\n-----BEGIN USER NKEY SEED-----\n{NKEY_SEED}\n")
        }
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
