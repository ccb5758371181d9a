//! What recruiters want to know of an application that its event does not tell.

use resumes::{ResumeKey, Store, StoreError};
use site_events::{
    Event, EventType,
    event::{CareersApplied, StoredResume},
};

use crate::{
    Settings,
    deliveries::Away,
    events::Events,
    mails::careers::{Earlier, Enclosed},
};

/// The most applications of one person that are looked at.
const MOST: usize = 20;
/// After so many attempts a résumé that cannot be fetched is left out: the mail has its link, too.
const ATTEMPTS_FOR_THE_FILE: i64 = 1;

/// Where earlier applications and résumés are found.
pub struct Applications {
    events: Events,
    resumes: Store,
    attached_up_to: u64,
}

/// Why it cannot be told now.
#[derive(Debug, thiserror::Error)]
pub enum Unknown {
    /// The stream cannot be read.
    #[error(transparent)]
    Events(#[from] Away),
    /// The résumé cannot be fetched.
    #[error(transparent)]
    Resume(#[from] StoreError),
}

impl Applications {
    /// Looks for them where the settings say.
    pub fn new(events: Events, settings: &Settings) -> Self {
        Self {
            events,
            resumes: Store::new(&settings.store),
            attached_up_to: settings.resume_attachment_kb * 1_000,
        }
    }

    /// All that the recruiters' mail encloses.
    pub async fn enclosed(&self, event: &Event<CareersApplied>, attempt: i64) -> Result<Enclosed, Unknown> {
        Ok(Enclosed {
            earlier: self.earlier(event).await?,
            resume: match &event.data.resume {
                Some(resume) => self.attached(resume, attempt).await?,
                None => None,
            },
        })
    }

    /// What this person applied for before, the first application first.
    async fn earlier(&self, event: &Event<CareersApplied>) -> Result<Vec<Earlier>, Away> {
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

    async fn attached(&self, resume: &StoredResume, attempt: i64) -> Result<Option<Vec<u8>>, StoreError> {
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
