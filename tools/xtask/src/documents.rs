//! The documents and other files of the checkout, read for the tests that hold them to each other.

use std::fs;

use crate::step::{command_output, root};

/// A file's text.
pub fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The files that git has and these patterns name, all without any.
pub fn tracked(patterns: &[&str]) -> Vec<String> {
    let files = command_output("git", &[&["ls-files", "--"], patterns].concat()).expect("this is a checkout");
    files.lines().map(str::to_owned).collect()
}

/// The lines of a page's chapter.
pub fn chapter<'a>(page: &'a str, title: &str) -> impl Iterator<Item = &'a str> {
    let heading = format!("\n## {title}\n");
    let (_, after) = page.split_once(&heading).expect("the page has the chapter");
    after.lines().take_while(|line| !line.starts_with("## "))
}

/// What stands between backticks.
pub fn in_code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
