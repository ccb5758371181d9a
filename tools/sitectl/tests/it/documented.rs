//! What the documents tell an operator to type.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use clap::{
    CommandFactory, Error, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};
use pulldown_cmark::{Event, Parser as Markdown, Tag, TagEnd};
use sitectl::Cli;

#[test]
fn every_command_of_the_documents_is_one_that_the_tool_takes() {
    let mut seen = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document is text");
        for (line, is_in_block) in commands_in(&text) {
            let words = line.split_whitespace().map(|word| match word {
                "<id>" => "00000000-0000-0000-0000-000000000000",
                placeholder if placeholder.starts_with('<') => "1",
                word => word,
            });
            if let Err(error) = Cli::try_parse_from(words) {
                assert!(
                    is_complete(&error) || !is_in_block && is_only_named(&error),
                    "{}: {line}: {error}",
                    document.display()
                );
            }
            seen += 1;
        }
    }
    assert!(
        seen > Cli::command().get_subcommands().count(),
        "{seen} were found"
    );
}

/// All that are ours, wherever they stand.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "*.md"])
        .current_dir(&root)
        .output()
        .expect("git runs");
    let names = String::from_utf8(listed.stdout).expect("names are text");
    names.lines().map(|name| root.join(name)).collect()
}

/// A command that gets its settings from the environment, or shows its help.
fn is_complete(error: &Error) -> bool {
    let is_setting = |argument: &String| argument.starts_with("--");
    match error.get(ContextKind::InvalidArg) {
        _ if error.kind() == ErrorKind::DisplayHelp => true,
        Some(ContextValue::Strings(missing)) => {
            error.kind() == ErrorKind::MissingRequiredArgument && missing.iter().all(is_setting)
        }
        _ => false,
    }
}

/// A sentence may name a command without its arguments; a line to type may not.
fn is_only_named(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// With whether each stands in a block of shell.
fn commands_in(document: &str) -> Vec<(String, bool)> {
    let mut is_block = false;
    let mut commands = Vec::new();
    for event in Markdown::new(document) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => is_block = true,
            Event::End(TagEnd::CodeBlock) => is_block = false,
            Event::Text(text) if is_block => {
                commands.extend(text.lines().filter_map(of_line).map(|line| (line, true)))
            }
            Event::Code(text) => commands.extend(of_line(&text).map(|line| (line, false))),
            _ => {}
        }
    }
    commands
}

fn of_line(line: &str) -> Option<String> {
    let (line, _) = line.split_once(" #").unwrap_or((line, ""));
    let line = line.trim();
    (line.starts_with("sitectl ") && !line.starts_with("sitectl <")).then(|| line.to_owned())
}
