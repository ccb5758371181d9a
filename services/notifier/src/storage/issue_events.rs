//! The events that ask for issues of the newsletter: what their mails say. The last that was read is held.

use std::sync::{Arc, Mutex, PoisonError};

use site_broker::Failure;
use site_events::{Event, EventType, IssueId, event::NewsletterIssueRequested};

use super::event_stream::EventStream;

/// An issue as it was asked for.
pub type IssueEvent = Arc<Event<NewsletterIssueRequested>>;

/// Why the event of an issue cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum IssueEventError {
    #[error(transparent)]
    Away(#[from] Failure),
    /// It was erased, or is too old.
    #[error("the issue is not there any more")]
    Gone,
    #[error("the issue cannot be read: it is not what its type says (line {}, column {})", .0.line(), .0.column())]
    Unreadable(#[from] serde_json::Error),
}

/// The events of issues.
pub struct IssueEvents {
    events: EventStream,
    last: Mutex<Option<(IssueId, IssueEvent)>>,
}

impl IssueEvents {
    /// Those in this stream.
    pub fn new(events: EventStream) -> Self {
        Self {
            events,
            last: Mutex::default(),
        }
    }

    /// The event that asked for an issue.
    ///
    /// # Errors
    ///
    /// If it is not there, cannot be read, or the broker does not answer.
    pub async fn of(&self, issue: IssueId) -> Result<IssueEvent, IssueEventError> {
        let held = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((of, event)) = held
            && of == issue
        {
            return Ok(event);
        }
        let subject = EventType::NewsletterIssueRequested.subject(&issue.as_subject());
        let message = self.events.last(&subject).await?.ok_or(IssueEventError::Gone)?;
        let event: IssueEvent = Arc::new(serde_json::from_slice(&message.payload)?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((issue, event.clone()));
        Ok(event)
    }
}
