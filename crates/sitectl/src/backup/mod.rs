//! `sitectl backup` and `sitectl restore`: all that is stored, into a folder and back.
//!
//! The order is what makes the parts fit together although the site goes on meanwhile. A backup takes the events first:
//! whatever belongs to an event was stored before it (a résumé) or may be newer without harm (what was delivered, so
//! that a restored site sends nothing twice; a dead letter, which is written before its event is done with). The other
//! way round, an event could come without its résumé. A restore goes backwards: the events come last, when all that
//! they need is there.

mod create;
mod folder;
mod restore;
mod snapshot;

use std::{path::PathBuf, time::Duration};

use async_nats::{
    Client,
    jetstream::{Context, context::ContextBuilder},
};
use clap::Args;
use resumes::S3Settings;
use site_service::nats::NatsSettings;

pub use create::backup;
pub use restore::restore;

/// How long the broker may take over a request: it writes to its disk before it answers some.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// What a backup needs to know.
#[derive(Args, Debug)]
pub struct BackupArgs {
    /// The folder: new, or empty
    folder: PathBuf,
    #[command(flatten)]
    connections: Connections,
}

/// What a restore needs to know.
#[derive(Args, Debug)]
pub struct RestoreArgs {
    /// The folder that `sitectl backup` wrote
    folder: PathBuf,
    /// Copies of every stream and bucket; without this as many as there were
    #[arg(long, env = "STREAM_REPLICAS")]
    replicas: Option<usize>,
    /// Restores the broker and leaves the bucket as it is
    #[arg(long)]
    broker_only: bool,
    /// Does it; without this it is a dry run
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    connections: Connections,
}

/// Connections to the stores, and the form of the output.
#[derive(Args, Debug)]
struct Connections {
    /// The broker
    #[command(flatten)]
    nats: NatsSettings,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    /// Answers in JSON
    #[arg(long)]
    json: bool,
}

fn jetstream(client: Client) -> Context {
    ContextBuilder::new().timeout(REQUEST_TIMEOUT).build(client)
}
