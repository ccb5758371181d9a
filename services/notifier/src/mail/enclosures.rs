//! Enclosures of the recruiters' mail: what its event does not hold.

use resumes::{ResumeKey, ResumeStore, ResumeStoreError};
use site_events::{
    Event, EventType,
    event::{CareersApplied, StoredResume},
};

use time::OffsetDateTime;

use crate::storage::{Events, Unavailable};

/// The most applications of one person that are looked at.
const MOST: usize = 20;
/// After so many attempts a résumé that cannot be fetched is left out: the mail has its link, too.
const ATTEMPTS_FOR_THE_FILE: i64 = 1;

/// What the recruiters' mail holds beyond the event.
pub struct Enclosed {
    /// What the same person applied for before, the first application first.
    pub earlier: Vec<Earlier>,
    /// The résumé's content, where it is small enough.
    pub resume: Option<Vec<u8>>,
}

/// An earlier application of the same person.
pub struct Earlier {
    /// What they applied for.
    pub position: String,
    /// When.
    pub time: OffsetDateTime,
}

/// Where earlier applications and résumés are found.
pub struct Enclosures {
    events: Events,
    resumes: ResumeStore,
    attached_up_to: u64,
}

/// Why it cannot be told now.
#[derive(Debug, thiserror::Error)]
pub enum Unknown {
    /// The stream cannot be read.
    #[error(transparent)]
    Events(#[from] Unavailable),
    /// The résumé cannot be fetched.
    #[error(transparent)]
    Resume(#[from] ResumeStoreError),
}

impl Enclosures {
    /// Reads résumés from this store; larger ones than `attached_up_to` bytes are not attached.
    pub fn new(events: Events, resumes: ResumeStore, attached_up_to: u64) -> Self {
        Self {
            events,
            resumes,
            attached_up_to,
        }
    }

    /// All that the recruiters' mail encloses.
    pub async fn of(&self, event: &Event<CareersApplied>, attempt: i64) -> Result<Enclosed, Unknown> {
        Ok(Enclosed {
            earlier: self.earlier(event).await?,
            resume: match &event.data.resume {
                Some(resume) => self.attached(resume, attempt).await?,
                None => None,
            },
        })
    }

    /// What this person applied for before, the first application first.
    async fn earlier(&self, event: &Event<CareersApplied>) -> Result<Vec<Earlier>, Unavailable> {
        let subject = EventType::CareersApplied.subject(&event.subject);
        let mut earlier = Vec::new();
        let mut from = 1;
        while earlier.len() < MOST {
            let Some(message) = self.events.next(&subject, from).await? else {
                break;
            };
            from = message.sequence + 1;
            // One that cannot be read is a dead letter of its own.
            let Ok(other) = serde_json::from_slice::<Event<CareersApplied>>(&message.payload) else {
                continue;
            };
            if other.id == event.id {
                break;
            }
            earlier.push(Earlier {
                position: other.data.position,
                time: other.time,
            });
        }
        Ok(earlier)
    }

    async fn attached(&self, resume: &StoredResume, attempt: i64) -> Result<Option<Vec<u8>>, ResumeStoreError> {
        if resume.size > self.attached_up_to {
            return Ok(None);
        }
        match self.resumes.get(&ResumeKey::known(resume.key.clone())).await {
            Ok(content) => Ok(Some(content)),
            Err(error) if attempt > ATTEMPTS_FOR_THE_FILE => {
                tracing::warn!(%error, "the recruiters get the résumé as a link only");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}
