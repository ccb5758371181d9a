//! Bounce handling: suppresses subscribers whose mails bounce.

use site_broker::{Delivery, Failure, Outcome, RecordError};
use site_events::{
    Event,
    event::{BounceKind, NewsletterBounced},
};
use time::OffsetDateTime;

use crate::newsletter::Newsletter;

/// Suppresses the subscriber after a hard bounce. Unknown people are skipped, so a late event never restores an
/// erased person.
pub async fn suppress(newsletter: &Newsletter, delivery: Delivery) -> Outcome {
    let now = OffsetDateTime::now_utc();
    let event: Event<NewsletterBounced> = match delivery.event() {
        Ok(event) => event,
        Err(error) => return Failure::unreadable("a bounce", &error).into(),
    };
    if event.data.kind == BounceKind::Soft {
        return Outcome::Delivered;
    }
    let updating = newsletter.update(&delivery.person, |known| Some(known?.suppressed(now).forgotten()));
    match updating.await {
        Ok(changed) => {
            tracing::info!(person = %delivery.person, known = changed.is_some(), "a newsletter mail bounced");
            Outcome::Delivered
        }
        Err(error @ RecordError::Unreadable { .. }) => Failure::permanent(error).into(),
        Err(error @ RecordError::Unavailable(_)) => Failure::retry_later(error).into(),
        Err(error @ RecordError::Conflict) => Failure::retry(error).into(),
    }
}
