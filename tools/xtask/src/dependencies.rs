//! `docs/dependencies.md` has a reason for each dependency that we name ourselves, and for no other; and each is used by the
//! crate that names it.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;

use crate::{
    documents::{chapter, in_code, read, tracked},
    sources::{self, text_below},
};

/// Names dependencies for their features alone.
const WORKSPACE_HACK: &str = "workspace-hack";

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
    let files = tracked(&["package.json", "*/package.json"]);
    let named = files.iter().flat_map(|file| {
        let package: Value = serde_json::from_str(&read(file)).expect("a package file is JSON");
        ["dependencies", "devDependencies", "optionalDependencies"]
            .map(|kind| package[kind].as_object().cloned().unwrap_or_default())
    });
    let names = named.flat_map(|dependencies| dependencies.into_iter().map(|(name, _)| name));
    names.filter(|name| !name.starts_with("@site/")).collect()
}

/// The names in the first column of a chapter's table, each of whose rows has a reason.
fn explained(title: &str) -> BTreeSet<String> {
    let page = read("docs/dependencies.md");
    let rows = chapter(&page, title).filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert!(cells.len() == 2 && cells[1].len() > 5, "{row} has no reason");
        in_code(cells[0]).map(str::to_owned).collect::<Vec<_>>()
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

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|found| found == word)
}

/// What only tests use is a dependency of tests: it must not stand in the other table, where it would be part of the program.
#[test]
fn each_crate_uses_what_it_names_where_it_names_it() -> anyhow::Result<()> {
    let mut unused = Vec::new();
    for member in sources::packages()?
        .iter()
        .filter(|member| member["name"] != WORKSPACE_HACK)
    {
        let manifest = Path::new(member["manifest_path"].as_str().expect("a path"));
        let folder = manifest.parent().expect("a folder");
        let (sources, all) = (text_below(&folder.join("src"))?, text_below(folder)?);
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
