//! Flags of a program that is started: no program takes a secret as an argument, so it gets that as a variable.

use std::process::Command;

/// The flags of secrets that tests give to programs.
const SECRETS: [&str; 12] = [
    "--backup-identity",
    "--backup-s3-secret-access-key",
    "--dkim-key",
    "--imap-password",
    "--nats-password",
    "--person-key",
    "--person-key-former",
    "--s3-secret-access-key",
    "--smtp-password",
    "--synthetic-key",
    "--token-key",
    "--webhooks",
];

/// Gives a program its flags, the secrets among them as variables.
pub fn pass_flags<'a>(command: &'a mut Command, flags: &[String]) -> &'a mut Command {
    for flag in flags {
        match flag.split_once('=') {
            Some((name, value)) if SECRETS.contains(&name) => command.env(variable_of(name), value),
            _ => command.arg(flag),
        };
    }
    command
}

fn variable_of(flag: &str) -> String {
    flag.trim_start_matches("--").replace('-', "_").to_uppercase()
}
