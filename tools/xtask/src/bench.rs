//! `cargo xtask bench`.

use std::process::Command;

use clap::ValueEnum;

use crate::{
    front_end, profile,
    step::{cargo, compile, program, root, run},
    tools::{self, Tool},
};

/// What can be compared.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Contact forms a second, their latency and their cost, beside bare Axum, with JetStream and without, and Fastify
    Accept,
    /// Pages and scripts over HTTP/1.1 and HTTP/2, beside nginx with the same files
    Pages,
    /// Résumés of 10 MB, 1, 8 and 64 at once, beside a direct PUT to the store
    Upload,
    /// Forms, sign-ups, mails, `sitectl person export`, `person erase` and `dead-letters list` with 10^3, 10^5 and 10^6 events stored
    Growth,
    /// A backlog of 10,000 events becoming mails, against a bare loop that sends as many
    Deliver,
    /// Events stored one by one and in the broker's atomic batches, each on the disk before it is acknowledged
    Batches,
    /// Instructions and allocations of a form, a megabyte of an upload, a page and a mail, beside those that are written down;
    /// `--write` writes them down
    Instructions,
}

impl What {
    fn tools(self) -> &'static [Tool] {
        match self {
            // The site's packages bring the Node that Fastify runs on.
            Self::Accept => &[Tool::NatsServer, Tool::SitePackages, Tool::Fastify, Tool::Wrk],
            Self::Pages => &[Tool::NatsServer, Tool::SitePackages, Tool::Nginx, Tool::H2load],
            Self::Growth => &[Tool::NatsServer, Tool::Wrk],
            Self::Upload | Self::Deliver | Self::Batches => &[Tool::NatsServer],
            Self::Instructions => &[Tool::NatsServer, Tool::Valgrind],
        }
    }
}

/// Compares release builds, as they would run; of instructions, a build whose counts are near theirs.
///
/// # Errors
///
/// Where a tool is missing, a build fails, or a bar is missed that must hold.
pub fn bench(what: What, arguments: &[String]) -> anyhow::Result<()> {
    tools::ensure_tools(what.tools())?;
    match what {
        What::Deliver => backlog("10,000 events become mails", &[]),
        What::Accept => build_peer().and_then(|()| compare("accept", arguments)),
        What::Upload => compare("upload", arguments),
        What::Growth => compare("growth", arguments),
        What::Batches => compare("batches", arguments),
        What::Pages => front_end::build_where_changed().and_then(|()| compare("pages", arguments)),
        What::Instructions => build_instructions().and_then(|()| {
            run(
                "Counting instructions",
                instructions().args(arguments),
                "What is too far from what is written down stands above.",
            )
        }),
    }
}

/// Builds what [`instructions`] counts and what drives it.
///
/// # Errors
///
/// Where something does not compile.
pub fn build_instructions() -> anyhow::Result<()> {
    let builds = [
        &["build", "--package=bench", "--bin=bench"][..],
        &[
            "build",
            "--profile=guard",
            "--package=instructions",
            "--example=instructions",
        ],
    ];
    builds
        .iter()
        .try_for_each(|build| compile("Building what is counted", &mut cargo(build)))
}

/// Counts instructions, once [`build_instructions`] has built what that takes.
pub fn instructions() -> Command {
    program(root().join("target/debug/bench"), &["instructions"])
}

/// What all of them need.
pub fn tools() -> Vec<Tool> {
    let tools = What::value_variants().iter().flat_map(|what| what.tools());
    tools.copied().collect()
}

/// The peer as anybody would build it, by no profile.
fn build_peer() -> anyhow::Result<()> {
    compile(
        "Release build of the peer",
        &mut cargo(&["build", "--release", "--workspace", "--bin=axum-peer"]),
    )
}

fn compare(what: &str, arguments: &[String]) -> anyhow::Result<()> {
    compile(
        "Release build",
        &mut profile::release_build(&["bench", "sitectl"])?,
    )?;
    run(
        &format!("Comparing: {what}"),
        program(profile::released("bench"), &[what]).args(arguments),
        "A bar is missed, or a contender failed: see above.",
    )
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
    let mut build = profile::release_build(&[])?;
    compile("Release build", build.arg("--example=deliver"))?;
    run(
        what,
        &mut program(profile::released("examples/deliver"), arguments),
        "It is too slow, or its memory grows: see above.",
    )
}
