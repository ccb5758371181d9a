//! Two releases beside each other.

use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use fastrand::Rng;
use testkit::Stack;
use tokio::time::sleep;

/// Environment variable: the folder of the other release's programs.
const OTHER_RELEASE: &str = "OTHER_RELEASE";
/// How long services of two releases run beside each other before the next one is replaced.
const MIXED_TIME: Duration = Duration::from_secs(1);

/// Replaces each service by that of the other release, and then each by ours again: in some order, and in the reverse of it, so
/// that of any two services each was the newer one, on the way there and on the way back.
pub(super) async fn replace_and_restore(stack: &mut Stack, rng: &mut Rng) -> anyhow::Result<()> {
    let ours = stack.programs().to_owned();
    let theirs = env::var_os(OTHER_RELEASE)
        .with_context(|| format!("{OTHER_RELEASE} does not say where the other release's programs are"))?;
    let theirs = PathBuf::from(theirs);
    let mut services = stack.names();
    rng.shuffle(&mut services);
    for _ in 0..2 {
        replace(stack, &theirs, &services).await?;
        replace(stack, &ours, &services).await?;
        services.reverse();
    }
    Ok(())
}

async fn replace(stack: &mut Stack, programs: &Path, services: &[&'static str]) -> anyhow::Result<()> {
    stack.use_programs(programs.to_owned());
    for service in services {
        stack.stop_service(service).await?;
        stack.start_service(service)?;
        sleep(MIXED_TIME).await;
    }
    Ok(())
}
