//! A visitor signs up: a pending record and an event, from which the confirmation mail
//! is made. The answer is the same whether or not the address was known.

use site_events::{Attribution, EventData, PublishError, event::NewsletterRequested};
use site_proto::newsletter::v1::SubscribeRequest;
use site_service::{
    RequestId,
    idempotency::{self, NotAUuid},
    status::Violations,
};
use time::OffsetDateTime;
use tonic::Status;
use uuid::Uuid;
use visitor::{EmailAddress, InvalidInput};

use crate::{
    api::Newsletter,
    store::StoreError,
    subscriber::{LINK_LIFETIME, Subscriber},
};

/// Why a sign-up was not accepted.
pub enum SignUpError {
    /// The address is not one.
    Email(InvalidInput),
    /// The idempotency key is not one.
    Key(NotAUuid),
    /// The record could not be kept.
    Store(StoreError),
    /// The event could not be stored.
    Publish(PublishError),
}

impl From<SignUpError> for Status {
    fn from(error: SignUpError) -> Self {
        match error {
            SignUpError::Email(sentence) => {
                let mut violations = Violations::default();
                let _: Option<()> = violations.check("email", Err(sentence));
                violations.into_status()
            }
            SignUpError::Key(error) => Status::invalid_argument(error.to_string()),
            SignUpError::Store(error) => error.into(),
            SignUpError::Publish(error) => error.into(),
        }
    }
}

pub async fn sign_up(
    newsletter: &Newsletter,
    request_id: &RequestId,
    form: &SubscribeRequest,
    now: OffsetDateTime,
) -> Result<(), SignUpError> {
    let key = idempotency::parse(&form.idempotency_key).map_err(SignUpError::Key)?;
    let email = EmailAddress::parse(&form.email).map_err(SignUpError::Email)?;
    let person = newsletter.person_key.person(&email);

    let subscribers = &newsletter.subscribers;
    let known = subscribers.read(&person).await.map_err(SignUpError::Store)?;
    let Some(pending) = Subscriber::signed_up(known.subscriber.as_ref(), email.clone(), now, Uuid::new_v4())
    else {
        return Ok(());
    };
    let revision = match subscribers.write(&person, &pending, known.revision).await {
        Ok(revision) => revision,
        // The other request of the same moment stores the same sign-up and mails it.
        Err(StoreError::Conflict) => return Ok(()),
        Err(error) => return Err(SignUpError::Store(error)),
    };
    let requested = NewsletterRequested {
        email,
        expires: now + LINK_LIFETIME,
        attribution: Attribution::of(form.attribution.clone()),
    };
    newsletter
        .publisher
        .publish(
            request_id,
            NewsletterRequested::TYPE.id_for(key),
            &person,
            requested,
        )
        .await
        .map_err(SignUpError::Publish)?;
    // Only now: a sign-up whose event failed must be mailed when it is repeated. If this
    // write fails, the visitor may get a second mail; the first is on its way.
    if let Err(error) = subscribers.write(&person, &pending.mailed(now), revision).await {
        tracing::warn!(%error, %person, "the time of the confirmation mail was not noted");
    }
    Ok(())
}
