//! Links in newsletter mails: confirm and unsubscribe.

use site_events::{
    EventData,
    event::{NewsletterConfirmed, NewsletterUnsubscribed},
};
use site_service::{RequestId, status};
use time::OffsetDateTime;
use tonic::Status;
use uuid::Uuid;
use visitor::{PersonId, token::Purpose};

use crate::{
    consent,
    newsletter::{Newsletter, Updated},
};

const STALE_CONFIRMATION: &str =
    "This confirmation link is not valid any more. Please sign up again and use the link in the newest mail.";
const STALE_UNSUBSCRIBE: &str =
    "This unsubscribe link is not valid. Please use the link in the newest mail you have from us.";

/// Confirms a sign-up and publishes the event.
pub async fn confirm(
    newsletter: &Newsletter,
    request_id: &RequestId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), Status> {
    let stale = || status::invalid_field("token", STALE_CONFIRMATION);
    let person = newsletter.token_keys.verify(token, Purpose::Confirm, now);
    let person = person.map_err(|_| stale())?;
    let changed = newsletter.update(&person, |known| {
        let confirmed = known?.confirmed(now)?;
        Some(confirmed.with_consent(consent::by_confirmation(), now))
    });
    let confirmed = changed.await?.ok_or_else(stale)?.subscriber;
    let id = NewsletterConfirmed::TYPE.id_for(confirmed.subscription);
    let email = confirmed.email.ok_or_else(stale)?;
    let event = NewsletterConfirmed { email };
    newsletter
        .publisher
        .publish(request_id, id, &person, event)
        .await?;
    Ok(())
}

/// Ends a subscription and publishes the event.
pub async fn unsubscribe(
    newsletter: &Newsletter,
    request_id: &RequestId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), Status> {
    let person = newsletter.token_keys.verify(token, Purpose::Unsubscribe, now);
    let person = person.map_err(|_| status::invalid_field("token", STALE_UNSUBSCRIBE))?;
    let changed = newsletter.update(&person, |known| Some(known?.unsubscribed(now)));
    // An unknown person has no subscription, so unsubscribing succeeds.
    let Some(Updated { subscriber: left, .. }) = changed.await? else {
        return Ok(());
    };
    // No goodbye mail goes to suppressed addresses, or to people who unsubscribed long ago.
    let gets_goodbye = !left.is_suppressed() && !left.left_long_ago(now);
    let subscription = left.subscription;
    if let Some(email) = left.email.filter(|_| gets_goodbye) {
        let id = NewsletterUnsubscribed::TYPE.id_for(subscription);
        let event = NewsletterUnsubscribed { email };
        newsletter
            .publisher
            .publish(request_id, id, &person, event)
            .await?;
    }
    forget(newsletter, &person, subscription).await;
    Ok(())
}

/// Removes the address of an ended subscription. Runs only after the event is stored, because a retry of a
/// failed publish needs the address.
async fn forget(newsletter: &Newsletter, person: &PersonId, subscription: Uuid) {
    let forgetting = newsletter.update(person, |known| {
        let ended = known.filter(|known| known.subscription == subscription)?;
        Some(ended.forgotten())
    });
    if let Err(error) = forgetting.await {
        tracing::warn!(%error, %person, "the address of a former subscriber was not removed; the sweep removes it");
    }
}
