//! Metrics with the units and buckets of OpenTelemetry's conventions.

use opentelemetry::{
    global,
    metrics::{Counter, Histogram, Meter, UpDownCounter},
};

/// Histogram buckets of fast operations (HTTP conventions).
pub const FAST_BUCKETS_SECONDS: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];
/// Histogram buckets of slow operations.
pub const SLOW_BUCKETS_SECONDS: [f64; 11] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Our meter.
pub fn meter() -> Meter {
    global::meter("site")
}

/// Counter with this unit.
pub fn counter(name: &'static str, unit: &'static str, description: &'static str) -> Counter<u64> {
    meter()
        .u64_counter(name)
        .with_unit(unit)
        .with_description(description)
        .build()
}

/// Histogram of seconds with these buckets.
pub fn seconds_histogram(name: &'static str, description: &'static str, buckets: &[f64]) -> Histogram<f64> {
    meter()
        .f64_histogram(name)
        .with_unit("s")
        .with_description(description)
        .with_boundaries(buckets.to_vec())
        .build()
}

/// Guard that raises an up-down counter by one until dropped.
#[must_use]
pub struct CounterGuard<'a>(&'a UpDownCounter<i64>);

impl<'a> CounterGuard<'a> {
    /// Raises the counter.
    pub fn new(counter: &'a UpDownCounter<i64>) -> Self {
        counter.add(1, &[]);
        Self(counter)
    }
}

impl Drop for CounterGuard<'_> {
    fn drop(&mut self) {
        self.0.add(-1, &[]);
    }
}
