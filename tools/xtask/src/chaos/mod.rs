//! `cargo xtask chaos`: the fault harness, the model, and the builds that both must find wanting.

mod broken;
mod other_release;

use clap::Args;

use crate::{
    build, profile,
    step::{cargo, program, root, run},
    tools::{self, Tool},
};

/// How many sequences of steps the model tries.
const MODEL_SEQUENCES: &str = "10000";
/// The rows that take a quarter of an hour: they are named in full only, as the harness has it.
const SOAKS: [&str; 2] = ["soak", "cluster-soak"];

/// What is to be attacked, and how.
#[derive(Args)]
pub struct ChaosArgs {
    /// Rows of the table, by name or part of one, a soak (17 minutes) by its whole name; without any, one for each fault, in three
    /// quarters of an hour
    rows: Vec<String>,
    /// What the random choices begin with; without it, another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Names the rows
    #[arg(long)]
    list: bool,
    /// Tries 10,000 sequences of steps on the model of the path instead
    #[arg(long, conflicts_with_all = ["rows", "list", "broken"])]
    model: bool,
    /// Has the model and the harness find builds that lose something on purpose instead
    #[arg(long, conflicts_with_all = ["rows", "list", "seed"])]
    broken: bool,
}

/// Attacks what is promised.
///
/// # Errors
///
/// Where a tool is missing, a build fails, or the promise does not hold.
pub fn chaos(args: &ChaosArgs) -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::NatsServer])?;
    if args.broken {
        return broken::broken();
    }
    if args.model {
        return model(args.seed);
    }
    rows(args)
}

fn model(seed: Option<u64>) -> anyhow::Result<()> {
    let mut test = cargo(&["test", "--quiet", "--package=reliability", "--test=model"]);
    test.env("MODEL_SEQUENCES", MODEL_SEQUENCES);
    if let Some(seed) = seed {
        test.env("MODEL_SEED", seed.to_string());
    }
    let what = format!("{MODEL_SEQUENCES} sequences on the model");
    run(&what, test.args(["--", "--nocapture"]), "See above.")
}

fn rows(args: &ChaosArgs) -> anyhow::Result<()> {
    tools::ensure_tools(&[Tool::Root, Tool::Faketime])?;
    let is_named = |row: &str| args.rows.iter().any(|word| row.contains(word.as_str()));
    // A soak is a load that only optimised programs bear.
    let harness = if is_soak(&args.rows) {
        build::release()?;
        profile::released("chaos")
    } else {
        build::programs()?;
        root().join("target/debug/chaos")
    };
    let mut harness = program(harness, &[]);
    harness.args(&args.rows);
    if let Some(seed) = args.seed {
        harness.args(["--seed", &seed.to_string()]);
    }
    if args.list {
        harness.arg("--list");
    }
    if is_named("other-release") {
        harness.env("OTHER_RELEASE", other_release::build()?);
    }
    run(
        "Faults under load",
        &mut harness,
        "What did not hold stands above.",
    )
}

fn is_soak(rows: &[String]) -> bool {
    rows.iter().any(|row| SOAKS.contains(&row.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_its_name_does_not_mean_a_soak() {
        let is_soak = |row: &str| is_soak(&["mixed".to_owned(), row.to_owned()]);
        assert!(SOAKS.into_iter().all(is_soak));
        assert!(
            !["cluster", "cluster-", "so", "store-away"]
                .into_iter()
                .any(is_soak)
        );
    }
}
