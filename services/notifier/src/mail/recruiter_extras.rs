//! Extras of the recruiters' mail, which its event does not hold: earlier applications, and the résumé as an attachment.

use resumes::{ResumeKey, ResumeStore};
use site_broker::{Delivery, Failure};
use site_events::{
    Event, EventType,
    event::{CareersApplied, StoredResume},
};
use time::OffsetDateTime;

use super::{Attachment, MailError};
use crate::storage::EventStream;

/// The most applications of one person that are looked at.
const MAX_APPLICATIONS: usize = 20;
/// After so many attempts, some fifteen seconds, a résumé that the store does not give is left out: the mail has its link, too.
const MAX_ATTACHMENT_ATTEMPTS: u32 = 3;

/// What the recruiters' mail holds beyond the event.
#[derive(Default)]
pub struct RecruiterExtras {
    /// What the same person applied for before, the first application first.
    pub earlier: Vec<EarlierApplication>,
    /// The résumé's content, where it is small enough.
    pub resume: Option<Vec<u8>>,
}

/// An earlier application of the same person.
pub struct EarlierApplication {
    /// What they applied for.
    pub position: String,
    /// When.
    pub time: OffsetDateTime,
}

/// Loads earlier applications and résumés.
pub struct RecruiterExtrasLoader {
    events: EventStream,
    resumes: ResumeStore,
    max_attachment_bytes: u64,
}

impl RecruiterExtrasLoader {
    /// Reads résumés from this store; larger ones than `max_attachment_bytes` are not attached.
    pub fn new(events: EventStream, resumes: ResumeStore, max_attachment_bytes: u64) -> Self {
        Self {
            events,
            resumes,
            max_attachment_bytes,
        }
    }

    /// Whether a résumé is attached.
    pub fn attachment(&self, event: &Event<CareersApplied>) -> Attachment {
        self.attachable(event)
            .map_or(Attachment::LeftOut, |_| Attachment::Wanted)
    }

    /// Loads the extras of a mail, with the résumé where that is wanted and small enough.
    ///
    /// # Errors
    ///
    /// If the event is no application, the stream cannot be read, or the résumé cannot be fetched and may be had a moment later.
    pub async fn load(
        &self,
        delivery: &Delivery,
        attachment: Attachment,
    ) -> Result<RecruiterExtras, MailError> {
        let event = delivery.event()?;
        let resume = match self.attachable(&event) {
            Some(resume) if attachment == Attachment::Wanted => self.attached(resume, delivery).await?,
            _ => None,
        };
        Ok(RecruiterExtras {
            earlier: self.earlier(&event).await?,
            resume,
        })
    }

    /// What this person applied for before, the first application first.
    async fn earlier(&self, event: &Event<CareersApplied>) -> Result<Vec<EarlierApplication>, Failure> {
        let subject = EventType::CareersApplied.subject(&event.subject);
        let mut earlier = Vec::new();
        let mut from = 1;
        while earlier.len() < MAX_APPLICATIONS {
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
            earlier.push(EarlierApplication {
                position: other.data.position,
                time: other.time,
            });
        }
        Ok(earlier)
    }

    /// The résumé, where it is small enough.
    fn attachable<'a>(&self, event: &'a Event<CareersApplied>) -> Option<&'a StoredResume> {
        let resume = event.data.resume.as_ref();
        resume.filter(|resume| resume.size_bytes <= self.max_attachment_bytes)
    }

    /// The résumé's content; none where the mail goes out without it.
    async fn attached(&self, resume: &StoredResume, delivery: &Delivery) -> Result<Option<Vec<u8>>, Failure> {
        match self.resumes.get(&ResumeKey::known(resume.key.clone())).await {
            Ok(content) => Ok(Some(content)),
            Err(error) if delivery.attempt >= MAX_ATTACHMENT_ATTEMPTS => {
                tracing::warn!(%error, "the recruiters get the résumé as a link only");
                Ok(None)
            }
            Err(error) if error.is_away() => Err(Failure::retry_later(error)),
            Err(error) => Err(Failure::retry(error)),
        }
    }
}
