//! Retries while a stream elects a leader, for instance after its server stopped.
//!
//! An election usually takes some tens of milliseconds. Meanwhile publishes and reads fail without effect.

use std::{pin::pin, time::Duration};

use async_nats::{
    Subject,
    jetstream::{
        Context, ErrorCode,
        context::{PublishError, PublishErrorKind},
        message::PublishMessage,
        publish::PublishAck,
        stream::{LastRawMessageErrorKind, RawMessageError},
    },
};
use backon::{ConstantBuilder, Retryable};
use tokio::time::timeout;

/// Retries for two seconds: on busy servers an election takes more than one second.
const HANDOVER: ConstantBuilder = ConstantBuilder::new()
    .with_delay(Duration::from_millis(20))
    .with_max_times(100);

/// Timeout of the first ack. Only an overloaded broker, or a stream without a leader, exceeds it.
const ACKNOWLEDGED_SOON: Duration = Duration::from_secs(1);

pub(crate) async fn store(
    context: &Context,
    subject: Subject,
    message: impl Fn() -> PublishMessage,
) -> Result<PublishAck, PublishError> {
    let send = || async { context.send_publish(subject.clone(), message()).await?.await };
    send.retry(HANDOVER)
        .when(|error| error.kind() == PublishErrorKind::StreamNotFound)
        .await
}

/// Sends a message again under its id if the ack is late. A stopping leader may have lost the message.
pub(crate) async fn store_by_id(
    context: &Context,
    subject: Subject,
    message: impl Fn() -> PublishMessage,
) -> Result<PublishAck, PublishError> {
    let mut first = pin!(store(context, subject.clone(), &message));
    if let Ok(acknowledged) = timeout(ACKNOWLEDGED_SOON, &mut first).await {
        return acknowledged;
    }
    tokio::select! {
        // A stalled broker acks both messages, the second as a duplicate.
        biased;
        acknowledged = first => acknowledged,
        // If the second message is rejected, the first may still be acked.
        Ok(acknowledged) = store(context, subject, &message) => Ok(acknowledged),
    }
}

pub(crate) async fn read<T, F>(ask: impl FnMut() -> F) -> Result<T, RawMessageError>
where
    F: Future<Output = Result<T, RawMessageError>>,
{
    ask.retry(HANDOVER).when(is_leaderless).await
}

fn is_leaderless(error: &RawMessageError) -> bool {
    matches!(
        error.kind(),
        LastRawMessageErrorKind::JetStream(answer) if answer.error_code() == ErrorCode::CLUSTER_NOT_AVAILABLE
    )
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use async_nats::jetstream;

    use super::*;

    async fn asked_twice(first: LastRawMessageErrorKind) -> (u32, Result<(), String>) {
        let times = Cell::new(0);
        let ask = || {
            times.set(times.get() + 1);
            let is_first = times.get() == 1;
            let failed = RawMessageError::new(first.clone());
            async move { if is_first { Err(failed) } else { Ok(()) } }
        };
        let read = read(ask).await.map_err(|error| error.to_string());
        (times.get(), read)
    }

    #[tokio::test]
    async fn only_a_read_without_a_leader_is_retried() {
        let answer = |code| {
            let answer = format!(r#"{{ "code": 503, "err_code": {code}, "description": "words" }}"#);
            let answer: jetstream::Error = serde_json::from_str(&answer).expect("an answer of the server");
            LastRawMessageErrorKind::JetStream(answer)
        };
        assert_eq!(asked_twice(answer(10_008)).await, (2, Ok(())));
        for other in [answer(10_023), LastRawMessageErrorKind::NoMessageFound] {
            let (times, read) = asked_twice(other).await;
            assert_eq!(times, 1);
            assert!(read.is_err());
        }
    }
}
