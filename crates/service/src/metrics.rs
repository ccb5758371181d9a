//! What the services measure alike: units and bounds as OpenTelemetry's conventions have them.

use opentelemetry::{
    KeyValue, global,
    metrics::{Histogram, Meter, UpDownCounter},
};

/// Bounds in seconds of what should take well under one (semantic conventions for HTTP metrics).
pub const QUICK: [f64; 14] = [
    0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
];
/// Bounds in seconds of what takes a person's or a slow line's time.
pub const SLOW: [f64; 11] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The meter of all that is ours.
pub fn meter() -> Meter {
    global::meter("site")
}

/// A histogram of seconds with these bounds.
pub fn seconds(name: &'static str, description: &'static str, bounds: &[f64]) -> Histogram<f64> {
    meter()
        .f64_histogram(name)
        .with_unit("s")
        .with_description(description)
        .with_boundaries(bounds.to_vec())
        .build()
}

/// Counts one for as long as it lives.
#[must_use]
pub struct Counted<'a> {
    counter: &'a UpDownCounter<i64>,
    labels: &'a [KeyValue],
}

impl<'a> Counted<'a> {
    /// Counts one more under these labels.
    pub fn new(counter: &'a UpDownCounter<i64>, labels: &'a [KeyValue]) -> Self {
        counter.add(1, labels);
        Self { counter, labels }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.counter.add(-1, self.labels);
    }
}
