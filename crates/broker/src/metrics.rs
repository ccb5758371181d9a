//! Consumer metrics by channel.

use std::{sync::Arc, time::Duration};

use opentelemetry::{
    KeyValue,
    metrics::{Counter, Histogram},
};
use site_service::metrics::{self, SLOW_BUCKETS_SECONDS};

use crate::{Remedy, delivery::Outcome};

/// Histogram buckets of event age at delivery, up to a day, because outages of receivers can last that long.
const AGE_BUCKETS_SECONDS: [f64; 14] = [
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0, 21_600.0, 86_400.0,
];

pub struct ConsumerMetrics {
    channel: KeyValue,
    /// Labels of OpenTelemetry's messaging conventions.
    processing: [KeyValue; 3],
    deliveries: Counter<u64>,
    dead_letters: Counter<u64>,
    attempts: Histogram<f64>,
    ages: Histogram<f64>,
}

impl ConsumerMetrics {
    /// Starts the dead-letter counter at zero, which alerts need.
    pub fn of(channel: &Arc<str>) -> Self {
        let metrics = Self {
            channel: KeyValue::new("channel", channel.clone()),
            processing: [
                KeyValue::new("messaging.system", "nats"),
                KeyValue::new("messaging.operation.name", "process"),
                KeyValue::new("messaging.consumer.group.name", channel.clone()),
            ],
            deliveries: metrics::counter("site.deliveries", "{attempt}", "Attempts to deliver an event"),
            dead_letters: metrics::counter("site.dead_letters", "{event}", "Dead-lettered events"),
            attempts: metrics::seconds_histogram(
                "messaging.process.duration",
                "Duration of attempts",
                &SLOW_BUCKETS_SECONDS,
            ),
            ages: metrics::seconds_histogram(
                "site.delivery.age",
                "Age of events at their delivery",
                &AGE_BUCKETS_SECONDS,
            ),
        };
        metrics
            .dead_letters
            .add(0, std::slice::from_ref(&metrics.channel));
        metrics
    }

    /// `age` is the event's age before the attempt.
    pub fn record_attempt(&self, outcome: &Outcome, took: Duration, age: Duration) {
        let outcome = match outcome {
            Outcome::Delivered => "delivered",
            Outcome::Failed(failure) => match failure.remedy {
                Remedy::DeadLetter => "refused",
                Remedy::Retry { .. } => "retry",
                Remedy::RetryLater { .. } => "unavailable",
            },
            Outcome::NotYet { .. } => "not_yet",
            Outcome::NotBegun => "not_begun",
        };
        if outcome == "delivered" {
            self.ages
                .record((age + took).as_secs_f64(), std::slice::from_ref(&self.channel));
        }
        let labels = [self.channel.clone(), KeyValue::new("outcome", outcome)];
        self.deliveries.add(1, &labels);
        self.attempts.record(took.as_secs_f64(), &self.processing);
    }

    pub fn record_dead_letter(&self) {
        self.dead_letters.add(1, std::slice::from_ref(&self.channel));
    }
}
