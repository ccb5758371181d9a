//! `cargo xtask images`.

use std::{ffi::OsStr, process::Command};

use crate::{
    front_end, profile,
    step::{compile, program, run},
    tools::{self, Tool, dockerfile_python},
};

/// Release builds, put into images without an engine, started there and weighed.
///
/// # Errors
///
/// Where a tool is missing, a build fails, or an image does not start or is over its budget.
pub fn images() -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::SitePackages, Tool::DockerfileReader, Tool::Root])?;
    compile(
        "Release build",
        profile::release_build(&["sitectl", "web"])?.arg("--locked"),
    )?;
    front_end::build_where_changed()?;
    let mut test = contents_test(profile::released(""));
    run(
        "Assembling, starting and weighing images",
        test.arg("--weigh"),
        "Mend what stands above.",
    )
}

/// Tries the images with the programs of a folder, and writes `target/images.json`.
pub fn contents_test(programs: impl AsRef<OsStr>) -> Command {
    let mut test = program(dockerfile_python(), &["images/contents_test.py"]);
    test.arg(programs);
    test
}
