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
        let cached = self.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((of, event)) = cached
            && of == issue
        {
            return Ok(Some(event));
        }
        let subject = EventType::NewsletterIssueRequested.subject(&issue.as_subject());
        let Some(message) = self.events.last(&subject).await? else {
            return Ok(None);
        };
        let event = serde_json::from_slice(&message.payload);
        let event: IssueEvent = Arc::new(event.map_err(|error| Failure::unreadable("an issue", &error))?);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((issue, event.clone()));
        Ok(Some(event))
    }
}
