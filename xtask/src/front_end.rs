//! Building the front ends where they changed.

use std::{fs, time::SystemTime};

use anyhow::Context;

use crate::step::{npm, program, root, run};

/// What a built site always has.
const BUILT: &str = "frontends/dist/_routes.json";
/// What the build reads.
const SOURCES: [&str; 4] = ["frontends", "brand.json", "package.json", "package-lock.json"];

/// Builds the site unless it is newer than all it was made from.
pub fn build_where_changed() -> anyhow::Result<()> {
    let built = fs::metadata(root().join(BUILT))
        .and_then(|file| file.modified())
        .ok();
    if built >= Some(newest_source()?) {
        return Ok(());
    }
    run(
        "Building the front ends",
        &mut npm("build", &[]),
        "Its own message stands above.",
    )
}

fn newest_source() -> anyhow::Result<SystemTime> {
    let mut list = program(
        "git",
        &["ls-files", "--cached", "--others", "--exclude-standard", "--"],
    );
    let files = list.args(SOURCES).output().context("git cannot be run")?;
    let files = String::from_utf8_lossy(&files.stdout);
    let newest = files
        .lines()
        .filter_map(|file| {
            fs::metadata(root().join(file))
                .and_then(|file| file.modified())
                .ok()
        })
        .max();
    newest.context("there are no front-end sources here")
}
