//! Runs the tool.

use std::process::{Command, Output};

use anyhow::ensure;
use serde_json::Value;
use testkit::pass_flags;

pub fn tool(words: &[&str], flags: &[String]) -> Command {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    pass_flags(pass_flags(&mut tool, &words), flags);
    tool
}

pub fn sitectl(words: &[&str], flags: &[String]) -> anyhow::Result<Output> {
    Ok(tool(words, flags).output()?)
}

/// Replaces the flag of the same name.
pub fn with(flags: &[String], flag: &str) -> Vec<String> {
    let name = flag.split('=').next().unwrap_or_default();
    [without(flags, name), vec![flag.to_owned()]].concat()
}

pub fn without(flags: &[String], name: &str) -> Vec<String> {
    let others = flags.iter().filter(|flag| flag.split('=').next() != Some(name));
    others.cloned().collect()
}

pub fn told(words: &[&str], flags: &[String]) -> anyhow::Result<String> {
    let output = sitectl(words, flags)?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{words:?}: {complaint}");
    Ok(String::from_utf8(output.stdout)?)
}

/// Cells of a table, without the headings.
pub fn told_rows(words: &[&str], flags: &[String]) -> anyhow::Result<Vec<Vec<String>>> {
    let table = told(words, flags)?;
    let cells = |line: &str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect()
    };
    Ok(table.lines().skip(1).map(cells).collect())
}

pub fn told_json(words: &[&str], flags: &[String]) -> anyhow::Result<Value> {
    let words = [words, &["--json"]].concat();
    Ok(serde_json::from_str(&told(&words, flags)?)?)
}

pub fn refused(words: &[&str], flags: &[String]) -> anyhow::Result<String> {
    let (told, said) = told_in_part(words, flags)?;
    ensure!(told.is_empty(), "{words:?} said something on stdout");
    Ok(said)
}

/// Stdout of a failing command, and its error, which is one line.
pub fn told_in_part(words: &[&str], flags: &[String]) -> anyhow::Result<(String, String)> {
    let output = sitectl(words, flags)?;
    let said = String::from_utf8(output.stderr)?;
    ensure!(
        output.status.code() == Some(1),
        "{words:?}: {:?}: {said}",
        output.status
    );
    ensure!(said.trim().lines().count() == 1, "{words:?}: {said}");
    Ok((String::from_utf8(output.stdout)?, said))
}

#[track_caller]
pub fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part} is not in {said}");
    }
}
