//! Submission of a message: stored as an event before it is answered.

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
    Invalid(Violations),
    Key(InvalidIdempotencyKey),
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

/// Publishes a message and returns its event id.
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
