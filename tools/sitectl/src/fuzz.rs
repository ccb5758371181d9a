//! Fuzz target: the settings of every program. How it is run: docs/testing.md.

use std::{collections::HashMap, ffi::OsString, fs, iter};

use bolero::check;
use clap::Parser;
use serde_json::Value;
use site_service::settings::{Exit, read_from};
use tempfile::TempDir;

use crate::Cli;

const ITERATIONS: usize = 200;
/// A shorter value may stand in a sentence by chance.
const SECRET_BYTES: usize = 20;
/// Settings without which nothing starts.
const NEEDED: [&str; 2] = [
    "--s3-access-key-id=key",
    concat!("--brand-file=", env!("CARGO_MANIFEST_DIR"), "/../../brand.json"),
];
/// The same that are secrets, by their variables.
const NEEDED_SECRETS: [(&str, &str); 3] = [
    ("PERSON_KEY", "a person key of thirty-two bytes or more"),
    ("TOKEN_KEY", "a token key of thirty-two bytes or more"),
    ("S3_SECRET_ACCESS_KEY", "secret"),
];

/// What stands in the files of all secrets.
const SECRET: &str = "what nobody is shown who has not read the file";

/// A program, and how it reads its settings.
struct Program {
    name: String,
    settings: Vec<Setting>,
    read: fn(Vec<OsString>, &HashMap<String, String>) -> Option<Exit>,
}

struct Setting {
    flag: String,
    variable: String,
    takes_values: bool,
    is_secret: bool,
}

impl Program {
    fn of<S: Parser>() -> Self {
        let command = S::command();
        let settings = command.get_arguments().filter_map(|setting| {
            Some(Setting {
                flag: format!("--{}", setting.get_long()?),
                variable: setting.get_env()?.to_string_lossy().into_owned(),
                takes_values: setting.get_action().takes_values(),
                is_secret: setting.is_hide_env_values_set(),
            })
        });
        Self {
            name: command.get_name().to_owned(),
            settings: settings.collect(),
            read: |arguments, files| read_from::<S>(arguments, |name| files.get(name).cloned()).err(),
        }
    }

    /// What it says to this value of one setting; the others are right. Secrets stand in files of this folder.
    fn answer(&self, setting: &Setting, value: &str, folder: &TempDir) -> std::io::Result<Option<Exit>> {
        let is_taken = |needed: &&str| {
            let flag = needed.split('=').next().unwrap_or_default();
            flag != setting.flag && self.settings.iter().any(|taken| taken.flag == flag)
        };
        let needed = NEEDED.into_iter().filter(is_taken).map(OsString::from);
        let told = match setting {
            Setting { is_secret: true, .. } => None,
            Setting {
                takes_values: true, ..
            } => Some(format!("{}={value}", setting.flag)),
            Setting { flag, .. } => Some(flag.clone()),
        };
        let own = setting.is_secret.then_some((&*setting.variable, value));
        let mut files = HashMap::new();
        for (variable, secret) in NEEDED_SECRETS.into_iter().chain(own) {
            let path = folder.path().join(variable);
            fs::write(&path, secret)?;
            files.insert(format!("{variable}_FILE"), path.to_string_lossy().into_owned());
        }
        let name = iter::once(OsString::from(&self.name));
        let arguments = name.chain(needed).chain(told.map(OsString::from)).collect();
        Ok((self.read)(arguments, &files))
    }
}

fn programs() -> [Program; 6] {
    [
        Program::of::<gateway::Settings>(),
        Program::of::<contact::Settings>(),
        Program::of::<newsletter::Settings>(),
        Program::of::<careers::Settings>(),
        Program::of::<notifier::Settings>(),
        Program::of::<web::Settings>(),
    ]
}

/// The value, and in a list of endpoints what stands where secrets do.
fn secrets_in(value: &str) -> Vec<String> {
    let mut secrets = vec![value.to_owned()];
    let mut left: Vec<(Value, bool)> = serde_json::from_str(value)
        .map(|list| (list, true))
        .into_iter()
        .collect();
    while let Some((value, is_secret)) = left.pop() {
        match value {
            Value::String(text) if is_secret => secrets.push(text),
            Value::Array(values) => left.extend(values.into_iter().map(|value| (value, is_secret))),
            Value::Object(fields) => left.extend(fields.into_iter().map(|(name, value)| {
                let is_secret = ["secrets", "url"].contains(&name.as_str());
                (value, is_secret)
            })),
            _ => {}
        }
    }
    secrets
}

/// Whether the value may name what is no file of ours, and never ends.
fn may_be_a_device(value: &str) -> bool {
    ["dev", "proc", "sys"].iter().any(|folder| value.contains(folder))
}

/// The first byte says which program, the second which of its settings.
#[test]
fn whatever_stands_in_a_setting_it_is_taken_or_named_in_a_sentence_that_holds_no_secret() {
    let programs = programs();
    let folder = TempDir::new().expect("there is room for a folder");
    check!(name = "settings")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let Some((&[program, setting], value)) = input.split_first_chunk() else {
                return;
            };
            let program = &programs[usize::from(program) % programs.len()];
            let setting = &program.settings[usize::from(setting) % program.settings.len()];
            let value = String::from_utf8_lossy(value);
            if may_be_a_device(&value) {
                return;
            }
            let answer = program.answer(setting, &value, &folder);
            let sentence = match answer.expect("there is room for a secret") {
                None | Some(Exit::Help(_)) => return,
                Some(Exit::InvalidSetting(sentence)) => sentence,
            };
            let name = &setting.variable;
            let is_named = sentence.contains(name) || sentence.contains(&setting.flag);
            // Some are taken together with another only.
            let is_named = is_named || sentence.starts_with("A setting is missing: ");
            assert!(is_named, "{sentence} and not {name}");
            if setting.is_secret {
                let is_shown = |secret: &String| secret.len() >= SECRET_BYTES && sentence.contains(secret);
                assert!(!secrets_in(&value).iter().any(is_shown), "{sentence}");
            }
        });
}

/// What of the arguments a sentence may name: the name of a flag, the first letter of short ones, or a whole value.
fn is_named(told: &str, sentence: &str) -> bool {
    let sentence = sentence.trim_end_matches("; see --help.");
    told.split('\n').any(|argument| {
        let shown = match argument.as_bytes() {
            [] => "''",
            [b'-', b'-', ..] => argument.split('=').next().unwrap_or_default(),
            [b'-', _, ..] => &argument[..argument.ceil_char_boundary(2)],
            _ => argument,
        };
        sentence.contains(shown)
    })
}

fn ensure_sentence(told: &str, sentence: &str) {
    assert_eq!(sentence.lines().count(), 1, "{sentence:?}");
    assert!(
        sentence.ends_with('.') && !sentence.ends_with(".."),
        "{sentence:?}"
    );
    let names_itself = ["The setting ", "A setting is missing: ", "A command is missing; "];
    let is_of_settings = names_itself.iter().any(|start| sentence.starts_with(start));
    assert!(is_of_settings || is_named(told, sentence), "{sentence:?}");
}

/// Each line is an argument; every secret stands in a file.
#[test]
fn whatever_the_tool_is_told_it_shows_no_secret_and_names_what_it_does_not_take() {
    let folder = TempDir::new().expect("there is room for a folder");
    let file = folder.path().join("secret");
    fs::write(&file, SECRET).expect("there is room for a secret");
    let file = file.to_string_lossy().into_owned();
    check!(name = "tool-arguments")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let told = String::from_utf8_lossy(input);
            // What the operator types may be repeated, without what a terminal obeys.
            let repeated: String = told.chars().filter(|c| !c.is_control()).collect();
            if may_be_a_device(&told) || repeated.contains(SECRET) {
                return;
            }
            let arguments = iter::once("sitectl").chain(told.split('\n')).map(OsString::from);
            let secrets = |name: &str| name.ends_with("_FILE").then(|| file.clone());
            let text = match read_from::<Cli>(arguments.collect(), secrets) {
                Ok(cli) => format!("{cli:?}"),
                Err(Exit::Help(text)) => text,
                Err(Exit::InvalidSetting(sentence)) => {
                    // Of what a terminal obeys, not all is shown.
                    if !told.contains(|c: char| c.is_control() && c != '\n') {
                        ensure_sentence(&told, &sentence);
                    }
                    sentence
                }
            };
            assert!(!text.contains(SECRET), "{text}");
        });
}
