//! What `up`, the suite and the jobs run: programs and the site.

use std::{fs, time::SystemTime};

use anyhow::Context;

use crate::step::{linting, output_of, root, run, script};

/// Debug programs. With the example, cargo selects features as it does for tests, which then compile no dependency anew.
pub const PROGRAMS: &str = "cargo build --example test_features $PROGRAMS";
/// The first and the last file that a build of the site writes.
const BUILT: &str = "frontends/dist/_routes.json";
const SPLIT: &str = "frontends/dist.split/careers/_routes.json";
const SITE_SOURCES: &str = "git ls-files --cached --others --exclude-standard -- frontends brand.json package.json package-lock.json";

/// What a chore runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    Nothing,
    /// Debug programs.
    Programs,
    /// Debug programs, and the site.
    Site,
    /// Release programs as the images have them, and the site.
    Release,
}

impl Build {
    /// # Errors
    ///
    /// If something does not compile, or Clippy warns about a debug build.
    pub fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Programs => run("Building programs", &mut linting(PROGRAMS, &[])),
            Self::Site => Self::Programs.run().and_then(|()| site()),
            Self::Release => run(
                "Release build",
                &mut script("cargo build --release --locked --workspace --features site-service/jemalloc $PROGRAMS --bin bench --bin axum-peer", &[]),
            )
            .and_then(|()| site()),
        }
    }
}

/// Builds the site unless it is newer than its sources, and splits it by front end unless that was done since.
///
/// # Errors
///
/// If git does not list the sources, or the site cannot be built or split.
pub fn site() -> anyhow::Result<()> {
    let sources =
        output_of(&mut script(SITE_SOURCES, &[])).context("git does not list the site's sources")?;
    if modified(BUILT) < sources.lines().filter_map(modified).max() {
        run("Building the site", &mut script("npm run --silent build", &[]))?;
    }
    if modified(SPLIT) < modified(BUILT) {
        run("Splitting the site", &mut script("npm run --silent split", &[]))?;
    }
    Ok(())
}

fn modified(file: &str) -> Option<SystemTime> {
    fs::metadata(root().join(file))
        .and_then(|file| file.modified())
        .ok()
}
