//! `cargo xtask attack`: attacks on a running stack that take longer than a test may.
//!
//! Each starts a stack of its own on 127.0.0.1, is bounded in number and time, and fails where what is promised does not hold.

use std::{
    io::{Write, stdout},
    path::Path,
    process::Command,
};

use clap::{Args, ValueEnum};

use crate::{
    build, profile,
    step::{program, root, run},
    tools::{self, Tool, schemathesis_python, test_python},
};

/// Where the attacks are that are programs in Python.
const SCRIPTS: &str = "services/gateway/tests/attacks";
/// Random conversations with each of four servers.
const CONVERSATIONS: u32 = 5_000;
/// Requests of each operation of the API.
const REQUESTS: u32 = 1_000;
/// So that what is attacked is more than the limit of requests.
const WITHOUT_RATE_LIMITS: [(&str, &str); 4] = [
    ("RATE_PER_MINUTE", "1000000"),
    ("RATE_BURST", "1000000"),
    ("LINK_RATE_PER_MINUTE", "1000000"),
    ("VISITS_PER_SECOND", "1000000"),
];

/// What is to be attacked, and how.
#[derive(Args)]
pub struct AttackArgs {
    /// Which attacks; all without any
    attacks: Vec<Attack>,
    /// Names them, and says what each does
    #[arg(long)]
    list: bool,
    /// What the random choices begin with
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Random conversations with each server, or requests of each operation, instead of as many as take some minutes
    #[arg(long)]
    tries: Option<u32>,
}

/// An attack.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    /// HTTP/2 frames and gRPC calls that are broken on purpose, and conversations changed at random
    Frames,
    /// What the OpenAPI document allows, and what it does not, by Schemathesis
    Api,
    /// Clients that send and read as slowly as they can, by slowhttptest
    Slow,
    /// Archives, slow uploads, idle and slow connections, and floods, beside honest visitors whose times are compared with quiet ones
    Visitors,
}

impl Attack {
    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Frames => &[Tool::NatsServer, Tool::ForeignClients],
            Self::Api => &[Tool::NatsServer, Tool::Schemathesis],
            Self::Slow => &[
                Tool::NatsServer,
                Tool::SitePackages,
                Tool::ForeignClients,
                Tool::SlowHttpTest,
            ],
            Self::Visitors => &[Tool::NatsServer, Tool::SitePackages],
        }
    }

    fn command(self, args: &AttackArgs) -> Command {
        let seed = args.seed.to_string();
        let tries = |usual: u32| args.tries.unwrap_or(usual).to_string();
        match self {
            Self::Frames => {
                let options = ["--seed", &seed, "--mutations", &tries(CONVERSATIONS)];
                on_stack("gateway", &test_python(), "broken_frames.py", &options)
            }
            Self::Api => {
                let options = ["--seed", &seed, "--max-examples", &tries(REQUESTS)];
                on_stack("gateway", &schemathesis_python(), "openapi_requests.py", &options)
            }
            // The front ends' servers, too.
            Self::Slow => on_stack("cluster", &test_python(), "slow_clients.py", &[]),
            Self::Visitors => program(profile::released("attack"), &[]),
        }
    }
}

/// Attacks a stack, in one way after the other.
///
/// # Errors
///
/// Where a tool is missing, a build fails, or something does not hold.
pub fn attack(args: &AttackArgs) -> anyhow::Result<()> {
    if args.list {
        return list();
    }
    let attacks = match args.attacks.as_slice() {
        [] => Attack::value_variants(),
        named => named,
    };
    tools::ensure_tools(&tools_of(attacks))?;
    build::all()?;
    if attacks.contains(&Attack::Visitors) {
        build::release()?;
    }
    for attack in attacks {
        let what = format!("Attacking: {}", name(*attack));
        run(
            &what,
            &mut attack.command(args),
            "What did not hold stands above.",
        )?;
    }
    Ok(())
}

/// What all of them need.
pub fn tools() -> Vec<Tool> {
    tools_of(Attack::value_variants())
}

fn tools_of(attacks: &[Attack]) -> Vec<Tool> {
    let tools = attacks.iter().flat_map(|attack| attack.tools());
    tools.copied().collect()
}

fn list() -> anyhow::Result<()> {
    let mut out = stdout();
    for attack in Attack::value_variants()
        .iter()
        .filter_map(Attack::to_possible_value)
    {
        let help = attack.get_help().map(ToString::to_string).unwrap_or_default();
        writeln!(out, "{:<8} {help}", attack.get_name())?;
    }
    Ok(())
}

fn name(attack: Attack) -> String {
    attack
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

/// A script, run while a stack of its own runs.
fn on_stack(hosting: &str, python: &Path, script: &str, arguments: &[&str]) -> Command {
    let mut stack = program(root().join("target/debug/stack"), &["run", "--hosting", hosting]);
    stack
        .arg(python)
        .arg(root().join(SCRIPTS).join(script))
        .args(arguments)
        .envs(WITHOUT_RATE_LIMITS);
    stack
}
