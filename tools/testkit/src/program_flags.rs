//! Flags of a program under test.

use std::process::Command;

const SECRETS: [&str; 5] = ["key", "key-former", "password", "identity", "webhooks"];

/// Passes flags, secrets as environment variables: no program accepts a secret as an argument.
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
