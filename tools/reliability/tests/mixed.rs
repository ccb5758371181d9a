//! The short form of the fault harness.

use std::env;

use reliability::{HEAD, Plan, broken_promises, row, run};

/// How soon it goes on after a fault is not asked here: other tests run beside this one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_while_faults_of_every_kind_strike() -> anyhow::Result<()> {
    let seed = match env::var("CHAOS_SEED") {
        Ok(seed) => seed.parse()?,
        Err(_) => fastrand::u64(..),
    };
    let plan = Plan::mixed();
    let outcome = run(&plan, seed).await?;
    let table = format!("{HEAD}\n{}", row(&plan, &outcome));
    assert!(outcome.balance.accepted > 0, "nothing was accepted");
    let broken = broken_promises(&plan, &outcome);
    assert!(
        broken.is_empty(),
        "CHAOS_SEED={seed}\n\n{table}\n\n{}",
        broken.join("\n")
    );
    Ok(())
}
