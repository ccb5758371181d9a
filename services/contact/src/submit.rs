//! A visitor sends a message: it is an event once the broker has stored it.

use site_broker::{PublishError, Publisher};
use site_events::{Attribution, EventData, event::ContactReceived};
use site_proto::contact::v1::{SubmitRequest, SubmitResponse};
use site_service::{
    RequestId,
    idempotency::{IdempotencyKey, InvalidIdempotencyKey},
    status::Violations,
};
use time::OffsetDateTime;
use tonic::Status;

use crate::{message::ContactMessage, sender::Senders};

/// Why a message was not accepted.
pub enum SubmitError {
    /// Fields that are not right.
    Invalid(Violations),
    /// The idempotency key is not one.
    Key(InvalidIdempotencyKey),
    /// It could not be stored.
    Publish(PublishError),
}

impl From<SubmitError> for Status {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Invalid(violations) => violations.into_status(),
            SubmitError::Key(error) => Status::invalid_argument(error.to_string()),
            SubmitError::Publish(error) => error.into(),
        }
    }
}

/// Takes one message. Gives the id of its event.
///
/// # Errors
///
/// If a field or the idempotency key is not right, or the event is not known to be stored.
pub async fn submit(
    publisher: &Publisher,
    senders: &Senders,
    request_id: &RequestId,
    form: SubmitRequest,
) -> Result<SubmitResponse, SubmitError> {
    let key: IdempotencyKey = form.idempotency_key.parse().map_err(SubmitError::Key)?;
    let message = ContactMessage::parse(&form).map_err(SubmitError::Invalid)?;
    let sender = senders.sender(&message.email, &form.synthetic_mark, OffsetDateTime::now_utc());
    let event_id = ContactReceived::TYPE.submission_id(&senders.person_key, key, &sender);
    let received = ContactReceived {
        name: message.name.into(),
        email: message.email,
        message: message.message,
        attribution: Attribution::of(form.attribution),
    };
    publisher
        .publish_submission(request_id, event_id, &sender, received, key.binding())
        .await
        .map_err(SubmitError::Publish)?;
    Ok(SubmitResponse {
        event_id: event_id.to_string(),
        synthetic: sender.is_synthetic(),
    })
}
