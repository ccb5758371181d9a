//! Submission of a message: stored as an event before it is answered.

use site_broker::{PublishError, Publisher};
use site_events::{EventData, event::ContactReceived};
use site_proto::contact::v1::{SubmitRequest, SubmitResponse};
use site_service::{
    RequestId,
    idempotency::{IdempotencyKey, InvalidIdempotencyKey},
    status::Violations,
};
use time::OffsetDateTime;
use tonic::Status;

use crate::{message::validated, sender::Senders};

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
    request: SubmitRequest,
) -> Result<SubmitResponse, SubmitError> {
    let key: IdempotencyKey = request.idempotency_key.parse().map_err(SubmitError::Key)?;
    let received = validated(request.form.unwrap_or_default()).map_err(SubmitError::Invalid)?;
    let sender = senders.sender(
        &received.email,
        &request.synthetic_mark,
        OffsetDateTime::now_utc(),
    );
    let event_id = ContactReceived::TYPE.submission_id(&senders.person_key, key, &sender);
    publisher
        .publish_submission(request_id, event_id, &sender, received, key.binding())
        .await
        .map_err(SubmitError::Publish)?;
    Ok(SubmitResponse {
        event_id: event_id.to_string(),
        synthetic: sender.is_synthetic(),
    })
}
