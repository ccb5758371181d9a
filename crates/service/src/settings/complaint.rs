//! Message for an invalid setting: one sentence, without the value of a secret.

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{addresses::has_login, exit::Exit, secrets};

pub fn explain(error: &clap::Error, taker: &Command, help: impl FnOnce() -> String) -> Exit {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => name(taker, text),
        Some(ContextValue::Strings(texts)) => {
            let names: Vec<String> = texts.iter().map(|text| name(taker, text)).collect();
            names.join(", ")
        }
        _ => String::new(),
    };
    let setting = context(ContextKind::InvalidArg);
    let is_secret = secrets::of(taker).any(|secret| secrets::variable_of(secret) == setting);
    let sentence = match error.kind() {
        ErrorKind::DisplayHelp => return Exit::Help(help()),
        ErrorKind::DisplayVersion => return Exit::Help(error.render().to_string()),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "A command is missing; see --help.".to_owned()
        }
        ErrorKind::MissingRequiredArgument => {
            format!("A setting is missing: {setting}; see --help.")
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let reason = std::error::Error::source(error)
                .map_or_else(|| "not a valid value".to_owned(), ToString::to_string);
            let value = context(ContextKind::InvalidValue);
            if is_secret || has_login(&value) {
                format!("The setting {setting} is wrong: {reason}.")
            } else {
                format!("The setting {setting} is wrong: \"{value}\": {reason}.")
            }
        }
        _ => {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            format!("{}; see --help.", first.trim_start_matches("error: "))
        }
    };
    Exit::InvalidSetting(sentence)
}

/// Name of a setting in messages: the variable of a secret, otherwise the flag.
fn name(taker: &Command, setting: &str) -> String {
    let flag = setting.split([' ', '=']).next();
    secrets::of(taker)
        .find(|secret| flag == Some(secrets::flag_of(secret).as_str()))
        .map_or_else(|| setting.to_owned(), secrets::variable_of)
}
