//! Extras of the recruiters' mail, which its event does not hold: earlier applications, and the résumé as an attachment.

use std::time::Duration;

use resumes::{ResumeKey, ResumeStore, ResumeStoreError};
use site_broker::{Away, CircuitBreaker, Delivery};
use site_events::{
    Event, EventType,
    event::{CareersApplied, StoredResume},
};
use time::OffsetDateTime;
use tokio::time::timeout;

use crate::{
    mail::Attachment,
    storage::{EventStream, Unavailable},
};

/// The most applications of one person that are looked at.
const MAX_APPLICATIONS: usize = 20;
/// After so many attempts of a delivery a résumé that the store does not give is left out: the mail has its link, too.
const MAX_ATTACHMENT_ATTEMPTS: u32 = 1;
/// For how long the store may be away until mails go out without their résumés.
const STORE_PATIENCE: Duration = Duration::from_secs(10);

/// What the recruiters' mail holds beyond the event.
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
    store_breaker: CircuitBreaker,
    max_attachment_bytes: u64,
}

/// Why they cannot be loaded now.
#[derive(Debug, thiserror::Error)]
pub enum RecruiterExtrasError {
    /// The stream cannot be read.
    #[error(transparent)]
    Events(#[from] Unavailable),
    /// The résumé cannot be fetched.
    #[error(transparent)]
    Resume(#[from] ResumeStoreError),
    /// The store is away, but not for long.
    #[error("the store of résumés is away: {reason}")]
    StoreAway {
        /// What failed.
        reason: String,
        /// How long until it is asked again.
        pause: Duration,
    },
}

impl RecruiterExtrasLoader {
    /// Reads résumés from this store; larger ones than `max_attachment_bytes` are not attached.
    pub fn new(events: EventStream, resumes: ResumeStore, max_attachment_bytes: u64) -> Self {
        Self {
            events,
            resumes,
            store_breaker: CircuitBreaker::new("resume-store"),
            max_attachment_bytes,
        }
    }

    /// Waits while the store is away, for as long as mails wait for their résumés.
    pub async fn wait_for_store(&self) {
        let away = self.store_breaker.open_for().unwrap_or_default();
        let patience = STORE_PATIENCE.saturating_sub(away);
        if timeout(patience, self.store_breaker.ready()).await.is_err() {
            tracing::debug!("the store of résumés is away for too long to be waited for");
        }
    }

    /// Whether a résumé is attached.
    pub fn attachment(&self, event: &Event<CareersApplied>) -> Attachment {
        self.attachable(event)
            .map_or(Attachment::LeftOut, |_| Attachment::Wanted)
    }

    /// Loads all extras of a mail.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read, or the résumé cannot be fetched and may be had a moment later.
    pub async fn load(
        &self,
        event: &Event<CareersApplied>,
        delivery: &Delivery,
    ) -> Result<RecruiterExtras, RecruiterExtrasError> {
        Ok(RecruiterExtras {
            earlier: self.earlier(event).await?,
            resume: match self.attachable(event) {
                Some(resume) => self.attached(resume, delivery).await?,
                None => None,
            },
        })
    }

    /// Loads the extras of a mail that attaches nothing.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read.
    pub async fn load_without_resume(
        &self,
        event: &Event<CareersApplied>,
    ) -> Result<RecruiterExtras, RecruiterExtrasError> {
        Ok(RecruiterExtras {
            earlier: self.earlier(event).await?,
            resume: None,
        })
    }

    /// What this person applied for before, the first application first.
    async fn earlier(&self, event: &Event<CareersApplied>) -> Result<Vec<EarlierApplication>, Unavailable> {
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
    async fn attached(
        &self,
        resume: &StoredResume,
        delivery: &Delivery,
    ) -> Result<Option<Vec<u8>>, RecruiterExtrasError> {
        match self.fetch(resume, &delivery.key()).await {
            Ok(content) => Ok(Some(content)),
            Err(error) if self.is_left_out_after(&error, delivery.attempt) => {
                tracing::warn!(%error, "the recruiters get the résumé as a link only");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn is_left_out_after(&self, error: &RecruiterExtrasError, attempt: u32) -> bool {
        match error {
            RecruiterExtrasError::Events(_) => false,
            RecruiterExtrasError::Resume(_) => attempt > MAX_ATTACHMENT_ATTEMPTS,
            RecruiterExtrasError::StoreAway { .. } => {
                let away = self.store_breaker.open_for();
                away.is_some_and(|away| away >= STORE_PATIENCE)
            }
        }
    }

    async fn fetch(
        &self,
        resume: &StoredResume,
        delivery_key: &str,
    ) -> Result<Vec<u8>, RecruiterExtrasError> {
        let Some(mut call) = self.store_breaker.try_call(delivery_key) else {
            return Err(RecruiterExtrasError::StoreAway {
                reason: "it is not asked now".to_owned(),
                pause: Duration::ZERO,
            });
        };
        let error = match self.resumes.get(&ResumeKey::known(resume.key.clone())).await {
            Err(error) if error.is_away() => error,
            answer => {
                call.answered();
                return Ok(answer?);
            }
        };
        match call.failed(Away::Failing { retry_after: None }, &error) {
            Some(pause) => Err(RecruiterExtrasError::StoreAway {
                reason: error.to_string(),
                pause,
            }),
            None => Err(error.into()),
        }
    }
}
