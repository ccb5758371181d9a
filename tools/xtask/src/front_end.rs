//! Building the front ends where they changed.

use std::{fs, time::SystemTime};

use anyhow::Context;

use crate::step::{npm, program, root, run};

/// What a built site always has.
const BUILT: &str = "frontends/dist/_routes.json";
/// What is written last where the site is laid out as a folder for each front end.
const SPLIT: &str = "frontends/dist.split/careers/_routes.json";
/// What the build reads.
const SOURCES: [&str; 4] = ["frontends", "brand.json", "package.json", "package-lock.json"];

/// Builds the site unless it is newer than all it was made from, and splits it unless that was done since.
///
/// # Errors
///
/// Where git does not list the sources, or the site cannot be built or split.
pub fn build_where_changed() -> anyhow::Result<()> {
    let otherwise = "Its own message stands above.";
    if modified(BUILT) < Some(newest_source()?) {
        run("Building the front ends", &mut npm("build", &[]), otherwise)?;
    }
    if modified(SPLIT) < modified(BUILT) {
        run("Splitting the site", &mut npm("split", &[]), otherwise)?;
    }
    Ok(())
}

fn modified(file: &str) -> Option<SystemTime> {
    fs::metadata(root().join(file))
        .and_then(|file| file.modified())
        .ok()
}

fn newest_source() -> anyhow::Result<SystemTime> {
    let mut list = program(
        "git",
        &["ls-files", "--cached", "--others", "--exclude-standard", "--"],
    );
    let files = list.args(SOURCES).output().context("git cannot be run")?;
    let complaint = String::from_utf8_lossy(&files.stderr);
    anyhow::ensure!(
        files.status.success(),
        "git does not list the front ends' sources: {complaint}"
    );
    let files = String::from_utf8_lossy(&files.stdout);
    let newest = files.lines().filter_map(modified).max();
    newest.context("there are no front-end sources here")
}
