//! Dependencies of the use cases, and updates of a subscriber's record.

use std::time::Duration;

use async_nats::jetstream::Context;
use site_broker::{Publisher, RecordError};
use subscribers::issues::{Issues, SendingLimits};
use subscribers::{Subscriber, Subscribers};
use visitor::{PersonId, PersonKey, token::TokenKeys};

/// Dependencies of the use cases.
pub struct Newsletter {
    pub publisher: Publisher,
    pub subscribers: Subscribers,
    pub issues: Issues,
    pub limits: SendingLimits,
    /// Publishes to `SENDINGS`.
    pub context: Context,
    /// Lifetime of a sign-up and its link.
    pub confirm_within: Duration,
    pub person_key: PersonKey,
    pub token_keys: TokenKeys,
}

pub struct Updated {
    pub subscriber: Subscriber,
    pub revision: u64,
}

impl Newsletter {
    /// Applies a step to a person's record; `None` if the step does not apply. After a conflict it retries
    /// once with the new record.
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

    /// Writes the record if it changed. Callers publish the event even without a change, so that a retry
    /// completes an unfinished step.
    async fn try_update(
        &self,
        person: &PersonId,
        step: impl Fn(Option<Subscriber>) -> Option<Subscriber>,
    ) -> Result<Option<Updated>, RecordError> {
        let known = self.subscribers.read(person).await?;
        let Some(subscriber) = step(known.value.clone()) else {
            return Ok(None);
        };
        let revision = if known.value.as_ref() == Some(&subscriber) {
            known.revision
        } else {
            self.write(person, &subscriber, known.revision).await?
        };
        Ok(Some(Updated { subscriber, revision }))
    }

    /// Writes a record with its retention if `revision` is still current; returns the new revision.
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
