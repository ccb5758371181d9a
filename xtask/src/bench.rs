//! `cargo xtask bench`.

use clap::ValueEnum;

use crate::{
    step::{cargo, program, root, run},
    tools::{self, Tool},
};

/// What can be compared.
#[derive(Clone, Copy, ValueEnum)]
pub enum What {
    /// A backlog of 10,000 events becoming mails, against a bare loop that sends as many
    Notifier,
}

/// Compares release builds, as they would run.
///
/// # Errors
///
/// Where the NATS server cannot be fetched, the build fails, or what is compared is too slow or needs ever more memory.
pub fn bench(what: What) -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::NatsServer])?;
    match what {
        What::Notifier => notifier(),
    }
}

fn notifier() -> anyhow::Result<()> {
    backlog("10,000 events become mails", &[])
}

/// The same backlog with telemetry and without.
///
/// # Errors
///
/// Where the build fails, or it is too slow or needs ever more memory.
pub fn telemetry() -> anyhow::Result<()> {
    backlog("10,000 events become mails, observed and not", &["telemetry"])
}

fn backlog(what: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let mut build = cargo(&["build", "--release", "--workspace", "--bins", "--example=bench"]);
    run(
        "Release build",
        &mut build,
        "The compiler's message stands above.",
    )?;
    run(
        what,
        &mut program(root().join("target/release/examples/bench"), arguments),
        "It is too slow, or its memory grows: see above.",
    )
}
