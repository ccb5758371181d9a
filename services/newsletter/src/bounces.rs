//! Bounce handling: suppresses a subscriber whose address does not exist or takes no mails.

use site_broker::{Delivery, Failure, Outcome};
use site_events::{
    Event,
    event::{BounceKind, NewsletterBounced},
};
use subscribers::SubscriberStoreError;
use time::OffsetDateTime;

use crate::{newsletter::Newsletter, update::update};

/// Suppresses the subscriber, at once where the address does not exist, and else after the third mail that came back. Of whom
/// nothing is held any more, nothing is kept either: an erased person does not come back by a late event.
pub async fn suppress(newsletter: &Newsletter, delivery: Delivery) -> Outcome {
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
    match updating.await {
        Ok(changed) => {
            tracing::info!(person = %delivery.person, known = changed.is_some(), "a newsletter mail came back");
            Outcome::Delivered
        }
        Err(error @ SubscriberStoreError::Unreadable { .. }) => Failure::permanent(error).into(),
        Err(error @ SubscriberStoreError::Away(_)) => Failure::retry_later(error).into(),
        Err(error) => Failure::retry(error).into(),
    }
}
