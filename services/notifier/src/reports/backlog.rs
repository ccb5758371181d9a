//! What still waits at each consumer, measured every few seconds: how many events, and since when
//! the oldest does. What could not be measured is not told: an old figure looks like a new one.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{Context, consumer::PullConsumer};
use opentelemetry::KeyValue;
use site_events::SITE_STREAM;
use site_service::{drain::CancellationToken, metrics};
use time::OffsetDateTime;

use crate::storage::{Events, Unavailable};

const EVERY: Duration = Duration::from_secs(10);
/// For how long a round is told where none comes after it: a broker that is away is waited for.
const TRUE_FOR: Duration = Duration::from_secs(30);

/// The consumers that are asked after.
pub struct Backlog {
    context: Context,
    events: Events,
    consumers: Vec<String>,
    last: Arc<LastRound>,
}

/// What the last round of measuring got; every export reads it.
#[derive(Default)]
struct LastRound(Mutex<Option<Round>>);

struct Round {
    began: Instant,
    channels: Vec<Waiting>,
}

/// What waits on one channel.
#[derive(Debug, Clone, PartialEq)]
struct Waiting {
    channel: [KeyValue; 1],
    events: u64,
    /// Age of the oldest.
    oldest: Duration,
}

/// Why a consumer's backlog is not known.
#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error(transparent)]
    Consumer(#[from] async_nats::Error),
    #[error(transparent)]
    Events(#[from] Unavailable),
}

impl Backlog {
    /// Asks after these consumers of the stream `SITE`.
    pub fn new(context: Context, events: Events, consumers: Vec<String>) -> Self {
        let last = Arc::<LastRound>::default();
        observe(&last);
        Self {
            context,
            events,
            consumers,
            last,
        }
    }

    /// Measures at once, and then again and again until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = tokio::time::interval(EVERY);
        pause.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while stop.run_until_cancelled(pause.tick()).await.is_some() {
            let round = self.round().await;
            self.last.replace(round);
        }
    }

    async fn round(&self) -> Round {
        let began = Instant::now();
        let mut channels = Vec::with_capacity(self.consumers.len());
        for consumer in &self.consumers {
            match self.measure(consumer).await {
                Ok(waiting) => channels.push(waiting),
                Err(error) => {
                    tracing::warn!(channel = consumer, %error, "how much waits is not known");
                }
            }
        }
        Round { began, channels }
    }

    async fn measure(&self, name: &str) -> Result<Waiting, Unknown> {
        let opened = self.context.get_consumer_from_stream(name, SITE_STREAM).await;
        let consumer: PullConsumer = opened.map_err(async_nats::Error::from)?;
        let info = consumer.cached_info();
        let events = info.num_pending + info.num_ack_pending as u64;
        let oldest = match events {
            0 => Duration::ZERO,
            _ => {
                let from = info.ack_floor.stream_sequence + 1;
                self.age(&info.config.filter_subjects, from).await?
            }
        };
        Ok(Waiting {
            channel: [KeyValue::new("channel", name.to_owned())],
            events,
            oldest,
        })
    }

    /// Age of the oldest event under these subjects from this number on.
    async fn age(&self, subjects: &[String], from: u64) -> Result<Duration, Unavailable> {
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

impl LastRound {
    fn replace(&self, round: Round) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(round);
    }

    /// What waits on each channel that was measured, or nothing where that was too long ago.
    fn at(&self, now: Instant) -> Vec<Waiting> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = last
            .as_ref()
            .filter(|round| now.duration_since(round.began) <= TRUE_FOR);
        recent.map_or_else(Vec::new, |round| round.channels.clone())
    }
}

/// Tells the last round with every export from now on.
fn observe(last: &Arc<LastRound>) {
    let meter = metrics::meter();
    let told = last.clone();
    meter
        .u64_observable_gauge("site.consumer.lag")
        .with_unit("{event}")
        .with_description("Events that are not settled yet")
        .with_callback(move |observer| {
            for waiting in told.at(Instant::now()) {
                observer.observe(waiting.events, &waiting.channel);
            }
        })
        .build();
    let told = last.clone();
    meter
        .f64_observable_gauge("site.consumer.oldest.age")
        .with_unit("s")
        .with_description("Age of the oldest event that is not settled yet")
        .with_callback(move |observer| {
            for waiting in told.at(Instant::now()) {
                observer.observe(waiting.oldest.as_secs_f64(), &waiting.channel);
            }
        })
        .build();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(channel: &'static str) -> Waiting {
        Waiting {
            channel: [KeyValue::new("channel", channel)],
            events: 1,
            oldest: Duration::from_secs(7),
        }
    }

    #[test]
    fn a_round_is_told_until_the_next_one_or_until_it_is_too_old() {
        let last = LastRound::default();
        let began = Instant::now();
        assert_eq!(last.at(began), []);
        let channels = vec![waiting("mail"), waiting("webhook-crm")];
        last.replace(Round {
            began,
            channels: channels.clone(),
        });
        assert_eq!(last.at(began + TRUE_FOR), channels);
        assert_eq!(last.at(began + TRUE_FOR + Duration::from_millis(1)), []);
        last.replace(Round {
            began,
            channels: vec![waiting("mail")],
        });
        assert_eq!(last.at(began), [waiting("mail")]);
    }
}
