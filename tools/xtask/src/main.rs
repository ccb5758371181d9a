//! Every chore of the project: `cargo xtask --help`.
#![expect(clippy::print_stdout, reason = "the output of chores is for people")]

mod build;
mod jobs;
mod junit;
mod lint;
mod step;
mod test;
mod tools;

use std::{os::unix::process::CommandExt, process::ExitCode};

use clap::{Parser, Subcommand};

use build::Build;
use step::{program, root};

/// Every chore of the project
#[derive(Parser)]
#[command(name = "cargo xtask", after_help = jobs::help())]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Builds and starts everything, prints the addresses, and runs until Ctrl-C
    Up {
        /// Options of `stack up`: --observe to see traces, --hosting cluster, --broker three, ports such as --site 8081
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Checks format, lints and types, and runs the unit tests: after every edit
    Check,
    /// Checks format, lints, licences, types, Dockerfiles, scripts and workflows
    Lint {
        /// As in the suite: without Clippy, and without lints of unchanged dependencies and workflows
        #[arg(long)]
        fast: bool,
    },
    /// Lints and runs the tests of every change, or the tests of one part
    Test {
        /// The part to run
        part: Option<test::Part>,
        /// Filter of the part's test runner: part of a name, a file
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        filter: Vec<String>,
    },
    /// Runs jobs that are too slow for the suite: all (hours), or those whose names contain a word
    Nightly { words: Vec<String> },
    /// Prints the Debian packages that the suite, one part, or all nightly jobs still need
    SystemPackages {
        part: Option<test::Part>,
        #[arg(long)]
        nightly: bool,
    },
    #[command(external_subcommand)]
    Job(Vec<String>),
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
        Chore::Nightly { words } => jobs::nightly(&words),
        Chore::Job(words) => jobs::run_named(&words),
        Chore::SystemPackages { part, nightly } => {
            print_system_packages(part, nightly);
            Ok(())
        }
    }
}

/// Builds everything, then replaces this process by the stack.
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
        let programs = Build::Programs.run();
        site.join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            .and(programs)
    })?;
    // `exec` returns only on failure.
    Err(program(root().join("target/debug/stack"), &["up"])
        .args(arguments)
        .exec()
        .into())
}

fn print_system_packages(part: Option<test::Part>, nightly: bool) {
    let tools = match part {
        Some(part) => part.tools().to_vec(),
        None if nightly => jobs::tools_of_all(),
        None => test::EVERY_CHANGE.map(test::Part::tools).concat(),
    };
    println!(
        "{}",
        tools::missing_packages(&[&tools[..], &[tools::SHELLCHECK, tools::VENV]].concat()).join(" ")
    );
}
