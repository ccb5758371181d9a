//! `docs/telemetry.md` says what is logged: each message of our services, how grave it is, and what stands with it.

use std::collections::BTreeSet;

use crate::documents::{chapter, read, tracked};

/// The gravest first. What is less grave is logged only where `LOG` asks for it.
const LEVELS: [&str; 3] = ["error", "warn", "info"];
/// What the log says of itself, which no macro does: where that is made, and its message.
const OF_THE_LOG: [&str; 2] = [
    "crates/service/src/log_lines.rs",
    "lines were dropped, as the log did not take them",
];

/// The lines of the table that a file of this crate makes.
fn rows(part: &str, source: &str) -> Vec<String> {
    let of_level = |level: &str| {
        let macro_name = format!("tracing::{level}!(");
        let calls = source.match_indices(&macro_name);
        let calls = calls.map(|(at, _)| arguments(&source[at + macro_name.len()..]));
        calls
            .map(|call| row(part, &level.to_uppercase(), &call))
            .collect::<Vec<_>>()
    };
    LEVELS.into_iter().flat_map(of_level).collect()
}

/// A call's arguments: its fields, and last the message.
fn row(part: &str, level: &str, call: &[&str]) -> String {
    let (message, fields) = call.split_last().expect("a call has a message");
    let message = message.trim_matches('"');
    assert!(!message.contains(['\\', '{', '|', '"']), "{message}");
    let fields = fields.iter().filter(|field| !field.starts_with("parent:"));
    let fields: Vec<String> = fields
        .filter_map(|field| field.split('=').next())
        .map(|name| format!("`{}`", name.trim().trim_start_matches(['%', '?'])))
        .collect();
    let fields = if fields.is_empty() {
        String::new()
    } else {
        format!("{} ", fields.join(", "))
    };
    format!("| {part} | {level} | {message} | {fields}|")
}

/// What stands between the commas of a call whose opening bracket is before this.
fn arguments(call: &str) -> Vec<&str> {
    let (mut found, mut begin, mut depth, mut in_text) = (Vec::new(), 0, 0, false);
    for (at, character) in call.char_indices() {
        match character {
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                found.push(&call[begin..at]);
                break;
            }
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&call[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    let found = found.into_iter().map(str::trim);
    found.filter(|argument| !argument.is_empty()).collect()
}

#[test]
fn the_page_has_every_message_that_is_logged_and_no_other() {
    let mut logged: BTreeSet<String> = tracked(&["crates/*/src/*.rs", "services/*/src/*.rs"])
        .iter()
        .flat_map(|file| rows(file.split('/').nth(1).expect("a crate's name"), &read(file)))
        .collect();
    let [file, message] = OF_THE_LOG;
    if read(file).contains(message) {
        logged.insert(row("service", "WARN", &["lines", message]));
    }
    assert!(logged.len() > 50, "few messages are found: {logged:?}");
    let page = read("docs/telemetry.md");
    let documented: BTreeSet<String> = chapter(&page, "What is logged")
        .filter(|line| {
            LEVELS
                .iter()
                .any(|level| line.contains(&format!("| {} |", level.to_uppercase())))
        })
        .map(str::to_owned)
        .collect();
    let difference = |these: &BTreeSet<String>, others| {
        let more: Vec<&str> = these.difference(others).map(String::as_str).collect();
        more.join("\n")
    };
    let (missing, outdated) = (difference(&logged, &documented), difference(&documented, &logged));
    assert!(
        missing.is_empty() && outdated.is_empty(),
        "missing:\n{missing}\nnot logged:\n{outdated}"
    );
}

#[test]
fn a_message_is_found_with_its_fields_over_several_lines() {
    let source = "
        tracing::warn!(%error, took = f(1, \"a, b\"), \"not stored; will try again\");
        tracing::info!(
            parent: span,
            away.seconds = seconds,
            \"it answers (again)\",
        );
        tracing::debug!(\"nothing\");
    ";
    assert_eq!(
        rows("broker", source),
        [
            "| broker | WARN | not stored; will try again | `error`, `took` |",
            "| broker | INFO | it answers (again) | `away.seconds` |",
        ]
    );
}
