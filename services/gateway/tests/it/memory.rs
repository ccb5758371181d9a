//! What the gateway keeps of the memory that a peak took.

use std::{net::Ipv4Addr, time::Duration};

use futures_util::future::try_join_all;
use nix::sys::signal::Signal;
use reqwest::Client;
use serde_json::json;
use testkit::{Ports, Stack, eventually, measure::resident_bytes};
use tokio::time::sleep;

/// Visitors who wait at the same time.
const VISITORS: u32 = 400;
/// The first address of one: each has its own, or there would soon be too many from one.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
/// How long the contact service stands still: less than a call may take.
const FROZEN: Duration = Duration::from_secs(3);
/// What is free goes back little by little: half of it after some eight seconds, all of it after ten or twenty.
const GIVEN_BACK: Duration = Duration::from_secs(30);
/// What a peak is at least.
const PEAK_BYTES: u64 = 10_000_000;

async fn send_forms(site: &str, visitors: u32) -> anyhow::Result<()> {
    // A client of its own, so that no connection is left when all are answered.
    let http = Client::new();
    let forms = (0..visitors).map(async |visitor| {
        let address = Ipv4Addr::from_bits(FIRST_ADDRESS.to_bits() + visitor);
        let form = json!({
            "name": "Ada Lovelace",
            "email": format!("{address}@example.org"),
            "message": "How many wait with me?",
        });
        let request = http.post(format!("{site}/api/contact"));
        let request = request.header("x-forwarded-for", address.to_string());
        request.json(&form).send().await
    });
    // On a busy machine some are told to come again, which is as good here.
    try_join_all(forms).await?;
    Ok(())
}

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
