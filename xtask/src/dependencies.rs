//! `docs/dependencies.md` has a reason for each dependency that we name ourselves, and for no other; and each is used by the
//! crate that names it.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;

use crate::step::{cargo, command_output, root};

/// Names dependencies for their features alone.
const WORKSPACE_HACK: &str = "workspace-hack";

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

/// The Rust files below a folder of a crate.
fn rust_files(folder: &Path) -> String {
    let Ok(entries) = fs::read_dir(folder) else {
        return String::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let texts = paths.map(|path| match path.extension() {
        _ if path.is_dir() => rust_files(&path),
        Some(ending) if ending == "rs" => fs::read_to_string(&path).expect("a source is text"),
        _ => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|found| found == word)
}

/// What only tests use is a dependency of tests: it must not stand in the other table, where it would be part of the program.
#[test]
fn each_crate_uses_what_it_names_where_it_names_it() -> anyhow::Result<()> {
    let metadata = cargo(&["metadata", "--no-deps", "--offline", "--format-version=1"]).output()?;
    let metadata: Value = serde_json::from_slice(&metadata.stdout)?;
    let members = metadata["packages"].as_array().expect("there are members");
    assert!(members.len() > 15, "few members are found");
    let mut unused = Vec::new();
    for member in members.iter().filter(|member| member["name"] != WORKSPACE_HACK) {
        let manifest = Path::new(member["manifest_path"].as_str().expect("a path"));
        let folder = manifest.parent().expect("a folder");
        let (sources, all) = (rust_files(&folder.join("src")), rust_files(folder));
        for dependency in member["dependencies"].as_array().expect("a list") {
            let name = dependency["rename"].as_str().or(dependency["name"].as_str());
            let name = name
                .filter(|name| *name != WORKSPACE_HACK)
                .map(|name| name.replace('-', "_"));
            let text = if dependency["kind"].is_null() {
                &sources
            } else {
                &all
            };
            if let Some(name) = name.filter(|name| !has_word(text, name)) {
                unused.push(format!("{}: {name}", member["name"]));
            }
        }
    }
    assert_eq!(unused, [""; 0]);
    Ok(())
}
