//! Every chore of the project: `cargo xtask --help`.
#![expect(clippy::print_stdout, reason = "whoever runs a chore reads what it prints")]

mod build;
mod jobs;
mod junit;
mod lint;
mod step;
mod test;
mod tools;

use std::{os::unix::process::CommandExt, process::ExitCode};

use clap::{Parser, Subcommand};

use step::{program, root};

/// Every chore of the project
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Builds and starts everything and shows where it runs, until Ctrl-C
    Up {
        /// Options of `stack up`: --observe to see traces, --hosting cluster, --broker three, ports such as --site 8081
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Checks format, lints and types and runs the unit tests: for after every edit
    Check,
    /// Checks format, lints, licences, types, Dockerfiles, scripts and workflows
    Lint {
        /// What the suite runs: without Clippy, and without lints of dependencies and workflows that did not change
        #[arg(long)]
        fast: bool,
    },
    /// Lints and runs the tests of every change, or the tests of one part
    Test {
        /// The part to run
        part: Option<test::Part>,
        /// Which of its tests, as its runner understands it: part of a name, a file
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        filter: Vec<String>,
    },
    /// Writes every committed file that is made from code, and all mails to target/mail-preview
    Generate,
    /// Runs what is too slow for the suite: all jobs, in hours, or some by name
    Nightly {
        /// Names of jobs, such as chaos, engines or bench-accept
        jobs: Vec<String>,
    },
    /// Attacks the promise that nothing is lost, by faults under load
    Chaos {
        /// Options of `chaos`: rows of its table, --seed, --list
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Rehearses a cluster: starts what an overlay says, restarts, loses and closes what a cluster does
    Rehearse {
        /// Options of `rehearsal`: an overlay, --short, --logs FOLDER
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Compares release builds with peers that do the same work: accept, upload, pages or deliver
    Bench { what: String },
    /// Measures what docs/performance.md states: build, memory or web
    Measure { what: String },
    /// Runs fuzz targets by libFuzzer
    Fuzz {
        /// Part of a target's name; all targets without one
        target: Option<String>,
        /// For how long each
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Puts release builds into images without an engine, starts and weighs them
    Images,
    /// Checks what is publicly known of the dependencies
    Advisories,
    /// Writes what the images are made of to target/sbom, as CycloneDX
    Sbom,
    /// Writes CHANGELOG.md from the commits, for a tag that is to come
    Changelog {
        /// The tag, such as v0.2.0
        tag: Option<String>,
    },
    /// Prints the Debian packages that the suite, one part, or all nightly jobs still need
    SystemPackages {
        part: Option<test::Part>,
        #[arg(long)]
        nightly: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: Chore) -> anyhow::Result<()> {
    match chore {
        Chore::Up { arguments } => up(&arguments),
        Chore::Check => lint::check(),
        Chore::Lint { fast } => lint::lint(fast),
        Chore::Test { part, filter } => test::test(part, &filter),
        Chore::Generate => jobs::generate(),
        Chore::Nightly { jobs } => jobs::nightly(&jobs),
        Chore::Chaos { arguments } => jobs::chaos(&arguments),
        Chore::Rehearse { arguments } => jobs::rehearse(&arguments),
        Chore::Bench { what } => jobs::bench(&what),
        Chore::Measure { what } => jobs::measure(&what),
        Chore::Fuzz { target, seconds } => jobs::fuzz(target.as_deref(), seconds),
        Chore::Images => jobs::images(),
        Chore::Advisories => jobs::advisories(),
        Chore::Sbom => jobs::sbom(),
        Chore::Changelog { tag } => jobs::changelog(tag.as_deref()),
        Chore::SystemPackages { part, nightly } => {
            print_system_packages(part, nightly);
            Ok(())
        }
    }
}

/// Builds, and becomes the running stack.
fn up(arguments: &[String]) -> anyhow::Result<()> {
    let mut needed = vec![tools::NATS_SERVER, tools::SITE_PACKAGES];
    needed.extend(
        arguments
            .iter()
            .any(|argument| argument == "--observe")
            .then_some(tools::TRACE_VIEWER),
    );
    std::thread::scope(|scope| {
        let site = scope.spawn(|| tools::ensure(&needed).and_then(|()| build::site()));
        let programs = build::programs(&[]);
        site.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            .and(programs)
    })?;
    // It returns only if the program cannot be started.
    Err(program(root().join("target/debug/stack"), &["up"])
        .args(arguments)
        .exec()
        .into())
}

fn print_system_packages(part: Option<test::Part>, nightly: bool) {
    let tools = match part {
        Some(part) => part.tools().to_vec(),
        None if nightly => jobs::TOOLS.to_vec(),
        None => test::EVERY_CHANGE.map(test::Part::tools).concat(),
    };
    println!(
        "{}",
        tools::missing_packages(&[&tools[..], &[tools::SHELLCHECK, tools::VENV]].concat()).join(" ")
    );
}
