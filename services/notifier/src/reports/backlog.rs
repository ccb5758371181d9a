//! Backlog metrics: consumer lag and age of the oldest event, by channel, and how full each stream is. What could not be
//! measured is not exported: an old value looks like a new one.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{Context, consumer::PullConsumer, stream::Info};
use opentelemetry::KeyValue;
use site_broker::{Failure, provision::stream_names};
use site_events::SITE_STREAM;
use site_service::{drain::CancellationToken, metrics};
use time::OffsetDateTime;

use crate::storage::EventStream;

const MEASURE_INTERVAL: Duration = Duration::from_secs(10);
/// For how long a round is exported where none comes after it: a broker that is away is waited for.
const STALE_AFTER: Duration = Duration::from_secs(30);

/// Measures the lag of consumers.
pub struct Backlog {
    context: Context,
    events: EventStream,
    consumers: Vec<String>,
    last: Arc<LastRound>,
}

/// What the last round of measuring got; every export reads it.
#[derive(Default)]
struct LastRound(Mutex<Option<Round>>);

struct Round {
    began: Instant,
    channels: Vec<ChannelLag>,
    streams: Vec<StreamFill>,
}

/// How full a stream is.
#[derive(Debug, Clone, PartialEq)]
struct StreamFill {
    stream: [KeyValue; 1],
    /// The used part of the most bytes that it takes.
    ratio: f64,
}

/// Lag of one channel.
#[derive(Debug, Clone, PartialEq)]
struct ChannelLag {
    channel: [KeyValue; 1],
    events: u64,
    /// Age of the oldest.
    oldest_age: Duration,
}

/// Why a consumer's lag is not known.
#[derive(Debug, thiserror::Error)]
enum LagError {
    #[error(transparent)]
    Consumer(#[from] async_nats::Error),
    #[error(transparent)]
    Events(#[from] Failure),
}

impl Backlog {
    /// Asks after these consumers of the stream `SITE`.
    pub fn new(context: Context, events: EventStream, consumers: Vec<String>) -> Self {
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
        let mut pause = tokio::time::interval(MEASURE_INTERVAL);
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
                Ok(lag) => channels.push(lag),
                Err(error) => {
                    tracing::warn!(channel = consumer, %error, "how much waits is not known");
                }
            }
        }
        let mut streams = Vec::new();
        for name in stream_names() {
            match self.context.get_stream(&name).await {
                Ok(stream) => streams.push(StreamFill::of(stream.cached_info(), name)),
                Err(error) => tracing::warn!(stream = name, %error, "how full it is is not known"),
            }
        }
        Round {
            began,
            channels,
            streams,
        }
    }

    async fn measure(&self, name: &str) -> Result<ChannelLag, LagError> {
        let opened = self.context.get_consumer_from_stream(name, SITE_STREAM).await;
        let consumer: PullConsumer = opened.map_err(async_nats::Error::from)?;
        let info = consumer.cached_info();
        let events = info.num_pending + info.num_ack_pending as u64;
        let oldest_age = match events {
            0 => Duration::ZERO,
            _ => {
                let from = info.ack_floor.stream_sequence + 1;
                self.age(&info.config.filter_subjects, from).await?
            }
        };
        Ok(ChannelLag {
            channel: [KeyValue::new("channel", name.to_owned())],
            events,
            oldest_age,
        })
    }

    /// Age of the oldest event under these subjects from this sequence on.
    async fn age(&self, subjects: &[String], from: u64) -> Result<Duration, Failure> {
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

impl StreamFill {
    fn of(info: &Info, name: String) -> Self {
        // One without a limit is never full.
        let most = u64::try_from(info.config.max_bytes).map_or(f64::INFINITY, |most| most as f64);
        Self {
            stream: [KeyValue::new("stream", name)],
            ratio: info.state.bytes as f64 / most,
        }
    }
}

impl LastRound {
    fn replace(&self, round: Round) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(round);
    }

    /// What was measured, or nothing where that was too long ago.
    fn at<T: Default>(&self, now: Instant, read: impl FnOnce(&Round) -> T) -> T {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = last
            .as_ref()
            .filter(|round| now.duration_since(round.began) <= STALE_AFTER);
        recent.map(read).unwrap_or_default()
    }

    /// The lag of each channel.
    fn channels(&self, now: Instant) -> Vec<ChannelLag> {
        self.at(now, |round| round.channels.clone())
    }
}

/// Exports the last round with every export from now on.
fn observe(last: &Arc<LastRound>) {
    let meter = metrics::meter();
    let told = last.clone();
    meter
        .u64_observable_gauge("site.consumer.lag")
        .with_unit("{event}")
        .with_description("Events that are not acknowledged yet")
        .with_callback(move |observer| {
            for lag in told.channels(Instant::now()) {
                observer.observe(lag.events, &lag.channel);
            }
        })
        .build();
    let told = last.clone();
    meter
        .f64_observable_gauge("site.consumer.oldest.age")
        .with_unit("s")
        .with_description("Age of the oldest event that is not acknowledged yet")
        .with_callback(move |observer| {
            for lag in told.channels(Instant::now()) {
                observer.observe(lag.oldest_age.as_secs_f64(), &lag.channel);
            }
        })
        .build();
    let told = last.clone();
    meter
        .f64_observable_gauge("site.stream.fill")
        .with_unit("1")
        .with_description("How full a stream is, from 0 to 1; a full one refuses what comes")
        .with_callback(move |observer| {
            for fill in told.at(Instant::now(), |round| round.streams.clone()) {
                observer.observe(fill.ratio, &fill.stream);
            }
        })
        .build();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lag(channel: &'static str) -> ChannelLag {
        ChannelLag {
            channel: [KeyValue::new("channel", channel)],
            events: 1,
            oldest_age: Duration::from_secs(7),
        }
    }

    #[test]
    fn a_round_is_told_until_the_next_one_or_until_it_is_too_old() {
        let last = LastRound::default();
        let began = Instant::now();
        assert_eq!(last.channels(began), []);
        let channels = vec![lag("mail"), lag("webhook-crm")];
        last.replace(Round {
            began,
            channels: channels.clone(),
            streams: Vec::new(),
        });
        assert_eq!(last.channels(began + STALE_AFTER), channels);
        assert_eq!(last.channels(began + STALE_AFTER + Duration::from_millis(1)), []);
        last.replace(Round {
            began,
            channels: vec![lag("mail")],
            streams: Vec::new(),
        });
        assert_eq!(last.channels(began), [lag("mail")]);
    }
}
