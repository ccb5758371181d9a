//! Builds of the programs and the site.

use std::{fs, time::SystemTime};

use anyhow::Context;

use crate::step::{linting, output_of, root, run, script};

/// Builds debug programs. The example adds the features of tests.
pub const PROGRAMS: &str = "cargo build --example test_features $PROGRAMS";
const RELEASE: &str = "cargo build --release --locked --workspace --features site-service/jemalloc $PROGRAMS --bin bench --bin axum-peer";
/// Files that a build and a split of the site write. Their times tell whether a new build or split is needed.
const BUILT: &str = "frontends/dist/_routes.json";
const SPLIT: &str = "frontends/dist.split/careers/_routes.json";
const SITE_SOURCES: &str = "git ls-files --cached --others --exclude-standard -- frontends brand.json package.json package-lock.json";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    Nothing,
    Programs,
    Site,
    /// Programs as in the images, and the site.
    Release,
}

impl Build {
    /// # Errors
    ///
    /// If something does not compile, or Clippy warns.
    pub fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Programs => run("Building programs", &mut linting(PROGRAMS, &[])),
            Self::Site => Self::Programs.run().and_then(|()| site()),
            Self::Release => {
                run("Release build", &mut script(RELEASE, &[]))?;
                site()
            }
        }
    }
}

/// Builds and splits the site if its sources are newer.
///
/// # Errors
///
/// If git fails, or the site cannot be built.
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
