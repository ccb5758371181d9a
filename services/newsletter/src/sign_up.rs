//! Sign-up: stores a pending record and publishes the event for the confirmation mail. The answer never
//! reveals whether the address is subscribed.

use std::time::Duration;

use site_events::{Attribution, EventData, event::NewsletterRequested};
use site_proto::newsletter::v1::SubscribeRequest;
use site_service::{
    RequestId,
    idempotency::{IdempotencyKey, InvalidIdempotencyKey},
    status,
};
use subscribers::Subscriber;
use time::OffsetDateTime;
use tokio::time::sleep;
use tonic::Status;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::newsletter::{Newsletter, Updated};

/// Minimum response time, longer than most sign-ups, so that timing does not reveal who is subscribed.
const ANSWERED_AFTER: Duration = Duration::from_millis(25);

/// Accepts a sign-up and requests a confirmation mail if one is due.
pub async fn sign_up(
    newsletter: &Newsletter,
    request_id: &RequestId,
    request: SubscribeRequest,
    now: OffsetDateTime,
) -> Result<(), Status> {
    let (taken, ()) = tokio::join!(take(newsletter, request_id, request, now), sleep(ANSWERED_AFTER));
    taken
}

async fn take(
    newsletter: &Newsletter,
    request_id: &RequestId,
    request: SubscribeRequest,
    now: OffsetDateTime,
) -> Result<(), Status> {
    let form = request.form.unwrap_or_default();
    let key = request.idempotency_key.parse();
    let key: IdempotencyKey =
        key.map_err(|error: InvalidIdempotencyKey| Status::invalid_argument(error.to_string()))?;
    let email = EmailAddress::parse(&form.email);
    let email = email.map_err(|sentence| status::invalid_field("email", sentence))?;
    let person = newsletter.person_key.person(&email);
    let attribution = Attribution::of(form.attribution);

    let own = NewsletterRequested::TYPE.submission_id(&newsletter.person_key, key, &person);
    let subscription = Uuid::new_v4();
    let signed_up = newsletter.update(&person, |known| {
        let source = attribution
            .as_ref()
            .and_then(|attribution| attribution.page.clone());
        Subscriber::signed_up(known.as_ref(), email.clone(), source, now, own, subscription)
    });
    let Some(Updated {
        subscriber: pending,
        revision,
    }) = signed_up.await?
    else {
        return Ok(());
    };
    let requested = NewsletterRequested {
        // Uses the pending record's address, so that repeated sign-ups publish the same event.
        email: pending.email.clone().unwrap_or(email),
        expires: now + newsletter.confirm_within,
        attribution,
    };
    let asking = pending.asking().unwrap_or(own);
    // If the person left or was erased, the subscription id is new, so the same key requests another mail.
    let id = Uuid::new_v5(&pending.subscription, asking.as_bytes());
    let publisher = &newsletter.publisher;
    publisher.publish(request_id, id, &person, requested).await?;
    // Records the mail only after the publish, so that a sign-up after a failed publish requests the mail again.
    // If this write fails, a repeated sign-up may cause a second mail.
    if let Err(error) = newsletter.write(&person, &pending.mailed(now), revision).await {
        tracing::warn!(%error, %person, "that the confirmation mail was asked for was not noted");
    }
    Ok(())
}
