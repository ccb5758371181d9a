//! `cargo xtask up`.

use std::os::unix::process::CommandExt;

use crate::{build::build, setup, step};

/// Sets up, builds, and becomes the running stack.
pub fn up(arguments: &[String]) -> anyhow::Result<()> {
    setup::setup()?;
    build()?;
    let mut stack = step::program(step::root().join("target/debug/stack"), &["up"]);
    // Only returns where it could not.
    Err(stack.args(arguments).exec().into())
}
