//! The maps of the workspace: in `README.md` a row for each crate, in `docs/architecture.md` one for each module of the notifier, in
//! the words of its own first sentence, and the reading path in `docs/architecture.md`.

use std::fs;

use crate::{
    documents::{read, tracked},
    step::root,
};

/// The notifier's four modules, which are as large as crates.
const MODULES: [&str; 4] = ["mail", "transport", "storage", "reports"];

#[test]
fn the_maps_name_each_crate_and_module_in_the_words_of_its_first_sentence() {
    let manifests = tracked(&["*/Cargo.toml"]).into_iter();
    let crates: Vec<String> = manifests
        .map(|manifest| manifest.trim_end_matches("/Cargo.toml").to_owned())
        .collect();
    let modules = MODULES.map(|name| format!("services/notifier/src/{name}"));
    ensure_rows("README.md", &crates);
    ensure_rows("docs/architecture.md", &modules);
}

fn ensure_rows(document: &str, folders: &[String]) {
    let text = read(document);
    for folder in folders {
        let row = format!("| `{folder}` | {} |", first_sentence(folder));
        assert!(text.contains(&row), "{document} lacks the row\n{row}");
    }
}

#[test]
fn every_file_of_the_reading_path_is_there() {
    let text = read("docs/architecture.md");
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
    let source = ["src/lib.rs", "src/main.rs", "mod.rs"]
        .iter()
        .find_map(|file| fs::read_to_string(root().join(folder).join(file)).ok())
        .expect("a crate has a library or a program, a module its file");
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ").trim_end_matches('.').to_owned()
}
