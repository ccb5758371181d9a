//! The subscribers' bucket: one record per person, changed by compare-and-set.

use async_nats::{
    Client,
    jetstream::{
        self,
        kv::{CreateErrorKind, Operation, Store, UpdateErrorKind},
    },
};
use site_events::SUBSCRIBERS;
use site_service::{nats, status};
use tonic::Status;
use visitor::PersonId;

use crate::subscriber::Subscriber;

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Someone else changed the record meanwhile; read it again.
    #[error("the record was changed by another request")]
    Conflict,
    /// The bucket cannot be used now.
    #[error("the subscribers' bucket is away: {0}")]
    Away(String),
    /// What lies there is not a subscriber.
    #[error("the record of {person} cannot be read: {reason}")]
    Unreadable {
        /// Whose record.
        person: PersonId,
        /// What is wrong with it.
        reason: serde_json::Error,
    },
}

impl From<StoreError> for Status {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unreadable { .. } => {
                tracing::error!(%error, "a subscriber's record is broken");
                Status::internal("the record cannot be read")
            }
            StoreError::Conflict | StoreError::Away(_) => {
                tracing::warn!(%error, "subscriber not stored");
                status::unavailable("the subscribers' bucket is away")
            }
        }
    }
}

/// A record and the revision it was read at; revision 0 where there is none.
pub struct Known {
    pub subscriber: Option<Subscriber>,
    pub revision: u64,
}

/// The bucket.
pub struct Subscribers {
    client: Client,
    bucket: Store,
}

impl Subscribers {
    pub async fn open(client: Client) -> anyhow::Result<Self> {
        let bucket = jetstream::new(client.clone())
            .get_key_value(SUBSCRIBERS)
            .await
            .map_err(|error| {
                anyhow::anyhow!("bucket {SUBSCRIBERS} cannot be opened ({error}); run `sitectl setup`")
            })?;
        Ok(Self { client, bucket })
    }

    pub async fn read(&self, person: &PersonId) -> Result<Known, StoreError> {
        self.connected()?;
        let entry = self.bucket.entry(person.as_str()).await.map_err(away)?;
        let Some(entry) = entry else {
            return Ok(Known {
                subscriber: None,
                revision: 0,
            });
        };
        let subscriber = match entry.operation {
            Operation::Put => {
                Some(
                    serde_json::from_slice(&entry.value).map_err(|reason| StoreError::Unreadable {
                        person: person.clone(),
                        reason,
                    })?,
                )
            }
            Operation::Delete | Operation::Purge => None,
        };
        Ok(Known {
            subscriber,
            revision: entry.revision,
        })
    }

    /// Writes the record if it still is what was read at `revision`; gives the new revision.
    pub async fn write(
        &self,
        person: &PersonId,
        subscriber: &Subscriber,
        revision: u64,
    ) -> Result<u64, StoreError> {
        self.connected()?;
        let value = serde_json::to_vec(subscriber).expect("a subscriber is plain values");
        if revision == 0 {
            let created = self.bucket.create(person.as_str(), value.into()).await;
            return created.map_err(|error| match error.kind() {
                CreateErrorKind::AlreadyExists => StoreError::Conflict,
                _ => away(error),
            });
        }
        let updated = self.bucket.update(person.as_str(), value.into(), revision).await;
        updated.map_err(|error| match error.kind() {
            UpdateErrorKind::WrongLastRevision => StoreError::Conflict,
            _ => away(error),
        })
    }

    fn connected(&self) -> Result<(), StoreError> {
        nats::is_connected(&self.client)
            .then_some(())
            .ok_or_else(|| StoreError::Away("not connected".to_owned()))
    }
}

fn away(error: impl std::fmt::Display) -> StoreError {
    StoreError::Away(error.to_string())
}
