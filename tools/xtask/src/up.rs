//! `cargo xtask up`.

use std::os::unix::process::CommandExt;

use crate::{
    build, front_end, step,
    tools::{self, Tool},
};

/// Fetches what the site needs beside the compiler, builds, and becomes the running stack.
///
/// # Errors
///
/// Where something cannot be fetched, built or started.
pub fn up(arguments: &[String]) -> anyhow::Result<()> {
    let mut needed = vec![Tool::NatsServer, Tool::SitePackages];
    if arguments.iter().any(|argument| argument == "--observe") {
        needed.push(Tool::TraceViewer);
    }
    tools::ensure_tools_while(&needed, build::programs, front_end::build_where_changed)?;
    let mut stack = step::program(step::root().join("target/debug/stack"), &["up"]);
    // Only returns where it could not.
    Err(stack.args(arguments).exec().into())
}
