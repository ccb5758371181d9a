//! A visitor signs up: a pending record and an event, from which the confirmation mail
//! is made. The answer is the same whether or not the address was known, and takes the same steps and time.

use std::time::Duration;

use site_broker::PublishError;
use site_events::{Attribution, EventData, event::NewsletterRequested};
use site_proto::newsletter::v1::SubscribeRequest;
use site_service::{
    RequestId,
    idempotency::{IdempotencyKey, InvalidIdempotencyKey},
    status,
};
use subscribers::{Subscriber, SubscriberStoreError};
use time::OffsetDateTime;
use tokio::time::sleep;
use tonic::Status;
use uuid::Uuid;
use visitor::{EmailAddress, InvalidInput, PersonId};

use crate::newsletter::Newsletter;

/// How often a sign-up that asks for a mail has the broker store something: its record, its event, and that it was asked for.
const WRITES: usize = 3;

/// When a sign-up is answered at the earliest: usually all is done by then. Where the services share a machine, the mail that it
/// causes is begun meanwhile, and would slow the answer to a stranger.
const ANSWERED_AFTER: Duration = Duration::from_millis(25);

/// Why a sign-up was not accepted.
pub enum SignUpError {
    /// The address is not one.
    Email(InvalidInput),
    /// The idempotency key is not one.
    Key(InvalidIdempotencyKey),
    /// The record could not be kept.
    Store(SubscriberStoreError),
    /// The event could not be stored.
    Publish(PublishError),
}

impl From<SignUpError> for Status {
    fn from(error: SignUpError) -> Self {
        match error {
            SignUpError::Email(sentence) => status::invalid_field("email", sentence),
            SignUpError::Key(error) => Status::invalid_argument(error.to_string()),
            SignUpError::Store(error) => error.into(),
            SignUpError::Publish(error) => error.into(),
        }
    }
}

/// Takes one sign-up, and has its confirmation mailed where there is something to confirm.
///
/// # Errors
///
/// If the address or the idempotency key is not one, or the record or the event is not known to be stored.
pub async fn sign_up(
    newsletter: &Newsletter,
    request_id: &RequestId,
    form: &SubscribeRequest,
    now: OffsetDateTime,
) -> Result<(), SignUpError> {
    let (taken, ()) = tokio::join!(take(newsletter, request_id, form, now), sleep(ANSWERED_AFTER));
    taken
}

async fn take(
    newsletter: &Newsletter,
    request_id: &RequestId,
    form: &SubscribeRequest,
    now: OffsetDateTime,
) -> Result<(), SignUpError> {
    let key: IdempotencyKey = form.idempotency_key.parse().map_err(SignUpError::Key)?;
    let email = EmailAddress::parse(&form.email).map_err(SignUpError::Email)?;
    let person = newsletter.person_key.person(&email);

    let requested = NewsletterRequested {
        email,
        expires: now + newsletter.confirm_within,
        attribution: Attribution::of(form.attribution.clone()),
    };
    let own = NewsletterRequested::TYPE.submission_id(&newsletter.person_key, key, &person);
    let stored = store(newsletter, &person, &requested, own, now).await;
    let Some(SignedUp { pending, revision }) = stored.map_err(SignUpError::Store)? else {
        return take_as_long(newsletter).await.map_err(SignUpError::Store);
    };
    // Of another sign-up's mail, as that one asks for it: whoever comes first, there is one event.
    let requested = NewsletterRequested {
        email: pending.email.clone().unwrap_or(requested.email),
        ..requested
    };
    let asking = pending.asking().unwrap_or(own);
    // Whoever left, or was erased, and signs up again wants another mail, whatever the key.
    let id = Uuid::new_v5(&pending.subscription, asking.as_bytes());
    let publisher = &newsletter.publisher;
    let published = publisher.publish(request_id, id, &person, requested).await;
    published.map_err(SignUpError::Publish)?;
    // Only now: a sign-up whose event failed must be mailed when it is repeated. If this
    // write fails, the visitor may get a second mail; the first is on its way.
    if let Err(error) = newsletter.write(&person, &pending.mailed(now), revision).await {
        tracing::warn!(%error, %person, "that the confirmation mail was asked for was not noted");
    }
    Ok(())
}

/// Where nothing is to be mailed, has the broker do what it does for a mail: else everybody could measure who is subscribed.
async fn take_as_long(newsletter: &Newsletter) -> Result<(), SubscriberStoreError> {
    for _ in 0..WRITES {
        newsletter.subscribers.write_decoy().await?;
    }
    Ok(())
}

/// A sign-up that is stored.
struct SignedUp {
    pending: Subscriber,
    revision: u64,
}

/// Stores the sign-up; `None` where nothing is to be mailed. Where another request changed the record in the same moment,
/// it starts from there.
async fn store(
    newsletter: &Newsletter,
    person: &PersonId,
    requested: &NewsletterRequested,
    asking: Uuid,
    now: OffsetDateTime,
) -> Result<Option<SignedUp>, SubscriberStoreError> {
    match try_store(newsletter, person, requested, asking, now).await {
        Err(SubscriberStoreError::Conflict) => try_store(newsletter, person, requested, asking, now).await,
        done => done,
    }
}

async fn try_store(
    newsletter: &Newsletter,
    person: &PersonId,
    requested: &NewsletterRequested,
    asking: Uuid,
    now: OffsetDateTime,
) -> Result<Option<SignedUp>, SubscriberStoreError> {
    let known = newsletter.subscribers.read(person).await?;
    let former = known.subscriber.as_ref();
    let email = requested.email.clone();
    let source = requested.attribution.as_ref().and_then(|told| told.page.clone());
    let Some(pending) = Subscriber::signed_up(former, email, source, now, asking, Uuid::new_v4()) else {
        return Ok(None);
    };
    let revision = if former == Some(&pending) {
        known.revision
    } else {
        newsletter.write(person, &pending, known.revision).await?
    };
    Ok(Some(SignedUp { pending, revision }))
}
