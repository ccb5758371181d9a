//! What every use case of the newsletter works with: broker, subscribers and keys.

use std::time::Duration;

use async_nats::jetstream::Context;
use issues::{Issues, SendingLimits};
use site_broker::{Publisher, RecordError};
use subscribers::{Subscriber, Subscribers};
use visitor::{PersonId, PersonKey, token::TokenKeys};

/// Dependencies of the use cases.
pub struct Newsletter {
    pub publisher: Publisher,
    pub subscribers: Subscribers,
    pub issues: Issues,
    /// How many mails of issues may go out.
    pub limits: SendingLimits,
    /// The connection for the queue of those mails.
    pub context: Context,
    /// For how long a sign-up and its link are good.
    pub confirm_within: Duration,
    pub person_key: PersonKey,
    pub token_keys: TokenKeys,
}

/// A record after a step, and its revision.
pub struct Updated {
    pub subscriber: Subscriber,
    pub revision: u64,
}

impl Newsletter {
    /// Takes a person's record one step further; gives it as it is then, or `None` where there is no such step. If another request
    /// changed it in the same moment, the step is taken from there.
    ///
    /// # Errors
    ///
    /// If the record cannot be read or is not known to be stored, or others changed it twice meanwhile.
    pub async fn update(
        &self,
        person: &PersonId,
        step: impl Fn(Option<Subscriber>) -> Option<Subscriber>,
    ) -> Result<Option<Updated>, RecordError> {
        match self.try_update(person, &step).await {
            Err(RecordError::Conflict) => self.try_update(person, &step).await,
            done => done,
        }
    }

    /// Writes the record where it changed. What the caller publishes follows either way, under an id of the subscription's own: a step
    /// that failed half-way is completed by repeating it.
    async fn try_update(
        &self,
        person: &PersonId,
        step: impl Fn(Option<Subscriber>) -> Option<Subscriber>,
    ) -> Result<Option<Updated>, RecordError> {
        let known = self.subscribers.read(person).await?;
        let Some(subscriber) = step(known.subscriber.clone()) else {
            return Ok(None);
        };
        let revision = if known.subscriber.as_ref() == Some(&subscriber) {
            known.revision
        } else {
            self.write(person, &subscriber, known.revision).await?
        };
        Ok(Some(Updated { subscriber, revision }))
    }

    /// Writes a subscriber's record for as long as it is kept, if it still is what was read at `revision`; gives the new revision.
    ///
    /// # Errors
    ///
    /// As [`Subscribers::write`].
    pub async fn write(
        &self,
        person: &PersonId,
        subscriber: &Subscriber,
        revision: u64,
    ) -> Result<u64, RecordError> {
        let retention = subscriber.retention(self.confirm_within);
        self.subscribers
            .write(person, subscriber, revision, retention)
            .await
    }
}
