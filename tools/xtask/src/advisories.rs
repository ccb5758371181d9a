//! `cargo xtask advisories`: what is publicly known to be wrong with what we depend on.

use std::{
    fs,
    io::{Write, stdout},
    path::PathBuf,
};

use anyhow::Context;

use crate::{
    step::{command_output, program, root, run, run_quietly},
    tools::{self, Tool, cargo_deny},
};

const DATABASE: &str = "https://github.com/RustSec/advisory-db";
/// Below the `db-path` of deny.toml: cargo-deny's name for this database, which ends in a hash of its address.
const FOLDER: &str = "target/tools/advisory-db/advisory-db-3157b0e258782691";
/// The commit of the database that is checked against, below a comment.
const PIN: &str = "tools/pins/advisory-db.txt";

/// Checks against the database as it is pinned, or as it is now, which is pinned then.
///
/// # Errors
///
/// Where something is known, or the database cannot be had.
pub fn advisories(renew: bool) -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::CargoDeny])?;
    if renew {
        let newest = newest()?;
        fs::write(pin(), pinned_as(&fs::read_to_string(pin())?, &newest))?;
        writeln!(stdout(), "  The database is at {newest} now")?;
    }
    fetch(&commit_in(&fs::read_to_string(pin())?)?)?;
    let mut check = program(
        cargo_deny(),
        &["--offline", "--workspace", "--all-features", "check"],
    );
    check.args(["--deny", "warnings", "advisories"]);
    run(
        "Checking for known faults",
        &mut check,
        "Update what is named; where there is no update, deny.toml says why it does not touch us.",
    )
}

fn pin() -> PathBuf {
    root().join(PIN)
}

fn newest() -> anyhow::Result<String> {
    let said = command_output("git", &["ls-remote", DATABASE, "HEAD"])
        .context("The database does not answer. Is github.com reachable?")?;
    let commit = said.split_whitespace().next().unwrap_or_default();
    Ok(commit.to_owned())
}

/// The commit that a pin names.
fn commit_in(pin: &str) -> anyhow::Result<String> {
    let commit = pin
        .lines()
        .find(|line| !line.starts_with('#'))
        .unwrap_or_default();
    let is_commit = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    anyhow::ensure!(is_commit, "{PIN} names no commit");
    Ok(commit.to_owned())
}

/// The pin with another commit.
fn pinned_as(pin: &str, commit: &str) -> String {
    let comment = pin.lines().filter(|line| line.starts_with('#'));
    comment.chain([commit]).map(|line| format!("{line}\n")).collect()
}

/// Checks the database out at a commit.
fn fetch(commit: &str) -> anyhow::Result<()> {
    let folder = root().join(FOLDER);
    let git = |arguments: &[&str]| {
        let mut git = program("git", &["-C", FOLDER]);
        git.args(arguments);
        git
    };
    fs::create_dir_all(&folder)?;
    let unreachable = "Is github.com reachable?";
    run_quietly(
        "Making room for the database",
        &mut git(&["init", "--quiet"]),
        "See above.",
    )?;
    run_quietly(
        "Fetching the database",
        &mut git(&["fetch", "--quiet", "--depth=1", DATABASE, commit]),
        unreachable,
    )?;
    run_quietly(
        "Unpacking the database",
        &mut git(&["checkout", "--quiet", "--force", "FETCH_HEAD"]),
        "See above.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn a_renewed_pin_keeps_its_comment_and_names_the_new_commit() {
        let pin = fs::read_to_string(pin()).expect("there is a pin");
        let renewed = pinned_as(&pin, NEW);
        assert_ne!(commit_in(&pin).expect("it names a commit"), NEW);
        assert_eq!(commit_in(&renewed).ok().as_deref(), Some(NEW));
        assert!(renewed.starts_with("# "), "{renewed}");
        assert_eq!(renewed.lines().count(), pin.lines().count());
    }

    #[test]
    fn a_pin_that_names_a_branch_is_none() {
        for pin in ["", "# why\n", "main\n", "# why\n0123\n"] {
            assert!(commit_in(pin).is_err(), "{pin}");
        }
    }
}
