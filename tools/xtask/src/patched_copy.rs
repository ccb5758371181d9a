//! A copy of the checkout for patches: what a changed build does is tried there, and what is built of it stays there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Context;

use crate::step::{program, root, run};

/// The copy, and what is built of it. Without a patch it is the checkout again, so that cargo compiles only what changed.
const SOURCE: &str = "target/broken/source";
const TARGET: &str = "target/broken/target";

/// Makes the copy what the checkout is. What is the same stays untouched.
///
/// # Errors
///
/// If git does not list the checkout's files, or one cannot be copied.
pub fn renew() -> anyhow::Result<()> {
    let listed = program("git", &["ls-files", "-z"]).output()?.stdout;
    let listed = String::from_utf8(listed).context("a file's name is not UTF-8")?;
    let tracked: BTreeSet<PathBuf> = listed.split_terminator('\0').map(PathBuf::from).collect();
    let source = root().join(SOURCE);
    remove_untracked(&source, &source, &tracked)?;
    for path in tracked {
        let (from, to) = (root().join(&path), source.join(&path));
        if !from.is_file() {
            continue;
        }
        let content = fs::read(&from)?;
        if fs::read(&to).ok().as_ref() != Some(&content) {
            fs::create_dir_all(to.parent().context("a file without a folder")?)?;
            fs::write(&to, content)?;
        }
    }
    Ok(())
}

/// Applies the patch of this name in a folder of the checkout to the copy.
///
/// # Errors
///
/// If it does not apply any more.
pub fn apply(folder: &str, patch: &str) -> anyhow::Result<()> {
    run(
        &format!("Breaking a copy: {patch}"),
        program("git", &["apply", "--directory", SOURCE]).arg(path_of(folder, patch)),
        "The code that it changes has changed: make the patch anew.",
    )
}

/// Has a command see the copy, and the tools of this checkout.
pub fn in_the_copy(mut command: Command) -> Command {
    command
        .current_dir(root().join(SOURCE))
        .env("CARGO_TARGET_DIR", root().join(TARGET));
    let installed = root().join("target/tools/nats-server");
    if installed.exists() {
        command.env("NATS_SERVER", installed);
    }
    command
}

/// A program that was built of the copy.
pub fn built(name: &str) -> PathBuf {
    root().join(TARGET).join("debug").join(name)
}

fn path_of(folder: &str, patch: &str) -> PathBuf {
    root().join(folder).join(format!("{patch}.patch"))
}

fn remove_untracked(source: &Path, folder: &Path, tracked: &BTreeSet<PathBuf>) -> anyhow::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_untracked(source, &path, tracked)?;
        } else if !tracked.contains(path.strip_prefix(source)?) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Holds a folder of patches: each is one of these names, and still applies.
#[cfg(test)]
pub fn ensure_each_applies(folder: &str, names: &[&str]) {
    let patches = fs::read_dir(root().join(folder)).expect("there is the folder");
    assert_eq!(patches.count(), names.len(), "a patch is not tried");
    for name in names {
        let checked = program("git", &["apply", "--check"])
            .arg(path_of(folder, name))
            .output()
            .expect("git runs");
        let said = String::from_utf8_lossy(&checked.stderr);
        assert!(checked.status.success(), "{name}: {said}");
    }
}
