//! What the links in newsletter mails do: confirm and unsubscribe.

use site_events::{
    EventData, PublishError,
    event::{NewsletterConfirmed, NewsletterUnsubscribed},
};
use site_service::{RequestId, status::Violations};
use time::OffsetDateTime;
use tonic::Status;
use visitor::token::{Purpose, TokenError};

use crate::{
    api::Newsletter,
    store::{Known, StoreError},
    subscriber::Subscriber,
};

/// Why a link did nothing.
pub enum LinkError {
    /// It is forged, expired or for a subscription that ended.
    Refused(&'static str),
    /// The record could not be read or changed.
    Store(StoreError),
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
            LinkError::Refused(sentence) => {
                let mut violations = Violations::default();
                let _: Option<()> = violations.check("token", Err(sentence));
                violations.into_status()
            }
            LinkError::Store(error) => error.into(),
            LinkError::Publish(error) => error.into(),
        }
    }
}

pub async fn confirm(
    newsletter: &Newsletter,
    request_id: &RequestId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), LinkError> {
    let stale = |_: TokenError| LinkError::Refused(STALE_CONFIRMATION);
    let person = newsletter
        .token_key
        .verify(token, Purpose::Confirm, now)
        .map_err(stale)?;
    let known = newsletter
        .subscribers
        .read(&person)
        .await
        .map_err(LinkError::Store)?;
    let confirmed = known
        .subscriber
        .clone()
        .and_then(|subscriber| subscriber.confirmed(now))
        .ok_or(LinkError::Refused(STALE_CONFIRMATION))?;
    store_change(newsletter, &person, &known, &confirmed).await?;
    let id = NewsletterConfirmed::TYPE.id_for(confirmed.subscription);
    let event = NewsletterConfirmed {
        email: confirmed.email,
    };
    let published = newsletter.publisher.publish(request_id, id, &person, event).await;
    published.map(drop).map_err(LinkError::Publish)
}

pub async fn unsubscribe(
    newsletter: &Newsletter,
    request_id: &RequestId,
    token: &str,
    now: OffsetDateTime,
) -> Result<(), LinkError> {
    let stale = |_: TokenError| LinkError::Refused(STALE_UNSUBSCRIBE);
    let person = newsletter
        .token_key
        .verify(token, Purpose::Unsubscribe, now)
        .map_err(stale)?;
    let known = newsletter
        .subscribers
        .read(&person)
        .await
        .map_err(LinkError::Store)?;
    // Whoever is not known (any more) gets no mail from us: nothing is left to do.
    let Some(subscriber) = known.subscriber.clone() else {
        return Ok(());
    };
    let left = subscriber.unsubscribed(now);
    store_change(newsletter, &person, &known, &left).await?;
    let id = NewsletterUnsubscribed::TYPE.id_for(left.subscription);
    let event = NewsletterUnsubscribed { email: left.email };
    let published = newsletter.publisher.publish(request_id, id, &person, event).await;
    published.map(drop).map_err(LinkError::Publish)
}

/// Writes the record where it changed. The event follows either way, under an id of
/// its own subscription: a step that failed half-way is completed by repeating it.
async fn store_change(
    newsletter: &Newsletter,
    person: &visitor::PersonId,
    known: &Known,
    next: &Subscriber,
) -> Result<(), LinkError> {
    if known.subscriber.as_ref() == Some(next) {
        return Ok(());
    }
    let written = newsletter.subscribers.write(person, next, known.revision).await;
    written.map(drop).map_err(LinkError::Store)
}
