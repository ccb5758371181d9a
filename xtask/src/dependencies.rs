//! `docs/dependencies.md` has a reason for each dependency that we name ourselves, and for no other.

use std::{collections::BTreeSet, fs};

use serde_json::Value;

use crate::step::{command_output, root};

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The crates of others that `Cargo.toml` names for the whole workspace.
fn crates() -> BTreeSet<String> {
    let manifest = read("Cargo.toml");
    let (_, after) = manifest
        .split_once("[workspace.dependencies]\n")
        .expect("it names dependencies");
    let lines = after.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter(|line| !line.contains("path = "))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The packages of others that package files name.
fn packages() -> BTreeSet<String> {
    let files =
        command_output("git", &["ls-files", "package.json", "*/package.json"]).expect("this is a checkout");
    let named = files.lines().flat_map(|file| {
        let package: Value = serde_json::from_str(&read(file)).expect("a package file is JSON");
        ["dependencies", "devDependencies", "optionalDependencies"]
            .map(|kind| package[kind].as_object().cloned().unwrap_or_default())
    });
    let names = named.flat_map(|dependencies| dependencies.into_iter().map(|(name, _)| name));
    names.filter(|name| !name.starts_with("@site/")).collect()
}

/// The names in the first column of a chapter's table, each of whose rows has a reason.
fn explained(chapter: &str) -> BTreeSet<String> {
    let page = read("docs/dependencies.md");
    let (_, after) = page
        .split_once(&format!("## {chapter}\n"))
        .expect("the page has the chapter");
    let rows = after
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert!(cells.len() == 2 && cells[1].len() > 5, "{row} has no reason");
        let names = cells[0].split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn each_crate_that_we_name_has_a_reason_and_no_other() {
    assert_eq!(explained("Crates"), crates());
}

#[test]
fn each_package_that_we_name_has_a_reason_and_no_other() {
    assert_eq!(explained("npm packages"), packages());
}
