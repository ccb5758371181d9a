//! Submission of a message: the service stores its event before it answers.

use site_broker::Publisher;
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

/// Publishes a message and returns its event id.
pub async fn submit(
    publisher: &Publisher,
    senders: &Senders,
    request_id: &RequestId,
    request: SubmitRequest,
) -> Result<SubmitResponse, Status> {
    let invalid_key = |error: InvalidIdempotencyKey| Status::invalid_argument(error.to_string());
    let key: IdempotencyKey = request.idempotency_key.parse().map_err(invalid_key)?;
    let received = validated(request.form.unwrap_or_default()).map_err(Violations::into_status)?;
    let sender = senders.sender(
        &received.email,
        &request.synthetic_mark,
        OffsetDateTime::now_utc(),
    );
    let event_id = ContactReceived::TYPE.submission_id(&senders.person_key, key, &sender);
    publisher
        .publish_submission(request_id, event_id, &sender, received, key.binding())
        .await?;
    Ok(SubmitResponse {
        event_id: event_id.to_string(),
        synthetic: sender.is_synthetic(),
    })
}
