//! The peers of `tools/bench/peers`, started.

use std::{path::Path, time::Duration};

use async_nats::jetstream::{self, stream};
use testkit::{ChildProcess, Nats, User, free_ports, root};
use tokio::process::Command;

use crate::contender::Contender;

/// The stream of the peers, and what they publish under.
const STREAM: &str = "PEERS";
const SUBJECT: &str = "peers.forms";
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A peer that runs.
pub struct Peer {
    /// Which one.
    pub contender: Contender,
    /// Its address.
    pub url: String,
    /// Its process.
    pub process: ChildProcess,
}

impl Peer {
    /// Starts one, which publishes to this broker if it does at all, and waits until it takes connections.
    ///
    /// # Errors
    ///
    /// If it does not start, or the broker refuses its stream.
    pub async fn start(contender: Contender, nats: &Nats, logs: &Path) -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let mut command = program(contender)?;
        command.env("LISTEN", format!("127.0.0.1:{port}"));
        if contender != Contender::Axum {
            create_stream(nats).await?;
            command
                .env("NATS_URL", nats.url())
                .env("NATS_USER", User::Operator.name())
                .env("NATS_PASSWORD", nats.password())
                .env("SUBJECT", SUBJECT);
        }
        let mut process = ChildProcess::start(&contender.name(), logs, command)?;
        process.listens(port, START_TIMEOUT).await?;
        Ok(Self {
            contender,
            url: format!("http://127.0.0.1:{port}"),
            process,
        })
    }
}

fn program(contender: Contender) -> anyhow::Result<Command> {
    if contender == Contender::FastifyJetstream {
        let packages = root().join("target/tools/fastify/node_modules");
        let mut node = Command::new(root().join("node_modules/.bin/node"));
        node.arg(root().join("tools/bench/peers/fastify/server.cjs"))
            .env("NODE_ENV", "production")
            .env("NODE_PATH", packages);
        return Ok(node);
    }
    Ok(Command::new(root().join("target/release/axum-peer")))
}

/// On disk, as that of the events.
async fn create_stream(nats: &Nats) -> anyhow::Result<()> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let config = stream::Config {
        name: STREAM.to_owned(),
        subjects: vec![SUBJECT.to_owned()],
        storage: stream::StorageType::File,
        ..stream::Config::default()
    };
    context.get_or_create_stream(config).await?;
    Ok(())
}
