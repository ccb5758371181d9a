//! Delays erasures at endpoints with a recipe. A notifier may still be sending a lead of the erased person. An
//! erasure that arrived before the lead would find nothing to erase.

use std::time::Duration;

use site_broker::RetryPolicy;

/// Delay of an erasure, 75 s by default: longer than a delivery ([`webhooks::DELIVERY_TIMEOUT`]) and the
/// update of a vendor's search index take together.
pub fn pause(retries: RetryPolicy) -> Duration {
    15 * retries.initial_backoff
}

#[cfg(test)]
mod tests {
    use webhooks::DELIVERY_TIMEOUT;

    use super::*;

    /// Time until a vendor's search finds new records.
    const UNTIL_FOUND: Duration = Duration::from_secs(15);

    #[test]
    fn an_erasure_waits_for_deliveries_in_flight() {
        assert!(pause(RetryPolicy::DEFAULT) >= DELIVERY_TIMEOUT + UNTIL_FOUND);
    }
}
