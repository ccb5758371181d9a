//! Clocks that step.

use std::time::Duration;

use anyhow::Context;
use fastrand::Rng;
use testkit::Stack;
use tokio::time::sleep;

/// How far: an unsynchronised one, a time zone's mistake, more than retries go on.
const STEPS: [Duration; 3] = [
    Duration::from_secs(10),
    Duration::from_secs(60 * 60),
    Duration::from_secs(26 * 60 * 60),
];

/// Steps the clock of this service forth or back, and sets it right after a while.
pub(super) async fn step(service: &str, stack: &Stack, away: Duration, rng: &mut Rng) -> anyhow::Result<()> {
    let step = rng.choice(STEPS).context("there are steps")?;
    let clock = stack.clock_of(service)?;
    if rng.bool() {
        clock.step_forth(step)?;
    } else {
        clock.step_back(step)?;
    }
    sleep(away).await;
    clock.set_right()
}
