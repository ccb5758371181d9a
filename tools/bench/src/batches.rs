//! `bench batches`: whether events are stored sooner that are gathered into JetStream's atomic batches, where each write is on the
//! disk before it is acknowledged. What came of it: docs/decisions/0032-events-are-published-one-by-one.md.

use std::time::{Duration, Instant};

use async_nats::{
    Client, HeaderMap,
    header::NATS_MESSAGE_ID,
    jetstream::{self, Context, message::PublishMessage},
};
use clap::Args;
use futures_util::future::try_join_all;
use serde::Serialize;
use site_events::SITE_STREAM;
use testkit::{Fsync, Nats, User, free_ports, measure::median};
use uuid::Uuid;

use crate::report::{self, Report};

const SHARED: &str = "Events of 1 kB by one publisher, each with an id of its own, so many of them waiting for their acknowledgement at \
once; brokers write each to the disk before they acknowledge it. Medians of the turns.";
const COLUMNS: [&str; 5] = ["broker", "in flight", "one by one/s", "in batches/s", "ratio"];
const IN_FLIGHT: [usize; 3] = [1, 16, 64];
const EVENT_BYTES: usize = 1024;
const STORAGE_MB: &str = "4000";

/// For how long.
#[derive(Args)]
pub struct BatchesArgs {
    /// How often each way has its turn
    #[arg(long, default_value_t = 3)]
    turns: u32,
    /// How many seconds a turn lasts
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

/// Compares, in turns, with one server and with three.
///
/// # Errors
///
/// If an event is not stored.
pub async fn batches(args: &BatchesArgs) -> anyhow::Result<Report> {
    let folder = tempfile::tempdir()?;
    let [port] = free_ports()?;
    let single = Nats::start_single(Fsync::Always, None, port, folder.path()).await?;
    let mut rows = with(single, "one server", args).await?;
    rows.extend(with(Nats::start_cluster().await?, "three servers", args).await?);
    Ok(Report::of("batches", SHARED, &COLUMNS, &rows))
}

async fn with(mut nats: Nats, broker: &'static str, args: &BatchesArgs) -> anyhow::Result<Vec<Measured>> {
    nats.provision_with(&["--storage-mb", STORAGE_MB]).await?;
    allow_batches(&jetstream::new(nats.client(User::Operator).await?)).await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let lasting = Duration::from_secs(args.seconds);
    let mut rows = Vec::new();
    for in_flight in IN_FLIGHT {
        let (mut one_by_one, mut in_batches) = (Vec::new(), Vec::new());
        for _ in 0..args.turns {
            one_by_one.push(publisher.one_by_one(in_flight, lasting).await?);
            in_batches.push(publisher.in_batches(in_flight, lasting).await?);
        }
        rows.push(Measured {
            broker,
            in_flight,
            one_by_one: median(one_by_one),
            in_batches: median(in_batches),
        });
    }
    nats.stop().await?;
    Ok(rows)
}

/// Our own streams take none.
async fn allow_batches(context: &Context) -> anyhow::Result<()> {
    let mut config = context
        .get_stream(SITE_STREAM)
        .await?
        .cached_info()
        .config
        .clone();
    config.allow_atomic_publish = true;
    context.update_stream(config).await?;
    Ok(())
}

struct Publisher {
    client: Client,
    context: Context,
    subject: String,
}

impl Publisher {
    fn new(client: Client) -> Self {
        Self {
            context: jetstream::new(client.clone()),
            client,
            subject: format!("site.contact.received.{}", Uuid::new_v4().simple()),
        }
    }

    /// How many are stored a second by so many who each wait for theirs.
    async fn one_by_one(&self, in_flight: usize, lasting: Duration) -> anyhow::Result<f64> {
        let started = Instant::now();
        let each = async || {
            let mut stored = 0;
            while started.elapsed() < lasting {
                let message = PublishMessage::build().headers(named()).payload(payload());
                let ack = self.context.send_publish(self.subject.clone(), message).await?;
                ack.await?;
                stored += 1;
            }
            anyhow::Ok(stored)
        };
        let stored: Vec<u32> = try_join_all((0..in_flight).map(|_| each())).await?;
        Ok(f64::from(stored.iter().sum::<u32>()) / started.elapsed().as_secs_f64())
    }

    /// How many are stored a second in one batch after the other, each of so many.
    async fn in_batches(&self, size: usize, lasting: Duration) -> anyhow::Result<f64> {
        let started = Instant::now();
        let mut stored = 0;
        while started.elapsed() < lasting {
            self.batch(size).await?;
            stored += size;
        }
        Ok(stored as f64 / started.elapsed().as_secs_f64())
    }

    /// A batch by headers (ADR-50 of NATS).
    async fn batch(&self, size: usize) -> anyhow::Result<()> {
        let id = Uuid::new_v4().to_string();
        let of_batch = |number: usize| {
            let mut headers = named();
            headers.insert("Nats-Batch-Id", id.as_str());
            headers.insert("Nats-Batch-Sequence", number.to_string());
            headers
        };
        for number in 1..size {
            self.client
                .publish_with_headers(self.subject.clone(), of_batch(number), payload())
                .await?;
        }
        let mut headers = of_batch(size);
        headers.insert("Nats-Batch-Commit", "1");
        let answer = self
            .client
            .request_with_headers(self.subject.clone(), headers, payload())
            .await?;
        let answer: serde_json::Value = serde_json::from_slice(&answer.payload)?;
        anyhow::ensure!(answer.get("error").is_none(), "a batch was refused: {answer}");
        Ok(())
    }
}

fn named() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, Uuid::new_v4().to_string());
    headers
}

fn payload() -> bytes::Bytes {
    vec![b'x'; EVENT_BYTES].into()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    broker: &'static str,
    in_flight: usize,
    one_by_one: f64,
    in_batches: f64,
}

impl report::Measured for Measured {
    fn cells(&self) -> Vec<String> {
        vec![
            self.broker.to_owned(),
            self.in_flight.to_string(),
            format!("{:.0}", self.one_by_one),
            format!("{:.0}", self.in_batches),
            format!("{:.2}", self.in_batches / self.one_by_one),
        ]
    }
}
