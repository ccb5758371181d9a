//! Events of newsletter issues, with the content of their mails. The latest is cached.

use std::sync::{Arc, Mutex, PoisonError};

use site_broker::Failure;
use site_events::{Event, EventType, IssueId, event::NewsletterIssueRequested};

use super::event_stream::EventStream;

pub type IssueEvent = Arc<Event<NewsletterIssueRequested>>;

pub struct IssueEvents {
    events: EventStream,
    last: Mutex<Option<(IssueId, IssueEvent)>>,
}

impl IssueEvents {
    pub fn new(events: EventStream) -> Self {
        Self {
            events,
            last: Mutex::default(),
        }
    }

    /// The event of an issue; none if it was erased or has expired.
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
