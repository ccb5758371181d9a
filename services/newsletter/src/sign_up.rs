//! A visitor signs up: a pending record and an event, from which the confirmation mail
//! is made. The answer is the same whether or not the address was known.

use site_broker::{PublishError, Stored};
use site_events::{Attribution, EventData, event::NewsletterRequested};
use site_proto::newsletter::v1::SubscribeRequest;
use site_service::{
    RequestId,
    idempotency::{self, InvalidIdempotencyKey, KeyBinding},
    status,
};
use subscribers::{Subscriber, SubscriberStoreError};
use time::OffsetDateTime;
use tonic::Status;
use uuid::{Builder, Uuid};
use visitor::{EmailAddress, InvalidInput, PersonId};

use crate::newsletter::Newsletter;

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
    let key = blind_key(newsletter, form)?;
    let email = EmailAddress::parse(&form.email).map_err(SignUpError::Email)?;
    let person = newsletter.person_key.person(&email);

    let requested = NewsletterRequested {
        email,
        expires: now + newsletter.confirm_within,
        attribution: Attribution::of(form.attribution.clone()),
    };
    let stored = store(newsletter, &person, &requested, key, now).await;
    let Some(SignedUp { pending, revision }) = stored.map_err(SignUpError::Store)? else {
        return Ok(());
    };
    // Of another sign-up's mail, as that one asks for it: whoever comes first, there is one event.
    let requested = NewsletterRequested {
        email: pending.email.clone().unwrap_or(requested.email),
        ..requested
    };
    let asking = pending.asking().unwrap_or(key);
    let id = NewsletterRequested::TYPE.id_for(asking);
    let published = newsletter
        .publisher
        .publish_submission(request_id, id, &person, requested, KeyBinding::Unknown)
        .await;
    if let Some(after) = after(pending, &published, key, now)
        && let Err(error) = newsletter.write(&person, &after, revision).await
    {
        tracing::warn!(%error, %person, "the outcome of the sign-up was not noted");
    }
    match published {
        // The other sign-up had somebody else's key: it is released, and this one asks under its own.
        Err(PublishError::KeyReused) if asking != key => {
            Box::pin(sign_up(newsletter, request_id, form, now)).await
        }
        published => published.map(drop).map_err(SignUpError::Publish),
    }
}

/// The key that the sign-up came with, blinded: the event's id, which stands in logs, is made of it, and it may be made of the
/// address.
fn blind_key(newsletter: &Newsletter, form: &SubscribeRequest) -> Result<Uuid, SignUpError> {
    let given = idempotency::parse(&form.idempotency_key).map_err(SignUpError::Key)?;
    let blind = newsletter.person_key.blind_submission_key(given.into_bytes());
    Ok(Builder::from_custom_bytes(blind).into_uuid())
}

/// What is to be noted of a sign-up under this key once its mail was asked for, or was not.
fn after(
    pending: Subscriber,
    published: &Result<Stored, PublishError>,
    key: Uuid,
    now: OffsetDateTime,
) -> Option<Subscriber> {
    let is_its_own = pending.asking().is_none_or(|asking| asking == key);
    match published {
        // Only now: a sign-up whose event failed must be mailed when it is repeated. If this
        // write fails, the visitor may get a second mail; the first is on its way.
        Ok(_) => Some(pending.mailed(now)),
        // What another one asks under its own key may be stored all the same.
        Err(error) if error.is_not_stored() && (is_its_own || matches!(error, PublishError::KeyReused)) => {
            Some(pending.released())
        }
        Err(_) => None,
    }
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
    key: Uuid,
    now: OffsetDateTime,
) -> Result<Option<SignedUp>, SubscriberStoreError> {
    match try_store(newsletter, person, requested, key, now).await {
        Err(SubscriberStoreError::Conflict) => try_store(newsletter, person, requested, key, now).await,
        done => done,
    }
}

async fn try_store(
    newsletter: &Newsletter,
    person: &PersonId,
    requested: &NewsletterRequested,
    key: Uuid,
    now: OffsetDateTime,
) -> Result<Option<SignedUp>, SubscriberStoreError> {
    let known = newsletter.subscribers.read(person).await?;
    let former = known.subscriber.as_ref();
    let email = requested.email.clone();
    let source = requested.attribution.as_ref().and_then(|told| told.page.clone());
    let Some(pending) = Subscriber::signed_up(former, email, source, now, key, Uuid::new_v4()) else {
        return Ok(None);
    };
    let revision = if former == Some(&pending) {
        known.revision
    } else {
        newsletter.write(person, &pending, known.revision).await?
    };
    Ok(Some(SignedUp { pending, revision }))
}
