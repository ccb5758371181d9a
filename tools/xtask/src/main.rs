//! Every chore of the project: `cargo xtask --help`.

mod advisories;
mod attack;
mod bench;
mod build;
mod changelog;
mod chaos;
mod check;
#[cfg(test)]
mod circles;
mod commands;
#[cfg(test)]
mod compiled_once;
#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod errors;
mod front_end;
mod fuzz;
mod images;
#[cfg(test)]
mod install_scripts;
mod k8s;
mod kind;
mod lint;
#[cfg(test)]
mod log_messages;
#[cfg(test)]
mod map;
mod measure;
mod patched_copy;
mod profile;
mod sbom;
mod security;
#[cfg(test)]
mod sources;
mod step;
mod test;
mod tools;
mod up;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
        /// What `stack up` takes: --observe to see traces, --hosting cluster, --broker three, ports such as --site 8081
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Checks format, lints and types and runs the unit tests: for after every edit
    Check,
    /// Checks format, lints, licences, types, Dockerfiles and workflows
    Lint,
    /// Lints and runs all tests but those in further engines, or the tests of one part
    Test {
        /// The part to run
        part: Option<test::Part>,
        /// Which of its tests, as its runner understands it: part of a name, a file
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        filter: Vec<String>,
    },
    /// Names the Debian packages that only root can install and that tests, attacks and benches, or the tests of a part, still need
    SystemPackages {
        /// The part
        part: Option<test::Part>,
    },
    /// Renders and checks the Kubernetes tree
    K8s {
        /// Writes docs/operations-flows.md from the manifests instead
        #[arg(long)]
        write: bool,
    },
    /// Starts what an overlay says as a node would, and restarts, loses and closes what a cluster does; in five minutes
    Rehearse {
        /// What `target/debug/rehearsal` takes: an overlay or a folder over `production`, which is rehearsed without; --short, --logs FOLDER
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Starts the overlay `local` on a cluster of its own, with kind and docker, sends the three forms, and deletes it; in half an hour
    Kind,
    /// Writes every mail to target/mail-preview, as HTML and as text, to be looked at
    MailPreview,
    /// Writes the table of settings in docs/operations.md as the programs take them
    Settings,
    /// Writes CHANGELOG.md from the commits, as cliff.toml says; where a tag is named, as they are once it is set
    Changelog {
        /// The tag, such as v0.2.0
        tag: Option<String>,
    },
    /// Builds releases, puts them into images without an engine, starts and weighs them
    Images,
    /// Checks what is publicly known of the dependencies, by the database of advisories as it is pinned
    Advisories {
        /// Pins the newest database first
        #[arg(long)]
        renew: bool,
    },
    /// Writes what the images are made of to target/sbom, as CycloneDX
    Sbom,
    /// Measures what docs/performance.md states; fails where a budget is exceeded
    Measure {
        /// What to measure
        what: measure::What,
    },
    /// Records anew what of the services runs often, by which release builds are laid out; in a quarter of an hour
    Profile,
    /// Runs every command that the documents name: for a nightly job, in hours
    Commands {
        /// Only those that contain one of these words, such as `measure` or "npm run"
        filter: Vec<String>,
    },
    /// Attacks what reads the words of others with inputs that are made up, target by target; fails where one shows a fault
    Fuzz(fuzz::FuzzArgs),
    /// Attacks the promise that nothing is lost: faults under load, a model of the path, builds that are broken on purpose
    Chaos(chaos::ChaosArgs),
    /// Takes security measures out of a copy, one at a time: the test that docs/security.md names for each must fail
    Security(security::SecurityArgs),
    /// Attacks a running stack for longer than a test may: broken frames, whatever the API's document allows, slow clients
    Attack(attack::AttackArgs),
    /// Compares what ours reaches with peers that do the same work, in one run; fails below the share that must be reached
    Bench {
        /// What to compare
        what: bench::What,
        /// What `bench` takes for it, such as --connections 64 --turns 5
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Up { arguments } => up::up(&arguments),
        Chore::Check => check::check(),
        Chore::Lint => tools::ensure_tools(&lint::TOOLS).and_then(|()| lint::lint()),
        Chore::Test { part, filter } => test::test(part, &filter),
        Chore::SystemPackages { part } => system_packages(part),
        Chore::K8s { write: true } => k8s::write_flows(),
        Chore::K8s { write: false } => k8s::check(),
        Chore::Rehearse { arguments } => k8s::rehearse(&arguments),
        Chore::Kind => kind::kind(),
        Chore::MailPreview => mail_preview(),
        Chore::Settings => settings(),
        Chore::Changelog { tag } => changelog::changelog(tag.as_deref()),
        Chore::Images => images::images(),
        Chore::Advisories { renew } => advisories::advisories(renew),
        Chore::Sbom => sbom::sbom(),
        Chore::Profile => profile::record(),
        Chore::Measure { what } => measure::measure(what),
        Chore::Commands { filter } => commands::commands(&filter),
        Chore::Fuzz(args) => fuzz::fuzz(&args),
        Chore::Chaos(args) => chaos::chaos(&args),
        Chore::Security(args) => security::security(&args),
        Chore::Attack(args) => attack::attack(&args),
        Chore::Bench { what, arguments } => bench::bench(what, &arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn system_packages(part: Option<test::Part>) -> anyhow::Result<()> {
    let mut tools = test::tools_of(part);
    if part.is_none() {
        tools.extend(attack::tools());
        tools.extend(bench::tools());
    }
    tools::print_missing_packages(&tools)
}

fn mail_preview() -> anyhow::Result<()> {
    let mut preview = step::cargo(&[
        "run",
        "--quiet",
        "--package",
        "notifier",
        "--example",
        "mail-preview",
    ]);
    preview.args(["--", "target/mail-preview"]);
    step::run("Writing the mails", &mut preview, "See above.")
}

fn settings() -> anyhow::Result<()> {
    let mut table = step::cargo(&["run", "--quiet", "--package", "sitectl", "--example", "settings"]);
    table.args(["--", "docs/operations.md"]);
    step::run("Writing the table of settings", &mut table, "See above.")
}
