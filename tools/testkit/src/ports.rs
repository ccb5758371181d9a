//! Ports of the stack.

use std::{collections::BTreeMap, io, net::TcpListener, ops::Range, sync::Mutex};

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use uuid::Uuid;

/// Below the range of outgoing connections, which could take a port before its server listens.
const CHOICE: Range<u16> = 10_240..32_768;
const ATTEMPTS: usize = 100;
/// Reservations bind another loopback address, so that the port stays free on 127.0.0.1.
const RESERVATIONS: &str = "127.0.0.2";
static RESERVED: Mutex<Vec<TcpListener>> = Mutex::new(Vec::new());

/// Ports on 127.0.0.1 that people and tests call. Other parts use free ports.
#[derive(Args, Serialize, Debug, Clone)]
pub struct Ports {
    /// Port of the site and its API
    #[arg(long, default_value_t = 8080)]
    pub site: u16,
    /// Port of the gateway's health
    #[arg(long, default_value_t = 8090)]
    pub health: u16,
    /// Port of the inbox's web page and API
    #[arg(long, default_value_t = 1080)]
    pub inbox: u16,
    /// Port of the mail server
    #[arg(long, default_value_t = 1025)]
    pub smtp: u16,
    /// Port of the receiver of webhooks
    #[arg(long, default_value_t = 1090)]
    pub hooks: u16,
    /// Port of the trace viewer's web page
    #[arg(long, default_value_t = 4318)]
    #[serde(skip)]
    pub traces: u16,
    /// Port of NATS
    #[arg(long, default_value_t = 4222)]
    pub nats: u16,
    /// Port of the S3 server
    #[arg(long, default_value_t = 9000)]
    pub s3: u16,
}

impl Ports {
    /// Free ports.
    pub fn free() -> anyhow::Result<Self> {
        let [site, health, inbox, smtp, hooks, traces, nats, s3] = free_ports()?;
        Ok(Self {
            site,
            health,
            inbox,
            smtp,
            hooks,
            traces,
            nats,
            s3,
        })
    }

    /// Ignores the port `traces`, because only `--observe` needs it.
    pub(crate) fn ensure_free(&self) -> anyhow::Result<()> {
        let ports: BTreeMap<String, u16> = serde_json::from_value(serde_json::to_value(self)?)?;
        for (name, port) in ports {
            TcpListener::bind(("127.0.0.1", port)).with_context(|| {
                format!(
                    "Port {port} is used by another program; stop it, or choose another port with --{name}"
                )
            })?;
        }
        Ok(())
    }
}

/// Ports reserved until this process ends.
///
/// # Errors
///
/// If too few are free.
pub fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    let mut ports = [0; N];
    for port in &mut ports {
        *port = free_port()?;
    }
    Ok(ports)
}

fn free_port() -> anyhow::Result<u16> {
    for _ in 0..ATTEMPTS {
        let (random, _) = Uuid::new_v4().as_u64_pair();
        let port = CHOICE.start + u16::try_from(random % CHOICE.len() as u64)?;
        if let Ok(reservation) = reserve(port) {
            let mut reserved = RESERVED.lock().ok().context("a thread panicked")?;
            reserved.push(reservation);
            return Ok(port);
        }
    }
    anyhow::bail!("no port is free")
}

fn reserve(port: u16) -> io::Result<TcpListener> {
    let reservation = TcpListener::bind((RESERVATIONS, port))?;
    TcpListener::bind(("127.0.0.1", port))?;
    Ok(reservation)
}
