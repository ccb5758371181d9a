//! Bounce handling: suppresses a subscriber whose address does not exist or takes no mails.

use site_broker::{CallError, CircuitBreaker, Delivery, Outcome};
use site_events::{
    Event,
    event::{BounceKind, NewsletterBounced},
};
use subscribers::SubscriberStoreError;
use time::OffsetDateTime;

use crate::{newsletter::Newsletter, update::update};

/// Suppresses the subscriber, at once where the address does not exist, and else after the third mail that came back. Of whom
/// nothing is held any more, nothing is kept either: an erased person does not come back by a late event. While the subscribers' bucket is away it waits for that.
pub async fn suppress(newsletter: &Newsletter, breaker: &CircuitBreaker, delivery: Delivery) -> Outcome {
    let now = OffsetDateTime::now_utc();
    // An event that cannot be read tells of an address that does not exist.
    let bounced = delivery
        .event()
        .map(|event: Event<NewsletterBounced>| event.data.kind);
    let kind = bounced.unwrap_or_default();
    let updating = update(newsletter, &delivery.person, |subscriber| {
        Some(match kind {
            BounceKind::Hard => subscriber.suppressed(now).forgotten(),
            BounceKind::Soft | BounceKind::Unknown(_) => subscriber.came_back(delivery.event_id, now),
        })
    });
    let is_away = |error: &SubscriberStoreError| matches!(error, SubscriberStoreError::Away(_));
    match breaker.call(&delivery, updating, is_away).await {
        Ok(changed) => {
            tracing::info!(person = %delivery.person, known = changed.is_some(), "a newsletter mail came back");
            Outcome::Delivered
        }
        Err(CallError::Answered(error @ SubscriberStoreError::Unreadable { .. })) => {
            Outcome::Refused(error.to_string())
        }
        Err(error) => Outcome::Retry(error.to_string(), error.pause()),
    }
}
