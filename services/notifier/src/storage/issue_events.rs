//! The events that ask for issues of the newsletter: what their mails say. The last that was read is held.

use std::sync::{Arc, Mutex, PoisonError};

use site_broker::Failure;
use site_events::{Event, EventType, IssueId, event::NewsletterIssueRequested};

use super::event_stream::EventStream;

/// An issue as it was asked for.
pub type IssueEvent = Arc<Event<NewsletterIssueRequested>>;

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

    /// The event that asked for an issue; none if it was erased, or is too old.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or the broker does not answer.
    pub async fn of(&self, issue: IssueId) -> Result<Option<IssueEvent>, Failure> {
        let held = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((of, event)) = held
            && of == issue
        {
            return Ok(Some(event));
        }
        let subject = EventType::NewsletterIssueRequested.subject(&issue.as_subject());
        let Some(message) = self.events.last(&subject).await? else {
            return Ok(None);
        };
        let event: IssueEvent = Arc::new(serde_json::from_slice(&message.payload).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            Failure::permanent(format!(
                "not an issue: unreadable at line {line}, column {column}"
            ))
        })?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((issue, event.clone()));
        Ok(Some(event))
    }
}
