//! The map of the workspace: in `README.md` a row for each crate, in the words of the crate's own first sentence, and the
//! reading path in `docs/architecture.md`.

use std::fs;

use crate::step::{command_output, root};

#[test]
fn the_map_in_the_readme_names_each_crate_in_the_words_of_its_first_sentence() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README is there");
    let manifests = command_output(
        "git",
        &[
            "ls-files",
            "crates/*/Cargo.toml",
            "services/*/Cargo.toml",
            "xtask/Cargo.toml",
        ],
    )
    .expect("this is a checkout");
    for manifest in manifests.lines() {
        let folder = manifest.trim_end_matches("/Cargo.toml");
        let row = format!("| `{folder}` | {} |", first_sentence(folder));
        assert!(readme.contains(&row), "README.md lacks the row\n{row}");
    }
}

#[test]
fn every_file_of_the_reading_path_is_there() {
    let text = fs::read_to_string(root().join("docs/architecture.md")).expect("the document is there");
    let (_, path) = text.split_once("## Reading path").expect("it has a reading path");
    let files: Vec<&str> = path
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .filter_map(|line| line.split('`').nth(1))
        .collect();
    assert_eq!(files.len(), 10);
    for file in files {
        assert!(root().join(file).is_file(), "{file} is not there");
    }
}

fn first_sentence(folder: &str) -> String {
    let source = ["src/lib.rs", "src/main.rs"]
        .iter()
        .find_map(|file| fs::read_to_string(root().join(folder).join(file)).ok())
        .expect("a crate has a library or a program");
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ").trim_end_matches('.').to_owned()
}
