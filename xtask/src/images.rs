//! `cargo xtask images`.

use std::process::Command;

use crate::{
    front_end,
    setup::{judge, setup},
    step::{cargo, run},
};

/// Release builds, put into images without an engine, started there and weighed.
pub fn images() -> anyhow::Result<()> {
    setup()?;
    let mut build = cargo(&["build", "--release", "--locked", "--workspace", "--bins"]);
    build.args(["--exclude=testkit", "--exclude=xtask"]);
    run(
        "Release build",
        &mut build,
        "The compiler's message stands above.",
    )?;
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
    judge("python", &["images/contents_test.py", programs])
}
