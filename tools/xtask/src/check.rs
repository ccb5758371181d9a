//! `cargo xtask check`: what to run after every edit.

use std::thread;

use crate::{
    lint,
    step::{cargo, npm, run},
    tools::{self, Tool},
};

/// Checks format, lints and types, and runs the tests that start nothing. What is Rust and what is not run side by side.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn check() -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::AllPackages])?;
    thread::scope(|scope| {
        let front_ends = scope.spawn(front_ends);
        let rust = lint::rust().and_then(|()| unit_tests());
        let front_ends = front_ends
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        rust.and(front_ends)
    })
}

fn unit_tests() -> anyhow::Result<()> {
    // What builds every program is left to `test rust`.
    let but = ["--", "--skip", "a_chore_compiles_nothing"];
    let mut tests = cargo(&["test", "--workspace", "--quiet", "--lib", "--bins"]);
    tests.args(but);
    run("Unit tests of Rust", &mut tests, "Mend what stands above.")
}

fn front_ends() -> anyhow::Result<()> {
    lint::front_ends()?;
    let mut tests = npm("test:unit", &["--reporter=dot"]);
    run(
        "Unit tests of the front ends",
        &mut tests,
        "Mend what stands above.",
    )
}
