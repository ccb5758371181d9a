//! What still waits at each consumer, measured every few seconds: how many events, and since when
//! the oldest does.

use std::time::Duration;

use async_nats::jetstream::{Context, consumer::PullConsumer};
use opentelemetry::{KeyValue, metrics::Gauge};
use site_events::SITE;
use site_service::{drain::CancellationToken, meters};
use time::OffsetDateTime;

use crate::{deliveries::Away, events::Events};

const EVERY: Duration = Duration::from_secs(10);

/// The consumers that are asked after.
pub struct Backlog {
    context: Context,
    events: Events,
    consumers: Vec<String>,
    waiting: Gauge<u64>,
    oldest: Gauge<f64>,
}

/// Why a consumer's backlog is not known.
#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error(transparent)]
    Consumer(#[from] async_nats::Error),
    #[error(transparent)]
    Events(#[from] Away),
}

impl Backlog {
    /// Asks after these consumers of the stream `SITE`.
    pub fn new(context: Context, events: Events, consumers: Vec<String>) -> Self {
        let meter = meters::meter();
        Self {
            context,
            events,
            consumers,
            waiting: meter
                .u64_gauge("site.consumer.lag")
                .with_unit("{event}")
                .with_description("Events that are not settled yet")
                .build(),
            oldest: meter
                .f64_gauge("site.consumer.oldest.age")
                .with_unit("s")
                .with_description("Age of the oldest event that is not settled yet")
                .build(),
        }
    }

    /// Measures at once, and then again and again until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = tokio::time::interval(EVERY);
        pause.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(pause.tick()).await.is_some() {
            for consumer in &self.consumers {
                if let Err(error) = self.measure(consumer).await {
                    tracing::warn!(channel = consumer, %error, "how much waits is not known");
                }
            }
        }
    }

    async fn measure(&self, name: &str) -> Result<(), Unknown> {
        let opened = self.context.get_consumer_from_stream(name, SITE).await;
        let consumer: PullConsumer = opened.map_err(async_nats::Error::from)?;
        let info = consumer.cached_info();
        let waiting = info.num_pending + info.num_ack_pending as u64;
        let labels = [KeyValue::new("channel", name.to_owned())];
        self.waiting.record(waiting, &labels);
        let age = match waiting {
            0 => Duration::ZERO,
            _ => {
                let from = info.ack_floor.stream_sequence + 1;
                self.age(&info.config.filter_subjects, from).await?
            }
        };
        self.oldest.record(age.as_secs_f64(), &labels);
        Ok(())
    }

    /// Age of the oldest event under these subjects from this number on.
    async fn age(&self, subjects: &[String], from: u64) -> Result<Duration, Away> {
        let mut since = None;
        for subject in subjects {
            if let Some(event) = self.events.next(subject, from).await? {
                since = since.into_iter().chain([event.time]).min();
            }
        }
        let age = since.map(|since| OffsetDateTime::now_utc() - since);
        // The broker's clock may be ahead of ours.
        Ok(age.and_then(|age| age.try_into().ok()).unwrap_or_default())
    }
}
