//! Event stream `SITE`: reads other events of a person, and whether an event was erased.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{
    Context,
    message::StreamMessage,
    stream::{LastRawMessageErrorKind, RawMessageErrorKind, Stream},
};
use site_broker::{Delivery, Failure, Outcome, Remedy};
use site_events::SITE_STREAM;
use time::OffsetDateTime;

#[derive(Clone)]
pub struct EventStream(Arc<Stream>);

impl EventStream {
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_stream(SITE_STREAM).await;
        let stream = opened.map_err(|error| {
            anyhow::anyhow!("stream {SITE_STREAM} cannot be opened ({error}); run `sitectl setup`")
        })?;
        Ok(Self(Arc::new(stream)))
    }

    /// The first event of a subject from this sequence on. Asks the leader, because a replica may lag.
    pub async fn next(&self, subject: &str, from: u64) -> Result<Option<StreamMessage>, Failure> {
        match self.0.get_first_raw_message_by_subject(subject, from).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// The last event of a subject, from the leader.
    pub async fn last(&self, subject: &str) -> Result<Option<StreamMessage>, Failure> {
        match self.0.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// Turns a failure into an outcome. An erased event leaves no dead letter.
    pub async fn unless_erased(&self, delivery: &Delivery, failure: Failure) -> Outcome {
        if failure.remedy != Remedy::DeadLetter && !delivery.is_last {
            return failure.into();
        }
        match self.is_erased(delivery).await {
            Ok(false) => failure.into(),
            Ok(true) => {
                tracing::info!("the event was erased meanwhile; no dead letter is kept");
                Outcome::Delivered
            }
            Err(unavailable) => unavailable.into(),
        }
    }

    /// Pauses a consumer for this long, unless the operator paused it.
    pub async fn pause(&self, consumer: &str, pause: Duration) -> Result<(), Failure> {
        if !self.0.consumer_info(consumer).await.map_err(unavailable)?.paused {
            let until = OffsetDateTime::now_utc() + pause;
            self.0
                .pause_consumer(consumer, until)
                .await
                .map_err(unavailable)?;
        }
        Ok(())
    }

    /// Ends the pause of [`Self::pause`]. The operator's pauses are longer and stay.
    pub async fn resume(&self, consumer: &str, pause: Duration) -> Result<(), Failure> {
        let info = self.0.consumer_info(consumer).await.map_err(unavailable)?;
        if info.paused && info.pause_remaining.is_some_and(|remaining| remaining <= pause) {
            self.0.resume_consumer(consumer).await.map_err(unavailable)?;
        }
        Ok(())
    }

    /// Whether the event was erased while it waited. Check it last, directly before sending.
    pub async fn is_erased(&self, delivery: &Delivery) -> Result<bool, Failure> {
        // Asks the leader. If a lagging replica lacked the event, the mail would be dropped.
        match self.0.get_raw_message(delivery.sequence).await {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(true),
            Err(error) => Err(unavailable(error)),
        }
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(SITE_STREAM, error)
}
