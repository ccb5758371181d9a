//! Erasures: when a receiver by a recipe is told that a person was erased. A lead may be on its way to it in the moment in which its person
//! is erased, at whichever notifier, and is in the stream no more: an erasure that overtook it would find nothing to erase.

use std::time::Duration;

use site_broker::RetryPolicy;

/// How long an erasure waits, 75 s by default: by then a delivery that was begun before it has ended ([`webhooks::DELIVERY_TIMEOUT`]),
/// and a vendor's search finds what it was told. No clock decides: those of machines differ.
pub fn pause(retries: RetryPolicy) -> Duration {
    15 * retries.initial_backoff
}

#[cfg(test)]
mod tests {
    use webhooks::DELIVERY_TIMEOUT;

    use super::*;

    /// By then a vendor's search finds what it was told last.
    const UNTIL_FOUND: Duration = Duration::from_secs(15);

    #[test]
    fn an_erasure_waits_for_what_was_begun_before_it() {
        assert!(pause(RetryPolicy::DEFAULT) >= DELIVERY_TIMEOUT + UNTIL_FOUND);
    }
}
