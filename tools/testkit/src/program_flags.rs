//! Flags of a program that a test starts.

use std::process::Command;

/// How the names of secrets end.
const SECRETS: [&str; 5] = ["key", "key-former", "password", "identity", "webhooks"];

/// Gives a program its flags, those of secrets as environment variables: no program takes a secret as an argument.
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
