//! Settings from flags and environment variables, secrets also from files.
//!
//! Each binary has one `clap` struct. An argument that hides its value
//! (`hide_env_values = true`) is a secret: for it the variable `<NAME>_FILE` may name a
//! file that holds the value. A missing or wrong setting ends the start with one
//! sentence that names it.

use std::{env, ffi::OsString, fs, process::ExitCode};

use clap::{
    Arg, Command, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
pub use secrecy::{ExposeSecret, SecretString as Secret};

/// Exit of the program instead of its start: its help, or an invalid setting.
#[derive(Debug)]
pub enum Exit {
    /// `--help` or `--version` was asked for: the text to print.
    Help(String),
    /// A setting is missing or wrong: the sentence that names it.
    InvalidSetting(String),
}

impl Exit {
    /// Prints what there is to say and gives the exit code: 0, or 2 for a wrong setting.
    #[expect(clippy::print_stdout, reason = "--help and --version go to stdout")]
    pub fn report(self) -> ExitCode {
        match self {
            Self::Help(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Self::InvalidSetting(sentence) => {
                eprintln!("{sentence}");
                ExitCode::from(2)
            }
        }
    }
}

/// Reads the program's own flags and environment.
///
/// # Errors
///
/// If a setting is missing or wrong, with the sentence to print; also for `--help` and `--version`.
pub fn read<S: Parser>() -> Result<S, Exit> {
    read_from(env::args_os().collect(), |name| env::var(name).ok())
}

/// Reads these arguments, the first of which is the program's name, and, for secrets that stand in files, these variables.
///
/// # Errors
///
/// As [`read`].
pub fn read_from<S: Parser>(
    mut args: Vec<OsString>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<S, Exit> {
    let command = with_file_hints(S::command());
    for secret in secrets(chosen(&command, &args)) {
        if let Some(flag) = from_file(secret, &env)? {
            args.push(flag);
        }
    }
    let secret_flags: Vec<String> = secrets(chosen(&command, &args)).map(flag_of).collect();
    command
        .try_get_matches_from(args)
        .and_then(|mut matches| S::from_arg_matches_mut(&mut matches))
        .map_err(|error| explain(&error, &secret_flags))
}

/// The subcommand that the arguments name, where there are subcommands, however deep.
fn chosen<'a>(command: &'a Command, args: &[OsString]) -> &'a Command {
    let named = args.iter().skip(1);
    named.fold(command, |command, arg| {
        command.find_subcommand(arg).unwrap_or(command)
    })
}

fn secrets(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| arg.is_hide_env_values_set())
}

fn env_of(arg: &Arg) -> String {
    arg.get_env()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn flag_of(arg: &Arg) -> String {
    format!("--{}", arg.get_long().unwrap_or_default())
}

fn with_file_hints(command: Command) -> Command {
    let command = command.mut_subcommands(with_file_hints);
    command.mut_args(|arg| {
        if !arg.is_hide_env_values_set() {
            return arg;
        }
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let hint = format!("{help} (or {}_FILE, a file that holds it)", env_of(&arg));
        arg.help(hint)
    })
}

fn from_file(secret: &Arg, env: &impl Fn(&str) -> Option<String>) -> Result<Option<OsString>, Exit> {
    let name = env_of(secret);
    let Some(path) = env(&format!("{name}_FILE")) else {
        return Ok(None);
    };
    if env(&name).is_some() {
        return Err(Exit::InvalidSetting(format!(
            "Set either {name} or {name}_FILE, not both."
        )));
    }
    let value = fs::read_to_string(&path)
        .map_err(|e| Exit::InvalidSetting(format!("{name}_FILE names {path}, which cannot be read: {e}.")))?;
    Ok(Some(format!("{}={}", flag_of(secret), value.trim_end()).into()))
}

fn explain(error: &clap::Error, secret_flags: &[String]) -> Exit {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let setting = context(ContextKind::InvalidArg);
    let is_secret = secret_flags.iter().any(|flag| setting.starts_with(flag.as_str()));
    let sentence = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            return Exit::Help(error.render().to_string());
        }
        ErrorKind::MissingRequiredArgument => {
            format!("A setting is missing: {setting}; see --help.")
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let reason = std::error::Error::source(error)
                .map_or_else(|| "not a value it takes".to_owned(), ToString::to_string);
            if is_secret {
                format!("The setting {setting} is wrong: {reason}.")
            } else {
                format!(
                    "The setting {setting} is wrong: \"{}\": {reason}.",
                    context(ContextKind::InvalidValue)
                )
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[derive(Parser, Debug)]
    struct Example {
        /// Where to listen
        #[arg(long, env = "EXAMPLE_PORT", default_value_t = 1)]
        port: u16,
        /// The key
        #[arg(long, env = "EXAMPLE_KEY", hide_env_values = true, value_parser = long_enough)]
        key: Secret,
    }

    fn long_enough(raw: &str) -> Result<Secret, String> {
        if raw.len() < 8 {
            return Err("it needs 8 bytes".to_owned());
        }
        Ok(raw.into())
    }

    fn parse(args: &[&str], env: &[(&str, &str)]) -> Result<Example, String> {
        let args = std::iter::once("example").chain(args.iter().copied());
        let env: Vec<(String, String)> = env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        read_from(args.map(OsString::from).collect(), |name| {
            env.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone())
        })
        .map_err(|exit| match exit {
            Exit::Help(text) | Exit::InvalidSetting(text) => text,
        })
    }

    #[test]
    fn a_missing_setting_is_named_in_one_sentence() {
        let sentence = parse(&[], &[]).err();
        assert_eq!(
            sentence.as_deref(),
            Some("A setting is missing: --key <KEY>; see --help.")
        );
    }

    #[test]
    fn a_wrong_setting_is_named_with_the_reason() {
        let sentence = parse(&["--key=0123456789", "--port=many"], &[])
            .err()
            .unwrap_or_default();
        assert!(
            sentence.starts_with("The setting --port <PORT> is wrong: \"many\": invalid digit"),
            "{sentence}"
        );
        assert_eq!(sentence.lines().count(), 1);
    }

    #[test]
    fn a_wrong_secret_is_named_but_not_shown() {
        let sentence = parse(&["--key=hunter2"], &[]).err().unwrap_or_default();
        assert_eq!(sentence, "The setting --key <KEY> is wrong: it needs 8 bytes.");
    }

    #[test]
    fn a_secret_may_stand_in_a_file() -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new()?;
        writeln!(file, "0123456789")?;
        let path = file.path().to_string_lossy().into_owned();
        let example = parse(&[], &[("EXAMPLE_KEY_FILE", &path)]);
        assert_eq!(
            example.map(|e| e.key.expose_secret().to_owned()),
            Ok("0123456789".to_owned())
        );
        Ok(())
    }

    #[test]
    fn a_secret_file_that_is_not_there_is_named() {
        let sentence = parse(&[], &[("EXAMPLE_KEY_FILE", "/nowhere/key")])
            .err()
            .unwrap_or_default();
        assert!(
            sentence.starts_with("EXAMPLE_KEY_FILE names /nowhere/key, which cannot be read"),
            "{sentence}"
        );
    }

    #[test]
    fn a_secret_of_a_subcommand_may_stand_in_a_file() -> std::io::Result<()> {
        #[derive(Parser, Debug)]
        enum Tool {
            Work(Example),
        }
        let mut file = tempfile::NamedTempFile::new()?;
        writeln!(file, "0123456789")?;
        let path = file.path().to_string_lossy().into_owned();
        let args = ["tool", "work"].map(OsString::from).to_vec();
        let read = read_from(args, |name| (name == "EXAMPLE_KEY_FILE").then(|| path.clone()));
        assert!(matches!(read, Ok(Tool::Work(example)) if example.key.expose_secret() == "0123456789"));
        Ok(())
    }

    #[test]
    fn help_tells_of_the_file() {
        let help = parse(&["--help"], &[]).err().unwrap_or_default();
        assert!(help.contains("EXAMPLE_KEY_FILE"), "{help}");
    }
}
