//! `cargo xtask up`.

use std::os::unix::process::CommandExt;

use crate::{front_end, setup, step};

/// Sets up, builds, and becomes the running stack.
pub fn up(arguments: &[String]) -> anyhow::Result<()> {
    setup::setup()?;
    let mut build = step::cargo(&["build", "--workspace", "--bins"]);
    step::run(
        "Building the services",
        &mut build,
        "The compiler's message stands above.",
    )?;
    front_end::build_where_changed()?;
    let mut stack = step::program(step::root().join("target/debug/stack"), &["up"]);
    // Only returns where it could not.
    Err(stack.args(arguments).exec().into())
}
