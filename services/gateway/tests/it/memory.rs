//! Memory of the gateway under load.

use std::{net::Ipv4Addr, time::Duration};

use futures_util::future::try_join_all;
use reqwest::Client;
use serde_json::json;
use testkit::{Ports, Stack, measure::resident_bytes};
use tokio::{io::AsyncWriteExt, net::TcpStream};

const VISITORS: u32 = 400;
/// Address of the first visitor. Each has an address of their own, so that no rate limit applies.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);

const STOPPED_BYTES: usize = 256 * 1024;
/// Limit of the memory for stalled messages and their connections.
const STOPPED_TAKE_BYTES: u64 = 60_000_000;

async fn contact(site: &str) -> anyhow::Result<()> {
    let form =
        json!({ "name": "Ada Lovelace", "email": "ada@example.org", "message": "Is there room for me?" });
    // A new client for each form, so that no connection stays open after the answer.
    let request = Client::new().post(format!("{site}/api/contact"));
    request.json(&form).send().await?.error_for_status()?;
    Ok(())
}

async fn send_stopped(port: u16, visitor: u32) -> anyhow::Result<TcpStream> {
    let address = Ipv4Addr::from_bits(FIRST_ADDRESS.to_bits() + visitor);
    let mut line = TcpStream::connect(("127.0.0.1", port)).await?;
    let head = format!(
        "POST /api/contact HTTP/1.1\r\nHost: site\r\nContent-Length: {STOPPED_BYTES}\r\nX-Forwarded-For: {address}\r\n\
         Content-Type: application/json\r\n\r\n"
    );
    line.write_all(head.as_bytes()).await?;
    // The write times out if the gateway stops reading and the system's buffers are full.
    let sending = line.write_all(&[b' '; STOPPED_BYTES - 1]);
    let _unread = tokio::time::timeout(Duration::from_secs(1), sending).await;
    Ok(line)
}

#[tokio::test(flavor = "multi_thread")]
async fn stalled_messages_take_bounded_memory_and_others_are_served() -> anyhow::Result<()> {
    let stack = Stack::start(Ports::free()?, &[]).await?;
    let gateway = stack.service("gateway")?;
    contact(&stack.site()).await?;
    let before = resident_bytes(gateway, "VmRSS")?;

    let port = stack.ports.site;
    let lines = try_join_all((0..VISITORS).map(|visitor| send_stopped(port, visitor + 1))).await?;
    contact(&stack.site()).await?;

    let peak = resident_bytes(gateway, "VmHWM")?;
    anyhow::ensure!(
        peak < before + STOPPED_TAKE_BYTES,
        "{before} bytes, and {peak} at the peak"
    );
    drop(lines);
    stack.stop().await
}
