//! What `up`, the suite and the nightly jobs run: programs and the site.

use std::{fs, process::Command, time::SystemTime};

use anyhow::Context;

use crate::step::{cargo, linting, npm, output_of, program, root, run};

/// What `up` starts, and the operator's tool.
const PROGRAMS: [&str; 8] = [
    "gateway",
    "contact",
    "newsletter",
    "careers",
    "notifier",
    "web",
    "sitectl",
    "stack",
];
/// The first and the last file that a build of the site writes.
const BUILT: &str = "frontends/dist/_routes.json";
const SPLIT: &str = "frontends/dist.split/careers/_routes.json";
const SITE_SOURCES: [&str; 4] = ["frontends", "brand.json", "package.json", "package-lock.json"];

/// Builds debug programs: those of a site, and others by name.
///
/// # Errors
///
/// If something does not compile, or Clippy warns.
pub fn programs(others: &[&str]) -> anyhow::Result<()> {
    run("Building programs", &mut of_programs(others))
}

/// The command of [`programs`].
pub fn of_programs(others: &[&str]) -> Command {
    // With this example, cargo selects features as it does for tests.
    let mut build = linting(cargo(&["build", "--example", "test_features"]));
    build.args(PROGRAMS.iter().chain(others).map(|name| format!("--bin={name}")));
    build
}

/// Builds release programs as the images do: those of a site, and others by name.
///
/// # Errors
///
/// If something does not compile.
pub fn release(others: &[&str]) -> anyhow::Result<()> {
    let mut build = cargo(&["build", "--release", "--locked"]);
    build.args(PROGRAMS.iter().chain(others).map(|name| format!("--bin={name}")));
    run("Release build", &mut build)
}

/// Builds the site unless it is newer than its sources, and splits it by front end unless that was done since.
///
/// # Errors
///
/// If git does not list the sources, or the site cannot be built or split.
pub fn site() -> anyhow::Result<()> {
    let mut list = program(
        "git",
        &["ls-files", "--cached", "--others", "--exclude-standard", "--"],
    );
    let sources = output_of(list.args(SITE_SOURCES)).context("git does not list the site's sources")?;
    if modified(BUILT) < sources.lines().filter_map(modified).max() {
        run("Building the site", &mut npm("build", &[]))?;
    }
    if modified(SPLIT) < modified(BUILT) {
        run("Splitting the site", &mut npm("split", &[]))?;
    }
    Ok(())
}

fn modified(file: &str) -> Option<SystemTime> {
    fs::metadata(root().join(file))
        .and_then(|file| file.modified())
        .ok()
}
