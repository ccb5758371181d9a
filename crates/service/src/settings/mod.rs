//! Settings from flags and environment variables, secrets from variables and files.
//!
//! A setting with `hide_env_values = true` is a secret: it comes from its variable or the file of
//! `<NAME>_FILE`, never from a flag.

mod addresses;
mod complaint;
mod exit;
mod secrets;

use std::{
    env,
    ffi::{OsStr, OsString},
    ops::RangeBounds,
    time::Duration,
};

use clap::{
    ArgMatches, Command, Parser,
    builder::{TypedValueParser, ValueParserFactory},
    error::ErrorKind,
};
pub use secrecy::{ExposeSecret, SecretString as Secret};

pub use self::exit::Exit;
use self::{addresses::has_login, complaint::explain};
use crate::core_dumps;

/// Parser of whole seconds in this range, limited so that adding them to a time cannot overflow.
pub fn seconds(range: impl RangeBounds<u64>) -> impl TypedValueParser<Value = Duration> {
    let seconds = u64::value_parser().range(..=u64::from(u32::MAX)).range(range);
    seconds.map(Duration::from_secs)
}

/// Reads the program's flags and environment. Forbids core dumps, which would hold secrets.
///
/// # Errors
///
/// A text to print: a sentence about a missing or invalid setting, the help, or the version.
pub fn read<S: Parser>() -> Result<S, Exit> {
    let env = |name: &str| env::var(name).ok();
    let forbidden = core_dumps::forbid(&env);
    forbidden.map_err(|error| Exit::InvalidSetting(format!("Core dumps cannot be forbidden: {error}.")))?;
    read_from(env::args_os().collect(), env)
}

/// Reads these arguments. `env` is used only to find secrets' files; clap reads the process's variables.
///
/// # Errors
///
/// As [`read`].
pub fn read_from<S: Parser>(
    mut args: Vec<OsString>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<S, Exit> {
    let described = S::command();
    secrets::refuse_arguments(&described, &args)?;
    let taker = chosen(&described, &args);
    let env = |name: &str| env(name).filter(|value| !value.is_empty());
    let command = without_empty_variables(described.clone());
    let asked = args.clone();
    let explain = |error: &_| explain(error, taker, || help::<S>(&asked));
    // Checks flags before secrets are added, because the error's sentence could show a secret.
    if let Err(error) = command.clone().try_get_matches_from(&args)
        && error.kind() != ErrorKind::MissingRequiredArgument
    {
        return Err(explain(&error));
    }
    // After `--` a secret would be a positional argument, which errors show.
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

/// An empty variable counts as not set: Compose files pass one for a setting that `.env` leaves out.
fn without_empty_variables(command: Command) -> Command {
    let is_empty = |name: &OsStr| env::var_os(name).is_some_and(|value| value.is_empty());
    let command = command.mut_args(|arg| match arg.get_env() {
        Some(name) if is_empty(name) => arg.env(None::<&'static str>),
        _ => arg,
    });
    command.mut_subcommands(without_empty_variables)
}

/// Innermost subcommand that the arguments name.
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

/// Command as its help shows it, with secrets listed without flags.
pub fn described<S: Parser>() -> Command {
    secrets::without_flags(S::command())
}

fn help<S: Parser>(asked: &[OsString]) -> String {
    let parsed = described::<S>().try_get_matches_from(asked);
    parsed
        .err()
        .map(|help| help.render().to_string())
        .unwrap_or_default()
}

/// Logs, spans and errors show addresses, so these must not hold logins.
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

    const KEY: &str = "0123456789";

    #[derive(Parser, Debug)]
    enum Tool {
        Work(Example),
    }

    fn read_at<S: Parser>(args: &[&str], key_file: Option<&str>) -> Result<S, String> {
        let args = args.iter().map(OsString::from).collect();
        let env = |name: &str| key_file.filter(|_| name == "EXAMPLE_KEY_FILE");
        let read = read_from(args, |name| env(name).map(str::to_owned));
        read.map_err(|exit| match exit {
            Exit::Help(text) | Exit::InvalidSetting(text) => text,
        })
    }

    fn read_with<S: Parser>(args: &[&str], key: &str) -> Result<S, String> {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        writeln!(file, "{key}").expect("a key");
        read_at(args, file.path().to_str())
    }

    fn refusal(args: &[&str], key: &str) -> String {
        read_with::<Example>(args, key).err().unwrap_or_default()
    }

    fn read_seconds(range: impl RangeBounds<u64> + 'static, raw: &str) -> Option<Duration> {
        let command = Command::new("example").arg(clap::Arg::new("seconds").value_parser(seconds(range)));
        let read = command.try_get_matches_from(["example", raw]);
        read.ok()?.get_one("seconds").copied()
    }

    #[test]
    fn seconds_are_never_more_than_a_clock_can_add() {
        assert_eq!(read_seconds(1..=20, "20"), Some(Duration::from_secs(20)));
        assert_eq!(read_seconds(2.., "2"), Some(Duration::from_secs(2)));
        let most = read_seconds(2.., "4294967295").expect("it is the most");
        assert!(std::time::Instant::now().checked_add(most).is_some());
        assert_eq!(read_seconds(1..=20, "21"), None);
        for wrong in ["1", "4294967296", "18446744073709551615", "2.5", "soon"] {
            assert_eq!(read_seconds(2.., wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_missing_setting_is_named_in_one_sentence() {
        let missing = read_at::<Example>(&["example"], None).err();
        let said = "A setting is missing: EXAMPLE_KEY; see --help.";
        assert_eq!(missing.as_deref(), Some(said));
        let missing = read_at::<Tool>(&["tool"], None).err();
        assert_eq!(missing.as_deref(), Some("A command is missing; see --help."));
        let missing = read_at::<Example>(&["example"], Some("/nowhere/key")).err();
        let said = "EXAMPLE_KEY_FILE names /nowhere/key, which cannot be read";
        assert!(missing.is_some_and(|missing| missing.starts_with(said)));
    }

    #[test]
    fn a_wrong_setting_is_named_with_the_reason() {
        let sentence = refusal(&["example", "--port=many"], KEY);
        let said = "The setting --port <PORT> is wrong: \"many\": invalid digit";
        assert!(sentence.starts_with(said), "{sentence}");
        assert_eq!(sentence.lines().count(), 1);
    }

    #[test]
    fn a_wrong_secret_is_named_but_not_shown() {
        let sentence = refusal(&["example"], "hunter2");
        assert_eq!(sentence, "The setting EXAMPLE_KEY is wrong: it needs 8 bytes.");
    }

    #[test]
    fn a_secret_argument_is_refused() {
        let said = "The setting EXAMPLE_KEY is a secret and not taken as an argument";
        for args in [
            &["example", "--key=0123456789"][..],
            &["example", "--key", "0123456789"],
            &["example", "--port=1", "--key"],
        ] {
            let sentence = read_at::<Example>(args, None).err().unwrap_or_default();
            assert!(sentence.starts_with(said), "{sentence}");
            assert!(!sentence.contains(KEY), "{sentence}");
        }
    }

    #[test]
    fn an_address_with_a_login_is_refused_and_not_shown() {
        let said = "The setting EXAMPLE_URL is wrong: it holds a user or a password";
        for url in [
            "http://me:hunter2@host/",
            "http://a,http://me:hunter2@b",
            "http://hunter2@host",
            "me:hunter2@host:4222",
        ] {
            let sentence = refusal(&["example", "--url", url], KEY);
            assert!(sentence.starts_with(said), "{sentence}");
            assert!(!sentence.contains("hunter2"), "{sentence}");
        }
        assert_eq!(refusal(&["example", "--url=http://host/@"], KEY), "");
        let sentence = refusal(&["example", "--port=http://me:hunter2@host"], KEY);
        assert!(!sentence.contains("hunter2"), "{sentence}");
    }

    #[test]
    fn a_secret_may_stand_in_a_file() {
        for args in [&["example"][..], &["example", "--"]] {
            let example = read_with::<Example>(args, KEY);
            assert!(example.is_ok_and(|example| example.key.expose_secret() == KEY));
        }
        let tool = read_with::<Tool>(&["tool", "work"], KEY);
        assert!(tool.is_ok_and(|Tool::Work(example)| example.key.expose_secret() == KEY));
        let sentence = refusal(&["example", "--", "more"], KEY);
        assert_eq!(sentence, "unexpected argument 'more' found; see --help.");
    }

    #[test]
    fn help_names_a_secrets_file_but_no_flag() {
        let of_program = read_at::<Example>(&["example", "--help"], None).err();
        let of_command = read_at::<Tool>(&["tool", "work", "--help"], None).err();
        for help in [of_program, of_command].map(Option::unwrap_or_default) {
            let said = "EXAMPLE_KEY, EXAMPLE_KEY_FILE [required]";
            assert!(help.contains(said) && help.contains("--port"), "{help}");
            assert!(!help.contains("--key"), "{help}");
        }
    }
}
