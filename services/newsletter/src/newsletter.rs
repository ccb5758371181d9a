//! What every use case of the newsletter works with: broker, subscribers and keys.

use std::time::Duration;

use async_nats::jetstream::Context;
use issues::Issues;
use site_broker::Publisher;
use subscribers::{Subscriber, SubscriberStoreError, Subscribers};
use visitor::{PersonId, PersonKey, token::TokenKeys};

/// Dependencies of the use cases.
pub struct Newsletter {
    pub publisher: Publisher,
    pub subscribers: Subscribers,
    pub issues: Issues,
    /// Over which mails of an issue are put into their stream.
    pub context: Context,
    /// For how long a sign-up and its link are good.
    pub confirm_within: Duration,
    pub person_key: PersonKey,
    pub token_keys: TokenKeys,
}

impl Newsletter {
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
    ) -> Result<u64, SubscriberStoreError> {
        let retention = subscriber.retention(self.confirm_within);
        self.subscribers
            .write(person, subscriber, revision, retention)
            .await
    }
}
