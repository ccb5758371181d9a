//! Builds that lose something on purpose: what looks for losses must find each.

use std::{
    collections::BTreeSet,
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::Context;

use crate::step::{cargo, program, root, run};

/// The patches, each of which makes the product lose something.
const PATCHES: &str = "reliability/broken";
/// The copy of the checkout that is broken, and what is built of it.
const SOURCE: &str = "target/broken/source";
const TARGET: &str = "target/broken/target";
/// How long it may take until what a broken build loses is reported, the build not counted.
const NOTICED_WITHIN: Duration = Duration::from_secs(60);
/// What the model's report begins with, and the harness's.
const MODEL_REPORT: &str = "The model found";
const HARNESS_REPORT: &str = "lost or wrong";

/// Breaks a copy of the product on purpose, in one way after the other, and has the model and the harness find each.
///
/// # Errors
///
/// Where a patch does not apply, what it makes does not compile, or the model or the harness does not notice it in time.
pub fn broken() -> anyhow::Result<()> {
    let mut missed = Vec::new();
    for patch in patches()? {
        build(&patch)?;
        let name = name(&patch);
        let row = row_of(&name)?;
        if !is_noticed(&name, "the model", model().envs(model_limits()), MODEL_REPORT)? {
            missed.push(format!("{name} by the model"));
        }
        if !is_noticed(&name, "the harness", &mut harness(row), HARNESS_REPORT)? {
            missed.push(format!("{name} by the harness"));
        }
    }
    copy_checkout()?;
    anyhow::ensure!(
        missed.is_empty(),
        "Not noticed within {} s: {}.",
        NOTICED_WITHIN.as_secs(),
        missed.join(", ")
    );
    Ok(())
}

/// The row of the harness whose faults bring out what the patch loses.
fn row_of(patch: &str) -> anyhow::Result<&'static str> {
    Ok(match patch {
        "ack-before-publish" => "broker-away",
        "note-before-send" => "kill-notifier",
        "upload-deleted-on-cancel" => "broker-freeze",
        _ => anyhow::bail!("no row of the harness is named for {patch}"),
    })
}

fn build(patch: &Path) -> anyhow::Result<()> {
    copy_checkout()?;
    let name = name(patch);
    run(
        &format!("Breaking a copy: {name}"),
        program("git", &["apply", "--directory", SOURCE]).arg(patch),
        "The code that it changes has changed: make the patch anew.",
    )?;
    let words = "The compiler's message stands above.";
    run(
        &format!("Building its model: {name}"),
        model().arg("--no-run"),
        words,
    )?;
    run(
        &format!("Building it: {name}"),
        &mut in_the_copy(cargo(&["build", "--quiet", "--workspace", "--bins"])),
        words,
    )
}

/// Whether this reports what the broken build loses, in time.
fn is_noticed(name: &str, who: &str, command: &mut Command, report: &str) -> anyhow::Result<bool> {
    let started = Instant::now();
    let output = command.output().with_context(|| format!("{who} cannot be run"))?;
    let took = started.elapsed();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let mut out = stdout();
    let Some(at) = said.find(report).filter(|_| !output.status.success()) else {
        anyhow::ensure!(output.status.success(), "{said}\n{who} could not be run.");
        writeln!(out, "  {name}: not noticed by {who}")?;
        return Ok(false);
    };
    writeln!(out, "{}", said[at..].trim_end())?;
    writeln!(
        out,
        "  {name}: noticed by {who} after {:.1} s",
        took.as_secs_f64()
    )?;
    Ok(took <= NOTICED_WITHIN)
}

fn model_limits() -> [(&'static str, String); 2] {
    [
        ("MODEL_SEQUENCES", "1000000".to_owned()),
        ("MODEL_SECONDS", NOTICED_WITHIN.as_secs().to_string()),
    ]
}

/// The harness, with the broken copy's programs.
fn harness(row: &str) -> Command {
    in_the_copy(program(root().join(TARGET).join("debug/chaos"), &[row]))
}

/// The model's test, of the broken copy.
fn model() -> Command {
    in_the_copy(cargo(&[
        "test",
        "--quiet",
        "--package=reliability",
        "--test=model",
    ]))
}

/// Has a command see the broken copy, and the tools of this checkout.
fn in_the_copy(mut command: Command) -> Command {
    command
        .current_dir(root().join(SOURCE))
        .env("CARGO_TARGET_DIR", root().join(TARGET));
    let installed = root().join("target/tools/nats-server");
    if installed.exists() {
        command.env("NATS_SERVER", installed);
    }
    command
}

fn patches() -> anyhow::Result<Vec<PathBuf>> {
    let mut patches = Vec::new();
    for entry in fs::read_dir(root().join(PATCHES))? {
        patches.push(entry?.path());
    }
    patches.retain(|path| path.extension().is_some_and(|extension| extension == "patch"));
    patches.sort();
    Ok(patches)
}

fn name(patch: &Path) -> String {
    patch
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Makes the copy what the checkout is. What is the same stays untouched, so that cargo compiles only what changed.
fn copy_checkout() -> anyhow::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_patch_that_breaks_the_product_still_applies() {
        let patches = patches().expect("there is the folder");
        let names: Vec<String> = patches.iter().map(|patch| name(patch)).collect();
        assert_eq!(
            names,
            [
                "ack-before-publish",
                "note-before-send",
                "upload-deleted-on-cancel"
            ]
        );
        for patch in patches {
            let checked = program("git", &["apply", "--check"]).arg(&patch).output();
            let checked = checked.expect("git runs");
            let said = String::from_utf8_lossy(&checked.stderr);
            assert!(checked.status.success(), "{}: {said}", name(&patch));
        }
    }
}
