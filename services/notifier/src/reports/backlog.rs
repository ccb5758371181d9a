//! Backlog metrics: consumer lag, age of the oldest event, waiting dead letters, and fill level of streams. Failed
//! measurements are not exported, because an old value looks like a new one.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{Context, consumer::PullConsumer};
use opentelemetry::KeyValue;
use site_broker::{Failure, provision::stream_names};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM};
use site_service::{drain::CancellationToken, metrics};
use time::OffsetDateTime;
use tokio::time::{MissedTickBehavior, interval};

use crate::storage::EventStream;

const MEASURE_INTERVAL: Duration = Duration::from_secs(10);
/// Maximum age of exported values, long enough to bridge a short outage of the broker.
const STALE_AFTER: Duration = Duration::from_secs(30);

const LAG: &str = "site.consumer.lag";
const OLDEST_AGE: &str = "site.consumer.oldest.age";
const DEAD_LETTERS: &str = "site.dead_letters.waiting";
const FILL: &str = "site.stream.fill";

pub struct Backlog {
    context: Context,
    events: EventStream,
    consumers: Vec<String>,
    last: Arc<Mutex<Round>>,
}

/// Values of one measurement; every export reads the latest.
struct Round {
    began: Instant,
    /// Metric, its channel or stream if it has one, and value.
    values: Vec<(&'static str, Option<KeyValue>, f64)>,
}

impl Backlog {
    /// Registers the gauges for these consumers of the stream `SITE`.
    pub fn new(context: Context, events: EventStream, consumers: Vec<String>) -> Self {
        let last = Arc::new(Mutex::new(Round::begin()));
        export(&last, LAG, "{event}", "Unacknowledged events");
        let description = "Age of the oldest unacknowledged event";
        export(&last, OLDEST_AGE, "s", description);
        let description = "Dead letters that wait to be replayed or dropped";
        export(&last, DEAD_LETTERS, "{event}", description);
        let description = "Fill level of a stream, from 0 to 1; a full stream rejects messages";
        export(&last, FILL, "1", description);
        Self {
            context,
            events,
            consumers,
            last,
        }
    }

    pub async fn run(self, stop: CancellationToken) {
        let mut pause = interval(MEASURE_INTERVAL);
        pause.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(pause.tick()).await.is_some() {
            let round = self.measure().await;
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = round;
        }
    }

    async fn measure(&self) -> Round {
        let mut round = Round::begin();
        for consumer in &self.consumers {
            match self.lag(consumer).await {
                Ok((events, oldest_age)) => {
                    let channel = Some(KeyValue::new("channel", consumer.clone()));
                    round.values.push((LAG, channel.clone(), events));
                    round.values.push((OLDEST_AGE, channel, oldest_age.as_secs_f64()));
                }
                Err(error) => tracing::warn!(channel = consumer, %error, "the consumer's lag is unknown"),
            }
        }
        for name in stream_names() {
            match self.context.get_stream(&name).await {
                Ok(stream) => {
                    let info = stream.cached_info();
                    if name == DEAD_LETTERS_STREAM {
                        let waiting = info.state.messages as f64;
                        round.values.push((DEAD_LETTERS, None, waiting));
                    }
                    // A stream without a limit never fills.
                    let max = u64::try_from(info.config.max_bytes).map_or(f64::INFINITY, |max| max as f64);
                    let fill = info.state.bytes as f64 / max;
                    let name = Some(KeyValue::new("stream", name));
                    round.values.push((FILL, name, fill));
                }
                Err(error) => tracing::warn!(stream = name, %error, "the stream's fill level is unknown"),
            }
        }
        round
    }

    /// Number of a consumer's unacknowledged events, and age of the oldest.
    async fn lag(&self, name: &str) -> Result<(f64, Duration), Failure> {
        let opened = self.context.get_consumer_from_stream(name, SITE_STREAM).await;
        let consumer: PullConsumer = opened.map_err(|error| Failure::of_store(SITE_STREAM, error))?;
        let info = consumer.cached_info();
        let events = info.num_pending + info.num_ack_pending as u64;
        let mut since = None;
        if events > 0 {
            let from = info.ack_floor.stream_sequence + 1;
            for subject in &info.config.filter_subjects {
                if let Some(event) = self.events.next(subject, from).await? {
                    since = since.into_iter().chain([event.time]).min();
                }
            }
        }
        let age = since.map(|since| OffsetDateTime::now_utc() - since);
        // Clock skew to the broker could make the age negative.
        let age = age.and_then(|age| age.try_into().ok()).unwrap_or_default();
        Ok((events as f64, age))
    }
}

impl Round {
    fn begin() -> Self {
        Self {
            began: Instant::now(),
            values: Vec::new(),
        }
    }

    fn is_recent(&self, now: Instant) -> bool {
        now.duration_since(self.began) <= STALE_AFTER
    }
}

fn export(last: &Arc<Mutex<Round>>, metric: &'static str, unit: &'static str, description: &'static str) {
    let (last, meter) = (last.clone(), metrics::meter());
    let gauge = meter.f64_observable_gauge(metric);
    let gauge = gauge.with_unit(unit).with_description(description);
    let exported = gauge.with_callback(move |observer| {
        let round = last.lock().unwrap_or_else(PoisonError::into_inner);
        if round.is_recent(Instant::now()) {
            for (_, of, value) in round.values.iter().filter(|(of, ..)| *of == metric) {
                observer.observe(*value, of.as_slice());
            }
        }
    });
    exported.build();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_exported_until_it_is_too_old() {
        let round = Round::begin();
        assert!(round.is_recent(round.began + STALE_AFTER));
        assert!(!round.is_recent(round.began + STALE_AFTER + Duration::from_millis(1)));
    }
}
