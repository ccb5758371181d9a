//! Erasures: when a receiver by a recipe is told that a person was erased. A lead may be on its way to it in the moment in which its person
//! is erased, at whichever notifier, and is in the stream no more: an erasure that overtook it would find nothing to erase.

use site_events::EventType;

/// So often an erasure is put off, which takes 75 s by the first backoffs: by then a delivery that was begun before it has ended
/// ([`webhooks::DELIVERY_TIMEOUT`]), and a vendor's search finds what it was told. No clock decides: those of machines differ.
const PUT_OFF: u32 = 4;

/// Whether this attempt, from 1, is at an erasure that is to wait.
pub fn is_too_early(event_type: Option<EventType>, attempt: u32) -> bool {
    attempt <= PUT_OFF && event_type == Some(EventType::PersonErased)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use site_broker::RetryPolicy;
    use webhooks::DELIVERY_TIMEOUT;

    use super::*;

    /// By then a vendor's search finds what it was told last.
    const UNTIL_FOUND: Duration = Duration::from_secs(15);

    #[test]
    fn an_erasure_waits_for_what_was_begun_before_it_and_nothing_else_does() {
        let put_off = (1..10).filter(|attempt| is_too_early(Some(EventType::PersonErased), *attempt));
        let backoffs = put_off.map(|attempt| RetryPolicy::DEFAULT.initial_backoff * (1 << (attempt - 1)));
        assert!(backoffs.sum::<Duration>() >= DELIVERY_TIMEOUT + UNTIL_FOUND);
        assert!(!is_too_early(Some(EventType::ContactReceived), 1));
        assert!(!is_too_early(None, 1));
    }
}
