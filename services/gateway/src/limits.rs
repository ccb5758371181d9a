//! Limits that reject requests, per visitor and in total, and their metric.

use std::{sync::LazyLock, time::Duration};

use http::StatusCode;
use opentelemetry::{KeyValue, metrics::Counter};
use site_service::metrics;

use crate::api_error::ApiError;

const BUSY_RETRY_AFTER: Duration = Duration::from_secs(15);

/// Counter of rejections. It is created once, because a flood causes thousands of them.
static REFUSALS: LazyLock<Counter<u64>> = LazyLock::new(|| {
    let description = "Requests rejected by a limit";
    metrics::counter("site.limit.refusals", "{request}", description)
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Requests per minute from one address.
    Rate,
    /// Concurrent uploads.
    Uploads,
    /// An upload lost its place because it was slow while others waited.
    Pace,
    /// Memory budget for large bodies.
    Bodies,
}

impl Limit {
    const ALL: [Self; 4] = [Self::Rate, Self::Uploads, Self::Pace, Self::Bodies];

    pub fn exceeded(self) -> ApiError {
        REFUSALS.add(1, &[self.label()]);
        tracing::info!(limit = self.name(), "a request was rejected by a limit");
        let busy = |sentence: &'static str| {
            let error = ApiError::with_message(StatusCode::SERVICE_UNAVAILABLE, sentence);
            error.retry_after(BUSY_RETRY_AFTER)
        };
        match self {
            Self::Rate => ApiError::of(StatusCode::TOO_MANY_REQUESTS),
            Self::Pace => {
                let sentence = "This arrived too slowly, and we stopped waiting for it. Please try again, with a better \
                                connection or a smaller file if you can.";
                ApiError::with_message(StatusCode::REQUEST_TIMEOUT, sentence)
            }
            Self::Uploads => busy("Many applications are arriving right now. Please try again in a moment."),
            Self::Bodies => busy("A lot is arriving right now. Please try again in a moment."),
        }
    }

    fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn label(self) -> KeyValue {
        KeyValue::new("limit", self.name())
    }
}

/// Exports a zero for each limit, because Prometheus misses the first increment of a counter that had no value before.
pub fn count_none() {
    for limit in Limit::ALL {
        REFUSALS.add(0, &[limit.label()]);
    }
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    #[test]
    fn a_refusal_names_the_remedy_and_retry_time() {
        for limit in Limit::ALL {
            let error = limit.exceeded();
            assert!(
                error.sentence().ends_with('.') && error.sentence().contains("try again"),
                "{limit:?}"
            );
            let is_load = error.status() == StatusCode::SERVICE_UNAVAILABLE;
            let tells_when = error.headers().contains_key(header::RETRY_AFTER);
            assert!(tells_when || !is_load, "{limit:?}");
        }
    }
}
