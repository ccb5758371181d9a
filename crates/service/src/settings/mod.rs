//! Settings from flags and environment variables, secrets from variables and files.
//!
//! An argument with `hide_env_values = true` is a secret: `<NAME>_FILE` may name its file, and an argument is
//! rejected. An invalid setting ends the start with one sentence.

mod addresses;
mod complaint;
mod exit;
mod secrets;

use std::{env, ffi::OsString, ops::RangeBounds, time::Duration};

use clap::{
    ArgMatches, Command, Parser,
    builder::{TypedValueParser, ValueParserFactory},
    error::ErrorKind,
};
pub use secrecy::{ExposeSecret, SecretString as Secret};

pub use self::exit::Exit;
use self::{addresses::has_login, complaint::explain};
use crate::core_dumps;

/// Parser of whole seconds in this range, at most what a clock can add.
pub fn seconds(range: impl RangeBounds<u64>) -> impl TypedValueParser<Value = Duration> {
    let seconds = u64::value_parser().range(..=u64::from(u32::MAX)).range(range);
    seconds.map(Duration::from_secs)
}

/// Reads the program's flags and environment. Forbids core dumps, which would hold its secrets.
///
/// # Errors
///
/// A sentence to print, if a setting is missing or invalid; also for `--help` and `--version`.
pub fn read<S: Parser>() -> Result<S, Exit> {
    let env = |name: &str| env::var(name).ok();
    let forbidden = core_dumps::forbid(&env);
    forbidden.map_err(|error| Exit::InvalidSetting(format!("Core dumps cannot be forbidden: {error}.")))?;
    read_from(env::args_os().collect(), env)
}

/// Reads these arguments, with `env` for secrets only; clap reads the process's variables.
///
/// # Errors
///
/// As [`read`].
pub fn read_from<S: Parser>(
    mut args: Vec<OsString>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<S, Exit> {
    let command = S::command();
    secrets::refuse_arguments(&command, &args)?;
    let taker = chosen(&command, &args);
    let asked = args.clone();
    let explain = |error: &_| explain(error, taker, || help::<S>(&asked));
    // Argument errors come first: later a sentence could show a secret.
    if let Err(error) = command.clone().try_get_matches_from(&args)
        && error.kind() != ErrorKind::MissingRequiredArgument
    {
        return Err(explain(&error));
    }
    // After `--` it would be a positional argument, which errors show.
    let end_of_flags = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    for secret in secrets::of(taker) {
        if let Some(flag) = secrets::from_file(secret, &env)? {
            args.insert(end_of_flags, flag);
        }
    }
    let matches = command.clone().try_get_matches_from(args);
    let matches = matches.map_err(|error| explain(&error))?;
    refuse_logins(taker, &matches)?;
    S::from_arg_matches(&matches).map_err(|error| explain(&error))
}

/// The innermost subcommand named.
fn chosen<'a>(command: &'a Command, args: &[OsString]) -> &'a Command {
    let mut chosen = command;
    let named = command.clone().ignore_errors(true).try_get_matches_from(args);
    let mut named = named.as_ref().ok();
    while let Some((name, below)) = named.and_then(ArgMatches::subcommand) {
        chosen = chosen.find_subcommand(name).unwrap_or(chosen);
        named = Some(below);
    }
    chosen
}

/// The command for its help: secrets without flags.
pub fn described<S: Parser>() -> Command {
    secrets::without_flags(S::command())
}

fn help<S: Parser>(asked: &[OsString]) -> String {
    let told = described::<S>().try_get_matches_from(asked);
    told.err()
        .map(|help| help.render().to_string())
        .unwrap_or_default()
}

/// Logs, spans and errors show addresses.
fn refuse_logins(taker: &Command, matches: &ArgMatches) -> Result<(), Exit> {
    let mut matches = matches;
    while let Some((_, below)) = matches.subcommand() {
        matches = below;
    }
    let plain = taker
        .get_arguments()
        .filter(|arg| arg.get_env().is_some() && !secrets::is_secret(arg));
    for arg in plain {
        let values = matches.try_get_raw(arg.get_id().as_str()).ok().flatten();
        if values
            .into_iter()
            .flatten()
            .any(|value| has_login(&value.to_string_lossy()))
        {
            let name = secrets::variable_of(arg);
            return Err(Exit::InvalidSetting(format!(
                "The setting {name} is wrong: it holds a user or a password, which addresses must not: they are shown in logs."
            )));
        }
    }
    Ok(())
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
        /// Where to send to
        #[arg(long, env = "EXAMPLE_URL", default_value = "http://127.0.0.1")]
        url: String,
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

    fn file_of(key: &str) -> std::io::Result<(tempfile::NamedTempFile, String)> {
        let mut file = tempfile::NamedTempFile::new()?;
        writeln!(file, "{key}")?;
        let path = file.path().to_string_lossy().into_owned();
        Ok((file, path))
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
    fn seconds_are_never_more_than_a_clock_can_add() {
        let read = |arg: clap::Arg, raw: &str| {
            let matches = Command::new("example")
                .arg(arg)
                .try_get_matches_from(["example", raw]);
            matches
                .ok()
                .and_then(|given| given.get_one::<Duration>("seconds").copied())
        };
        let arg = || clap::Arg::new("seconds");
        let few = |raw: &str| read(arg().value_parser(seconds(1..=20)), raw);
        assert_eq!(
            (few("20"), few("21"), few("0")),
            (Some(Duration::from_secs(20)), None, None)
        );
        let seconds = |raw: &str| read(arg().value_parser(seconds(2..)), raw);
        assert_eq!(seconds("2"), Some(Duration::from_secs(2)));
        let most = seconds("4294967295").expect("it is the most");
        assert!(std::time::Instant::now().checked_add(most).is_some());
        for wrong in ["1", "4294967296", "18446744073709551615", "2.5", "soon"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_missing_setting_is_named_in_one_sentence() {
        let sentence = parse(&[], &[]).err();
        assert_eq!(
            sentence.as_deref(),
            Some("A setting is missing: EXAMPLE_KEY; see --help.")
        );
    }

    #[test]
    fn a_wrong_setting_is_named_with_the_reason() -> std::io::Result<()> {
        let (_file, path) = file_of("0123456789")?;
        let sentence = parse(&["--port=many"], &[("EXAMPLE_KEY_FILE", &path)])
            .err()
            .unwrap_or_default();
        assert!(
            sentence.starts_with("The setting --port <PORT> is wrong: \"many\": invalid digit"),
            "{sentence}"
        );
        assert_eq!(sentence.lines().count(), 1);
        Ok(())
    }

    #[test]
    fn a_wrong_secret_is_named_but_not_shown() -> std::io::Result<()> {
        let (_file, path) = file_of("hunter2")?;
        let sentence = parse(&[], &[("EXAMPLE_KEY_FILE", &path)])
            .err()
            .unwrap_or_default();
        assert_eq!(sentence, "The setting EXAMPLE_KEY is wrong: it needs 8 bytes.");
        Ok(())
    }

    #[test]
    fn a_secret_is_not_taken_as_an_argument() {
        for args in [
            &["--key=0123456789"][..],
            &["--key", "0123456789"],
            &["--port=1", "--key"],
        ] {
            let sentence = parse(args, &[]).err().unwrap_or_default();
            assert!(
                sentence.starts_with("The setting EXAMPLE_KEY is a secret and not taken as an argument"),
                "{sentence}"
            );
            assert!(!sentence.contains("0123456789"), "{sentence}");
        }
    }

    #[test]
    fn an_address_with_a_login_is_refused_and_not_shown() -> std::io::Result<()> {
        let (_file, path) = file_of("0123456789")?;
        for url in [
            "http://me:hunter2@host/",
            "http://a,http://me:hunter2@b",
            "http://hunter2@host",
            "me:hunter2@host:4222",
        ] {
            let sentence = parse(&[&format!("--url={url}")], &[("EXAMPLE_KEY_FILE", &path)])
                .err()
                .unwrap_or_default();
            assert!(
                sentence.starts_with("The setting EXAMPLE_URL is wrong: it holds a user or a password"),
                "{sentence}"
            );
            assert!(!sentence.contains("hunter2"), "{sentence}");
        }
        assert!(parse(&["--url=http://host/@"], &[("EXAMPLE_KEY_FILE", &path)]).is_ok());
        let sentence = parse(&["--port=http://me:hunter2@host"], &[("EXAMPLE_KEY_FILE", &path)]);
        assert!(!sentence.err().unwrap_or_default().contains("hunter2"));
        Ok(())
    }

    #[test]
    fn a_secret_may_stand_in_a_file() -> std::io::Result<()> {
        let (_file, path) = file_of("0123456789")?;
        let example = parse(&[], &[("EXAMPLE_KEY_FILE", &path)]);
        assert_eq!(
            example.map(|e| e.key.expose_secret().to_owned()),
            Ok("0123456789".to_owned())
        );
        Ok(())
    }

    #[test]
    fn a_secret_in_a_file_is_not_shown_where_the_flags_are_ended() -> std::io::Result<()> {
        let (_file, path) = file_of("0123456789")?;
        let env = [("EXAMPLE_KEY_FILE", &*path)];
        assert!(parse(&["--"], &env).is_ok());
        let sentence = parse(&["--", "more"], &env).err().unwrap_or_default();
        assert_eq!(sentence, "unexpected argument 'more' found; see --help.");
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
        let (_file, path) = file_of("0123456789")?;
        let args = ["tool", "work"].map(OsString::from).to_vec();
        let read = read_from(args, |name| (name == "EXAMPLE_KEY_FILE").then(|| path.clone()));
        assert!(matches!(read, Ok(Tool::Work(example)) if example.key.expose_secret() == "0123456789"));
        Ok(())
    }

    #[test]
    fn help_tells_of_the_file_and_offers_no_flag_for_a_secret() {
        let help = parse(&["--help"], &[]).err().unwrap_or_default();
        assert!(
            help.contains("EXAMPLE_KEY, EXAMPLE_KEY_FILE [required]"),
            "{help}"
        );
        assert!(help.contains("--port"), "{help}");
        assert!(!help.contains("--key"), "{help}");
    }

    #[test]
    fn a_command_that_is_missing_is_said_to_be() {
        #[derive(Parser, Debug)]
        enum Tool {
            Work(Example),
        }
        let read = read_from::<Tool>(vec!["tool".into()], |_| None);
        let Err(Exit::InvalidSetting(sentence)) = read else {
            panic!("no sentence: {read:?}");
        };
        assert_eq!(sentence, "A command is missing; see --help.");
    }

    #[test]
    fn help_of_a_subcommand_is_its_own() {
        #[derive(Parser, Debug)]
        enum Tool {
            Work(Example),
        }
        let args = ["tool", "work", "--help"].map(OsString::from).to_vec();
        let help = match read_from::<Tool>(args, |_| None) {
            Err(Exit::Help(help)) => help,
            other => panic!("no help: {other:?}"),
        };
        assert!(
            help.contains("EXAMPLE_KEY_FILE") && !help.contains("--key"),
            "{help}"
        );
    }
}
