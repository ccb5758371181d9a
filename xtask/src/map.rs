//! The map of the workspace in `README.md`: a row for each crate, in the words of the crate's own first sentence.

use std::fs;

use crate::step::{answers, root};

#[test]
fn the_map_in_the_readme_names_each_crate_in_the_words_of_its_first_sentence() {
    let readme = fs::read_to_string(root().join("README.md")).expect("the README is there");
    let manifests = answers(
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

fn first_sentence(folder: &str) -> String {
    let source = ["src/lib.rs", "src/main.rs"]
        .iter()
        .find_map(|file| fs::read_to_string(root().join(folder).join(file)).ok())
        .expect("a crate has a library or a program");
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let paragraph: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    paragraph.join(" ").trim_end_matches('.').to_owned()
}
