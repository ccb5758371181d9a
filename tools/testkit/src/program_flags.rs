//! Flags of a program under test.

use std::process::Command;

use crate::root;

const SECRETS: [&str; 6] = [
    "key",
    "key-former",
    "password",
    "credentials",
    "identity",
    "webhooks",
];

/// Flags that every notifier under test needs.
pub fn notifier_flags(smtp_port: u16) -> Vec<String> {
    vec![
        format!("--brand-file={}", root().join("brand.json").display()),
        "--allow-example-addresses".to_owned(),
        format!("--smtp-port={smtp_port}"),
    ]
}

/// Variables as flags of the same settings.
pub(crate) fn flags_of(variables: impl IntoIterator<Item = (&'static str, String)>) -> Vec<String> {
    let flag = |(name, value): (&str, String)| format!("--{}={value}", name.to_lowercase().replace('_', "-"));
    variables.into_iter().map(flag).collect()
}

/// Passes flags as arguments, but secrets as variables, because no program accepts a secret as an argument.
pub fn pass_flags<'a>(command: &'a mut Command, flags: &[String]) -> &'a mut Command {
    for flag in flags {
        match flag.split_once('=') {
            Some((name, value)) if SECRETS.iter().any(|end| name.ends_with(end)) => {
                let variable = name.trim_start_matches("--").replace('-', "_");
                command.env(variable.to_uppercase(), value)
            }
            _ => command.arg(flag),
        };
    }
    command
}
