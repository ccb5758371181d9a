//! Events for endpoints, and sample events for testing recipes.

use bytes::Bytes;
use serde_json::{Map, Value};
use site_events::{
    Event, EventData, EventType,
    event::{
        CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed, NewsletterIssueRequested,
        NewsletterRequested, NewsletterUnsubscribed, PersonErased,
    },
};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::PersonId;

/// An event to send.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Event id.
    pub id: Uuid,
    /// The event as stored.
    pub payload: Bytes,
    /// Attempt number, from 1.
    pub attempt: u32,
    /// Expiring link to the résumé, if the event has a résumé and the endpoint uses a recipe.
    pub resume_link: Option<String>,
}

/// A sample event with every optional field. Its person is synthetic.
pub fn sample(event_type: EventType, now: OffsetDateTime) -> Outgoing {
    samples(event_type, now).0
}

/// A sample event with every optional field, and a sample event without optional fields.
pub fn samples(event_type: EventType, now: OffsetDateTime) -> (Outgoing, Outgoing) {
    match event_type {
        EventType::ContactReceived => outgoing::<ContactReceived>(now),
        EventType::NewsletterRequested => outgoing::<NewsletterRequested>(now),
        EventType::NewsletterConfirmed => outgoing::<NewsletterConfirmed>(now),
        EventType::NewsletterUnsubscribed => outgoing::<NewsletterUnsubscribed>(now),
        EventType::NewsletterBounced => outgoing::<NewsletterBounced>(now),
        EventType::NewsletterIssueRequested => outgoing::<NewsletterIssueRequested>(now),
        EventType::CareersApplied => outgoing::<CareersApplied>(now),
        EventType::PersonErased => outgoing::<PersonErased>(now),
    }
}

fn outgoing<D: EventData>(now: OffsetDateTime) -> (Outgoing, Outgoing) {
    let id = Uuid::new_v4();
    let event = Event::new("webhook-test", id, &PersonId::synthetic(), now, D::sample(now));
    let mut event = serde_json::to_value(event).expect("an event is plain values");
    let stored = |event: &Value| Outgoing {
        id,
        payload: event.to_string().into(),
        attempt: 1,
        resume_link: None,
    };
    let whole = stored(&event);
    let names: Vec<String> = event["data"]
        .as_object()
        .into_iter()
        .flat_map(Map::keys)
        .cloned()
        .collect();
    for name in names {
        let mut data = event["data"].clone();
        data.as_object_mut().and_then(|data| data.remove(&name));
        // A field is optional if the event can be read without it.
        if D::deserialize(&data).is_ok() {
            event["data"] = data;
        }
    }
    (whole, stored(&event))
}
