//! Secrets come from variables or files, never from arguments: every user can read arguments (`ps`), and
//! shells store them.
//!
//! `clap` still has a flag for each secret. Only [`from_file`] and tests set this flag.

use std::{
    ffi::{OsStr, OsString},
    fmt::Write as _,
    fs,
};

use clap::{Arg, Command};
use secrecy::{ExposeSecret, SecretString};

use super::exit::Exit;

pub fn of(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| is_secret(arg))
}

pub fn is_secret(arg: &Arg) -> bool {
    arg.is_hide_env_values_set()
}

pub fn variable_of(arg: &Arg) -> String {
    arg.get_env()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

pub fn flag_of(arg: &Arg) -> String {
    format!("--{}", arg.get_long().unwrap_or_default())
}

pub fn refuse_arguments(command: &Command, args: &[OsString]) -> Result<(), Exit> {
    let given = of(command).find(|secret| {
        let flag = flag_of(secret);
        args.iter().any(|arg| is_flag(arg, &flag))
    });
    if let Some(secret) = given {
        let name = variable_of(secret);
        return Err(Exit::InvalidSetting(format!(
            "The setting {name} is a secret and not taken as an argument, which others on this machine could read: give it as \
             the variable {name}, or in a file that {name}_FILE names."
        )));
    }
    command
        .get_subcommands()
        .try_for_each(|command| refuse_arguments(command, args))
}

fn is_flag(arg: &OsStr, flag: &str) -> bool {
    let rest = arg.as_encoded_bytes().strip_prefix(flag.as_bytes());
    rest.is_some_and(|rest| matches!(rest, [] | [b'=', ..]))
}

/// Flag with the content of the file that `<NAME>_FILE` names, unless the file is empty.
pub fn from_file(secret: &Arg, env: &impl Fn(&str) -> Option<String>) -> Result<Option<OsString>, Exit> {
    let name = variable_of(secret);
    let Some(path) = env(&format!("{name}_FILE")) else {
        return Ok(None);
    };
    if env(&name).is_some() {
        return Err(Exit::InvalidSetting(format!(
            "Set either {name} or {name}_FILE, not both."
        )));
    }
    let value = fs::read_to_string(&path).map(SecretString::from);
    let value = value
        .map_err(|e| Exit::InvalidSetting(format!("{name}_FILE names {path}, which cannot be read: {e}.")))?;
    let value = value.expose_secret().trim_end();
    Ok((!value.is_empty()).then(|| format!("{}={value}", flag_of(secret)).into()))
}

/// Command as its help shows it: secrets have a section of their own, without flags.
pub fn without_flags(command: Command) -> Command {
    let section = section(&command);
    let command = command.mut_subcommands(without_flags).mut_args(|arg| {
        if is_secret(&arg) {
            arg.hide(true).required(false)
        } else {
            arg
        }
    });
    match section {
        Some(section) => command.after_help(section),
        None => command,
    }
}

fn section(command: &Command) -> Option<String> {
    let mut section =
        "Secrets, each as a variable or in a file that its second variable names; never as an argument:"
            .to_owned();
    let head = section.len();
    for secret in of(command) {
        let name = variable_of(secret);
        let help = secret.get_help().map(ToString::to_string).unwrap_or_default();
        let required = if secret.is_required_set() {
            " [required]"
        } else {
            ""
        };
        let _infallible = write!(section, "\n  {name}, {name}_FILE{required}\n          {help}");
    }
    (section.len() > head).then_some(section)
}
