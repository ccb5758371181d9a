//! Event stream `SITE`: reads other events of a person, and whether an event was erased.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{
    Context,
    message::StreamMessage,
    stream::{LastRawMessageErrorKind, RawMessageErrorKind, Stream},
};
use site_broker::{Delivery, Outcome};
use site_events::SITE_STREAM;

use super::unavailable::Unavailable;

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
    pub async fn next(&self, subject: &str, from: u64) -> Result<Option<StreamMessage>, Unavailable> {
        match self.0.get_first_raw_message_by_subject(subject, from).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(Unavailable::new(SITE_STREAM, &error)),
        }
    }

    /// The last event under a subject, as the stream's leader has it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn last(&self, subject: &str) -> Result<Option<StreamMessage>, Unavailable> {
        match self.0.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(Unavailable::new(SITE_STREAM, &error)),
        }
    }

    /// The outcome, unless the event was erased while it was under way: then nothing that became of it may be kept. Asked of what becomes a
    /// dead letter, by its refusal or by its age.
    pub async fn unless_erased(&self, delivery: &Delivery, outcome: Outcome) -> Outcome {
        let reason = match outcome {
            Outcome::Refused(reason) => reason,
            Outcome::Retry(reason, _) if delivery.is_last => reason,
            outcome => return outcome,
        };
        match self.is_erased(delivery).await {
            Ok(false) => Outcome::Refused(reason),
            Ok(true) => {
                tracing::info!("the event was erased meanwhile; nothing is kept of it");
                Outcome::Delivered
            }
            Err(away) => away.not_yet(),
        }
    }

    /// Whether the event was erased while it waited. To be asked after everything that it waited for, directly before it is sent. One that
    /// came just now is not looked at.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_erased_meanwhile(&self, delivery: &Delivery) -> Result<bool, Unavailable> {
        let is_fresh = delivery.attempt == 1 && delivery.received_at.elapsed() < FRESH_FOR;
        Ok(!is_fresh && self.is_erased(delivery).await?)
    }

    /// Whether the event is no longer in the stream.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_erased(&self, delivery: &Delivery) -> Result<bool, Unavailable> {
        // Of the leader: a copy that lags behind may not know the event yet, and what is left of it would be dropped.
        match self.0.get_raw_message(delivery.sequence).await {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(true),
            Err(error) => Err(Unavailable::new(SITE_STREAM, &error)),
        }
    }
}
