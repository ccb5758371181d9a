//! Memory of a peak goes back to the system. glibc keeps it:
//! `docs/decisions/0016-memory-goes-back-after-a-peak.md`

use std::time::Duration;

use nix::sys::signal::Signal;
use testkit::{Ports, Stack, eventually, measure::resident_bytes};
use tokio::time::sleep;

use super::{VISITORS, send_forms};

/// Pause of the contact service, shorter than the timeout of a call.
const FROZEN: Duration = Duration::from_secs(3);
/// jemalloc purges gradually: half after about 8 s, all after 10 to 20 s.
const GIVEN_BACK: Duration = Duration::from_secs(30);
const PEAK_BYTES: u64 = 10_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn what_many_waiting_visitors_took_is_given_back() -> anyhow::Result<()> {
    let stack = Stack::start(Ports::free()?, &[]).await?;
    let (gateway, contact) = (stack.service("gateway")?, stack.service("contact")?);
    send_forms(&stack.site(), 1).await?;
    let before = resident_bytes(gateway, "VmRSS")?;

    contact.signal(Signal::SIGSTOP)?;
    let site = stack.site();
    let waiting = tokio::spawn(async move { send_forms(&site, VISITORS).await });
    sleep(FROZEN).await;
    contact.signal(Signal::SIGCONT)?;
    waiting.await??;

    let peak = resident_bytes(gateway, "VmHWM")?;
    anyhow::ensure!(
        peak > before + PEAK_BYTES,
        "{before} bytes, and {peak} at the peak"
    );
    let half = before.midpoint(peak);
    let what = format!("less than {half} bytes are resident, after {before} and {peak}");
    eventually(&what, GIVEN_BACK, async || {
        (resident_bytes(gateway, "VmRSS").ok()? < half).then_some(())
    })
    .await?;
    stack.stop().await
}
