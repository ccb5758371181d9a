//! Starts the peers.

use std::{env, time::Duration};

use async_nats::jetstream::{self, stream};
use testkit::{ChildProcess, Nats, Stack, User, free_ports, root};
use tokio::process::Command;

use crate::compare::Contender;

const STREAM: &str = "PEERS";
const SUBJECT: &str = "peers.forms";
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Running peer, stopped on drop.
pub struct Peer {
    url: String,
    process: ChildProcess,
}

impl Peer {
    /// # Errors
    ///
    /// If the peer is not built, or does not start.
    pub async fn axum(stack: &Stack) -> anyhow::Result<Self> {
        let program = Command::new(env::current_exe()?.with_file_name("axum-peer"));
        Self::start("axum", program, stack).await
    }

    /// # Errors
    ///
    /// If the peer does not start.
    pub async fn fastify(stack: &Stack) -> anyhow::Result<Self> {
        let mut program = Command::new(root().join("node_modules/.bin/node"));
        program
            .arg(root().join("tools/bench/peers/fastify/server.cjs"))
            .env("NODE_ENV", "production")
            .env("NODE_PATH", root().join("target/tools/fastify/node_modules"));
        Self::start("fastify", program, stack).await
    }

    /// Contender whose processor time includes the process `beside`.
    pub fn contender<'a>(&'a self, beside: Option<&'a ChildProcess>) -> Contender<'a> {
        Contender {
            name: &self.process.name,
            url: self.url.clone(),
            processes: [Some(&self.process), beside].into_iter().flatten().collect(),
            least: None,
        }
    }

    async fn start(name: &str, mut program: Command, stack: &Stack) -> anyhow::Result<Self> {
        create_stream(&stack.nats).await?;
        let [port] = free_ports()?;
        program
            .envs(stack.s3.env())
            .env("SITE_DIR", root().join("frontends/dist"))
            .env("LISTEN", format!("127.0.0.1:{port}"))
            .env("NATS_URL", stack.nats.url())
            .env("NATS_USER", User::Operator.name())
            .env("NATS_PASSWORD", stack.nats.password_of(User::Operator))
            .env("SUBJECT", SUBJECT);
        let mut process = ChildProcess::start(name, &stack.logs, program)?;
        process.listens(port, START_TIMEOUT).await?;
        Ok(Self {
            url: format!("http://127.0.0.1:{port}"),
            process,
        })
    }
}

/// The stream is on disk, like ours.
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
