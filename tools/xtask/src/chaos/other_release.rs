//! The last release, built beside this checkout: `docs/compatibility.md` names its commit.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::Context;

use crate::step::{cargo, compile, program, root};

const DOCUMENT: &str = "docs/compatibility.md";
const LINE: &str = "Last release: `";
/// Where releases are built, each in a folder of its own.
const RELEASES: &str = "target/other-release";

/// Builds its programs, and gives their folder.
///
/// # Errors
///
/// Where the document names no commit of this repository, or it does not compile.
pub fn build() -> anyhow::Result<PathBuf> {
    let commit = last_release()?;
    let folder = root().join(RELEASES);
    let (source, target) = (folder.join(&commit), folder.join("target"));
    if !source.exists() {
        check_out(&commit, &source)?;
    }
    let mut build = cargo(&["build", "--quiet", "--workspace", "--bins"]);
    build.current_dir(source).env("CARGO_TARGET_DIR", &target);
    compile(&format!("Building the services of {commit}"), &mut build)?;
    Ok(target.join("debug"))
}

fn last_release() -> anyhow::Result<String> {
    let text = fs::read_to_string(root().join(DOCUMENT))?;
    let (_, after) = text
        .split_once(LINE)
        .with_context(|| format!("{DOCUMENT} has no line `{LINE}`"))?;
    let commit = after.split('`').next().unwrap_or_default();
    Ok(commit.to_owned())
}

fn check_out(commit: &str, source: &PathBuf) -> anyhow::Result<()> {
    fs::create_dir_all(source)?;
    let mut archive = program("git", &["archive", commit])
        .stdout(Stdio::piped())
        .spawn()?;
    let files = archive.stdout.take().context("git has an output")?;
    let extracted = Command::new("tar")
        // Newer than what was built of another release, or cargo would take that for this one's.
        .args(["-x", "--touch"])
        .current_dir(source)
        .stdin(files)
        .status()?;
    let archived = archive.wait()?;
    if !extracted.success() || !archived.success() {
        fs::remove_dir_all(source)?;
        anyhow::bail!("{DOCUMENT} names {commit}, which is no commit here");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the commit is there is not asked: a clone may be shallow.
    #[test]
    fn the_document_names_a_commit() {
        let commit = last_release().expect("the document names one");
        let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        assert!(commit.len() >= 7 && commit.chars().all(is_digit), "{commit}");
    }
}
