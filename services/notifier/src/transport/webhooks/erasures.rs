//! Erasures: when a receiver by a recipe is told that a person was erased. A lead may be on its way to it in the moment in which its person
//! is erased, at whichever notifier, and is in the stream no more: an erasure that overtook it would find nothing to erase.

use std::time::Duration;

use serde::Deserialize;
use site_events::EventType;
use time::OffsetDateTime;
use webhooks::DELIVERY_TIMEOUT;

/// By then a vendor's search finds what it was told last.
const UNTIL_FOUND: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
struct StoredEvent {
    #[serde(rename = "type")]
    event_type: String,
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
}

/// How long an erasure is held: until nothing that was begun before it can be on its way. None for what is no erasure.
pub fn hold(payload: &[u8], now: OffsetDateTime) -> Option<Duration> {
    let event: StoredEvent = serde_json::from_slice(payload).ok()?;
    if EventType::named(&event.event_type) != Some(EventType::PersonErased) {
        return None;
    }
    let until = event.time + DELIVERY_TIMEOUT + UNTIL_FOUND;
    let left = Duration::try_from(until - now).ok()?;
    (!left.is_zero()).then_some(left)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;
    use webhooks::sample;

    use super::*;

    const THEN: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    #[test]
    fn an_erasure_waits_for_what_was_begun_before_it_and_nothing_else_does() {
        let longest = DELIVERY_TIMEOUT + UNTIL_FOUND;
        let erased = sample(EventType::PersonErased, THEN).payload;
        assert_eq!(hold(&erased, THEN), Some(longest));
        assert_eq!(hold(&erased, THEN + longest / 2), Some(longest / 2));
        assert_eq!(hold(&erased, THEN + longest), None);
        let lead = sample(EventType::ContactReceived, THEN).payload;
        assert_eq!(hold(&lead, THEN), None);
        assert_eq!(hold(b"no event", THEN), None);
    }
}
