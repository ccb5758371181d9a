//! A newsletter mail came back because its address does not exist: nothing more is sent there.

use site_broker::{Delivery, Outcome};
use subscribers::StoreError;
use time::OffsetDateTime;

use crate::{change::change, newsletter::Newsletter};

/// Suppresses the subscriber. Of whom nothing is held any more, nothing is kept either: an erased person does not come
/// back by a late event.
pub async fn suppress(newsletter: &Newsletter, delivery: Delivery) -> Outcome {
    let now = OffsetDateTime::now_utc();
    match change(newsletter, &delivery.person, |subscriber| {
        Some(subscriber.suppressed(now))
    })
    .await
    {
        Ok(changed) => {
            tracing::info!(person = %delivery.person, known = changed.is_some(), "a newsletter mail came back");
            Outcome::Delivered
        }
        Err(error @ StoreError::Unreadable { .. }) => Outcome::Refused(error.to_string()),
        Err(error @ (StoreError::Conflict | StoreError::Away(_))) => Outcome::Retry(error.to_string()),
    }
}
