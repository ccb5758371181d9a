//! Extras of the recruiters' mail that are not in the event: earlier applications and the résumé's content.

use resumes::{ResumeKey, ResumeStore};
use site_broker::{Delivery, Failure};
use site_events::{
    Event, EventType,
    event::{CareersApplied, StoredResume},
};
use time::OffsetDateTime;

use super::{Attachment, MailError, MailEvent};
use crate::storage::EventStream;

const MAX_APPLICATIONS: usize = 20;
/// After these attempts (about 15 s) the mail is sent with only the link to the résumé.
const MAX_ATTACHMENT_ATTEMPTS: u32 = 3;
/// Larger résumés are only linked, because many mail servers reject mails of 10 MB, and base64 adds a third.
const MAX_ATTACHMENT_BYTES: u64 = 5_000_000;

/// Extras of the recruiters' mail.
#[derive(Default)]
pub struct RecruiterExtras {
    /// Earlier applications of the same person, oldest first.
    pub earlier: Vec<EarlierApplication>,
    /// The résumé, if it is small enough.
    pub resume: Option<Vec<u8>>,
}

/// An earlier application of the same person.
pub struct EarlierApplication {
    /// Position.
    pub position: String,
    /// Time of the application.
    pub time: OffsetDateTime,
}

pub struct RecruiterExtrasLoader {
    events: EventStream,
    resumes: ResumeStore,
}

impl RecruiterExtrasLoader {
    pub fn new(events: EventStream, resumes: ResumeStore) -> Self {
        Self { events, resumes }
    }

    /// Fails if the stream is unavailable, or if a later attempt may get the résumé.
    pub async fn load(
        &self,
        event: &Event<CareersApplied>,
        delivery: &Delivery,
        attachment: Attachment,
    ) -> Result<RecruiterExtras, MailError> {
        let resume = match attachable(event) {
            Some(resume) if attachment == Attachment::Wanted => self.attached(resume, delivery).await?,
            _ => None,
        };
        Ok(RecruiterExtras {
            earlier: self.earlier(event).await?,
            resume,
        })
    }

    async fn earlier(&self, event: &Event<CareersApplied>) -> Result<Vec<EarlierApplication>, Failure> {
        let subject = EventType::CareersApplied.subject(&event.subject);
        let mut earlier = Vec::new();
        let mut from = 1;
        while earlier.len() < MAX_APPLICATIONS {
            let Some(message) = self.events.next(&subject, from).await? else {
                break;
            };
            from = message.sequence + 1;
            // Skips unreadable events, because each has its own dead letter.
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

    /// The résumé's content; none if the last attempt fails.
    async fn attached(&self, resume: &StoredResume, delivery: &Delivery) -> Result<Option<Vec<u8>>, Failure> {
        match self.resumes.get(&ResumeKey::known(resume.key.clone())).await {
            Ok(content) => Ok(Some(content)),
            Err(error) if delivery.attempt >= MAX_ATTACHMENT_ATTEMPTS => {
                tracing::warn!(%error, "the recruiters get the résumé as a link only");
                Ok(None)
            }
            Err(error) if error.is_unavailable() => Err(Failure::retry_later(error)),
            Err(error) => Err(Failure::retry(error)),
        }
    }
}

pub fn attachment(event: &MailEvent) -> Attachment {
    match event {
        MailEvent::RecruiterApplication(event) if attachable(event).is_some() => Attachment::Wanted,
        _ => Attachment::LeftOut,
    }
}

fn attachable(event: &Event<CareersApplied>) -> Option<&StoredResume> {
    let resume = event.data.resume.as_ref();
    resume.filter(|resume| resume.size_bytes <= MAX_ATTACHMENT_BYTES)
}
