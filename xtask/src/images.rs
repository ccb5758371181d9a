//! `cargo xtask images`.

use std::process::Command;

use crate::{
    front_end,
    step::{cargo, compile, program, run},
    tools::{self, Tool, dockerfile_python},
};

/// Release builds, put into images without an engine, started there and weighed.
///
/// # Errors
///
/// Where a tool is missing, a build fails, or an image does not start or is over its budget.
pub fn images() -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::SitePackages, Tool::DockerfileReader, Tool::Root])?;
    let mut build = cargo(&["build", "--release", "--locked", "--workspace", "--bins"]);
    build.args(["--exclude=testkit", "--exclude=xtask"]);
    compile("Release build", &mut build)?;
    front_end::build_where_changed()?;
    let mut test = contents_test("target/release");
    run(
        "Assembling, starting and weighing images",
        test.arg("--weigh"),
        "Mend what stands above.",
    )
}

/// Tries the images with the programs of a folder, and writes `target/images.json`.
pub fn contents_test(programs: &str) -> Command {
    program(dockerfile_python(), &["images/contents_test.py", programs])
}
