//! Upload metrics: size of the résumés, and how long they took to arrive.

use std::time::Duration;

use opentelemetry::metrics::Histogram;
use site_service::metrics::{self, SLOW_BUCKETS_SECONDS};

/// Histogram buckets, up to the largest size that is accepted.
const SIZE_BUCKETS_BYTES: [f64; 8] = [
    50_000.0,
    100_000.0,
    250_000.0,
    500_000.0,
    1_000_000.0,
    2_500_000.0,
    5_000_000.0,
    10_485_760.0,
];

/// Metrics of all uploads.
pub struct UploadMetrics {
    sizes: Histogram<u64>,
    times: Histogram<f64>,
}

impl UploadMetrics {
    /// Measures by what telemetry there is at this moment.
    pub fn new() -> Self {
        let sizes = metrics::meter()
            .u64_histogram("site.upload.size")
            .with_unit("By")
            .with_description("Size of the résumés that arrived whole")
            .with_boundaries(SIZE_BUCKETS_BYTES.to_vec())
            .build();
        let description = "How long résumés took to arrive, from the call to its commit";
        Self {
            sizes,
            times: metrics::seconds_histogram("site.upload.duration", description, &SLOW_BUCKETS_SECONDS),
        }
    }

    /// Records a résumé of so many bytes that arrived whole.
    pub fn record(&self, bytes: u64, took: Duration) {
        self.sizes.record(bytes, &[]);
        self.times.record(took.as_secs_f64(), &[]);
    }
}
