//! What the links in newsletter mails do: confirm and unsubscribe.

use site_broker::PublishError;
use site_events::{
    EventData,
    event::{NewsletterConfirmed, NewsletterUnsubscribed},
};
use site_service::{RequestId, status};
use subscribers::SubscriberStoreError;
use time::OffsetDateTime;
use tonic::Status;
use uuid::Uuid;
use visitor::{
    PersonId,
    token::{Purpose, TokenError},
};

use crate::{consent, newsletter::Newsletter, update::update};

/// Why a link did nothing.
pub enum LinkError {
    /// It is forged, expired or for a subscription that ended.
    Refused(&'static str),
    /// The record could not be read or changed.
    Store(SubscriberStoreError),
    /// The event could not be stored.
    Publish(PublishError),
}

const STALE_CONFIRMATION: &str =
    "This confirmation link is not valid any more. Please sign up again and use the link in the newest mail.";
const STALE_UNSUBSCRIBE: &str =
    "This unsubscribe link is not valid. Please use the link in the newest mail you have from us.";

impl From<LinkError> for Status {
    fn from(error: LinkError) -> Self {
        match error {
            LinkError::Refused(sentence) => status::invalid_field("token", sentence),
            LinkError::Store(error) => error.into(),
            LinkError::Publish(error) => error.into(),
        }
    }
}

/// Confirms the sign-up that a link was mailed for, and publishes that.
///
/// # Errors
///
/// If the token is forged, expired or of a subscription that ended, or the record or the event is not known to be
/// stored.
pub async fn confirm(
    newsletter: &Newsletter,
    request_id: &RequestId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), LinkError> {
    let stale = |_: TokenError| LinkError::Refused(STALE_CONFIRMATION);
    let person = newsletter
        .token_keys
        .verify(token, Purpose::Confirm, now)
        .map_err(stale)?;
    let changed = update(newsletter, &person, |subscriber| {
        let confirmed = subscriber.confirmed(now)?;
        Some(confirmed.with_consent(consent::by_confirmation(), now))
    })
    .await;
    let confirmed = changed
        .map_err(LinkError::Store)?
        .ok_or(LinkError::Refused(STALE_CONFIRMATION))?;
    let id = NewsletterConfirmed::TYPE.id_for(confirmed.subscription);
    let email = confirmed.email.ok_or(LinkError::Refused(STALE_CONFIRMATION))?;
    let event = NewsletterConfirmed { email };
    let published = newsletter.publisher.publish(request_id, id, &person, event).await;
    published.map(drop).map_err(LinkError::Publish)
}

/// Ends the subscription of whoever followed the link, and publishes that.
///
/// # Errors
///
/// If the token is forged, expired or for another purpose, or the record or the event is not known to be stored.
pub async fn unsubscribe(
    newsletter: &Newsletter,
    request_id: &RequestId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), LinkError> {
    let stale = |_: TokenError| LinkError::Refused(STALE_UNSUBSCRIBE);
    let person = newsletter
        .token_keys
        .verify(token, Purpose::Unsubscribe, now)
        .map_err(stale)?;
    let changed = update(newsletter, &person, |subscriber| {
        Some(subscriber.unsubscribed(now))
    })
    .await;
    // Whoever is not known (any more) gets no mail from us: nothing is left to do.
    let Some(left) = changed.map_err(LinkError::Store)? else {
        return Ok(());
    };
    // It was noted. To tell of it would send a mail to where none may go, or once more to somebody who left long ago.
    let is_to_be_told = left.may_be_mailed() && !left.is_told(now);
    let subscription = left.subscription;
    if let Some(email) = left.email.filter(|_| is_to_be_told) {
        let id = NewsletterUnsubscribed::TYPE.id_for(subscription);
        let event = NewsletterUnsubscribed { email };
        let published = newsletter.publisher.publish(request_id, id, &person, event).await;
        published.map_err(LinkError::Publish)?;
    }
    forget(newsletter, &person, subscription).await;
    Ok(())
}

/// Takes the address out of the record of a subscription that ended, after the event that needs it was stored: whatever
/// fails before that is completed by following the link again.
async fn forget(newsletter: &Newsletter, person: &PersonId, subscription: Uuid) {
    let forgetting = update(newsletter, person, |subscriber| {
        (subscriber.subscription == subscription).then(|| subscriber.forgotten())
    });
    if let Err(error) = forgetting.await {
        tracing::warn!(%error, %person, "the record of somebody who left still holds the address; the sweep removes it");
    }
}
