//! Metrics: the meter, histograms and guards of every service, with units and buckets as OpenTelemetry's conventions have
//! them.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use opentelemetry::{
    KeyValue, global,
    metrics::{Histogram, Meter, UpDownCounter},
};

/// Histogram buckets of what should take well under a second (semantic conventions for HTTP metrics).
pub const FAST_BUCKETS_SECONDS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];
/// Histogram buckets of what takes a person's or a slow line's time.
pub const SLOW_BUCKETS_SECONDS: [f64; 11] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The meter of all that is ours.
pub fn meter() -> Meter {
    global::meter("site")
}

/// A histogram of seconds with these buckets.
pub fn seconds_histogram(name: &'static str, description: &'static str, buckets: &[f64]) -> Histogram<f64> {
    meter()
        .f64_histogram(name)
        .with_unit("s")
        .with_description(description)
        .with_boundaries(buckets.to_vec())
        .build()
}

/// How many names a [`LabelledHistogram`] remembers: far more than there are routes, calls and subjects.
const MAX_NAMES: usize = 256;

/// Histogram whose label sets are made once, each for a name of ours, such as a route, and what came of it.
#[derive(Debug)]
pub struct LabelledHistogram<O> {
    histogram: Histogram<f64>,
    labels: RwLock<HashMap<Box<str>, LabelsByOutcome<O>>>,
}

/// The label sets of one name.
type LabelsByOutcome<O> = Vec<(O, Box<[KeyValue]>)>;

impl<O: PartialEq> LabelledHistogram<O> {
    /// Labels for this histogram; none is made yet.
    pub fn new(histogram: Histogram<f64>) -> Self {
        Self {
            histogram,
            labels: RwLock::default(),
        }
    }

    /// Records a value under the labels of this name and outcome, which are made where it is their first.
    pub fn record(&self, value: f64, name: &str, outcome: O, make: impl FnOnce() -> Vec<KeyValue>) {
        let labels = self.labels.read().unwrap_or_else(PoisonError::into_inner);
        let known = labels
            .get(name)
            .and_then(|made| made.iter().find(|(of, _)| *of == outcome));
        if let Some((_, known)) = known {
            return self.histogram.record(value, known);
        }
        let is_full = labels.len() >= MAX_NAMES;
        drop(labels);
        let made = make();
        self.histogram.record(value, &made);
        if !is_full {
            let mut labels = self.labels.write().unwrap_or_else(PoisonError::into_inner);
            labels
                .entry(name.into())
                .or_default()
                .push((outcome, made.into()));
        }
    }
}

/// Guard that holds an up-down counter one higher until dropped.
#[must_use]
pub struct CounterGuard<'a> {
    counter: &'a UpDownCounter<i64>,
    labels: &'a [KeyValue],
}

impl<'a> CounterGuard<'a> {
    /// Counts one more under these labels.
    pub fn new(counter: &'a UpDownCounter<i64>, labels: &'a [KeyValue]) -> Self {
        counter.add(1, labels);
        Self { counter, labels }
    }
}

impl Drop for CounterGuard<'_> {
    fn drop(&mut self) {
        self.counter.add(-1, self.labels);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn labels_are_made_once_for_each_name_and_outcome_and_remembered_of_so_many_names_only() {
        let histogram = LabelledHistogram::new(seconds_histogram("test.duration", "A test's", &[]));
        let made = Cell::new(0);
        let record = |name: &str, outcome: u16| {
            histogram.record(0.1, name, outcome, || {
                made.set(made.get() + 1);
                vec![KeyValue::new("status", i64::from(outcome))]
            });
        };
        for _ in 0..3 {
            record("/api/contact", 200);
            record("/api/contact", 503);
            record("/api/newsletter", 200);
        }
        assert_eq!(made.get(), 3);
        for name in 0..2 * MAX_NAMES {
            record(&name.to_string(), 200);
        }
        let remembered = histogram
            .labels
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        assert_eq!(remembered.len(), MAX_NAMES);
    }
}
