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

/// Whoever is erased so shortly before a mail is sent may still get it.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// The stream `SITE`, to be read.
#[derive(Clone)]
pub struct EventStream(Arc<Stream>);

impl EventStream {
    /// Opens the stream.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_stream(SITE_STREAM).await;
        let stream = opened.map_err(|error| {
            anyhow::anyhow!("stream {SITE_STREAM} cannot be opened ({error}); run `sitectl setup`")
        })?;
        Ok(Self(Arc::new(stream)))
    }

    /// The first event under a subject from this sequence on, as the stream's leader has it: a copy that lags behind may not know the
    /// latest yet.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn next(&self, subject: &str, from: u64) -> Result<Option<StreamMessage>, Failure> {
        match self.0.get_first_raw_message_by_subject(subject, from).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// The last event under a subject, as the stream's leader has it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn last(&self, subject: &str) -> Result<Option<StreamMessage>, Failure> {
        match self.0.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unavailable(error)),
        }
    }

    /// What becomes of an event that failed: where it would become a dead letter and was erased meanwhile, nothing is kept of it.
    pub async fn unless_erased(&self, delivery: &Delivery, failure: Failure) -> Outcome {
        if failure.remedy != Remedy::DeadLetter && !delivery.is_last {
            return failure.into();
        }
        match self.is_erased(delivery).await {
            Ok(false) => failure.into(),
            Ok(true) => {
                tracing::info!("the event was erased meanwhile; nothing is kept of it");
                Outcome::Delivered
            }
            Err(unavailable) => unavailable.into(),
        }
    }

    /// Has the broker hand out none of a consumer's events for so long. A pause of the operator's stays.
    ///
    /// # Errors
    ///
    /// If the broker does not do so.
    pub async fn hold(&self, consumer: &str, hold: Duration) -> Result<(), Failure> {
        if !self.0.consumer_info(consumer).await.map_err(unavailable)?.paused {
            let until = OffsetDateTime::now_utc() + hold;
            self.0
                .pause_consumer(consumer, until)
                .await
                .map_err(unavailable)?;
        }
        Ok(())
    }

    /// Ends what [`Self::hold`] began, if anything. A pause of the operator's is longer, and stays.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn release(&self, consumer: &str, hold: Duration) -> Result<(), Failure> {
        let info = self.0.consumer_info(consumer).await.map_err(unavailable)?;
        if info.paused && info.pause_remaining.is_some_and(|remaining| remaining <= hold) {
            self.0.resume_consumer(consumer).await.map_err(unavailable)?;
        }
        Ok(())
    }

    /// Whether the event was erased while it waited. To be asked after everything that it waited for, directly before it is sent. One that
    /// came just now is not looked at.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_erased_meanwhile(&self, delivery: &Delivery) -> Result<bool, Failure> {
        let is_fresh = delivery.attempt == 1 && delivery.received_at.elapsed() < FRESH_FOR;
        Ok(!is_fresh && self.is_erased(delivery).await?)
    }

    /// Whether the event is no longer in the stream.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_erased(&self, delivery: &Delivery) -> Result<bool, Failure> {
        // Of the leader: a copy that lags behind may not know the event yet, and what is left of it would be dropped.
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
