//! An event for an endpoint, and samples of each type to try a recipe with.

use bytes::Bytes;
use site_events::{
    Attribution, Event, EventData, EventType,
    event::{
        Audience, BounceKind, CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed,
        NewsletterIssueRequested, NewsletterRequested, NewsletterUnsubscribed, PersonErased, Scan,
        StoredResume,
    },
};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

/// An event to send.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Event id.
    pub id: Uuid,
    /// The event as stored.
    pub payload: Bytes,
    /// Attempt number, from 1.
    pub attempt: u32,
    /// Expiring link to the résumé, if the event has one and the recipe may use it.
    pub resume_link: Option<String>,
}

/// How many of the optional fields a sample has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Whole,
    /// None.
    Least,
}

/// A sample event. Its person is synthetic, and its texts say so.
pub fn sample(event_type: EventType, now: OffsetDateTime) -> Outgoing {
    sample_of(event_type, Extent::Whole, now)
}

pub(crate) fn sample_of(event_type: EventType, extent: Extent, now: OffsetDateTime) -> Outgoing {
    let email = EmailAddress::parse("test@example.com").expect("it is an address");
    match event_type {
        EventType::ContactReceived => outgoing(
            now,
            ContactReceived {
                name: "Test of the site".to_owned(),
                email,
                message: "A test of the site's webhooks.\nNobody wrote this.".to_owned(),
                attribution: attribution(extent),
            },
        ),
        EventType::NewsletterRequested => outgoing(
            now,
            NewsletterRequested {
                email,
                expires: now + Duration::DAY,
                attribution: attribution(extent),
            },
        ),
        EventType::NewsletterConfirmed => outgoing(now, NewsletterConfirmed { email }),
        EventType::NewsletterUnsubscribed => outgoing(now, NewsletterUnsubscribed { email }),
        EventType::NewsletterBounced => outgoing(
            now,
            NewsletterBounced {
                email,
                channel: "newsletter-confirmed-welcome".to_owned(),
                reason: "permanent error (550): a test".to_owned(),
                kind: BounceKind::Hard,
            },
        ),
        EventType::NewsletterIssueRequested => outgoing(now, issue()),
        EventType::CareersApplied => outgoing(now, application(email, extent)),
        EventType::PersonErased => outgoing(now, PersonErased {}),
    }
}

fn issue() -> NewsletterIssueRequested {
    NewsletterIssueRequested {
        name: "test".to_owned(),
        subject: "A test of the site's webhooks".to_owned(),
        preview: "Nobody gets this issue.".to_owned(),
        html: "<p>Nobody gets this issue.</p>".to_owned(),
        text: "Nobody gets this issue.".to_owned(),
        web: None,
        audience: Audience::Test,
    }
}

fn application(email: EmailAddress, extent: Extent) -> CareersApplied {
    let is_whole = extent == Extent::Whole;
    CareersApplied {
        name: "Test of the site".to_owned(),
        email,
        phone: is_whole.then(|| "+1 202 555 0100".to_owned()),
        position: "Test".to_owned(),
        experience: is_whole.then(|| "1 year".to_owned()),
        cover_letter: "A test of the site's webhooks. Nobody applied.".to_owned(),
        resume: is_whole.then(|| StoredResume {
            key: "resumes/test/cv.pdf".to_owned(),
            file_name: "cv.pdf".to_owned(),
            content_type: "application/pdf".to_owned(),
            size_bytes: 1,
            sha256: "00".repeat(32),
            scan: Scan::Clean,
            active_content: Vec::new(),
        }),
        attribution: attribution(extent),
    }
}

fn attribution(extent: Extent) -> Option<Attribution> {
    let told = |text: &str| Some(text.to_owned());
    (extent == Extent::Whole).then(|| Attribution {
        page: told("/contact"),
        referrer: told("https://www.example.org/"),
        utm_source: told("test"),
        utm_medium: told("test"),
        utm_campaign: told("test"),
        utm_term: told("test"),
        utm_content: told("test"),
    })
}

fn outgoing<D: EventData>(now: OffsetDateTime, data: D) -> Outgoing {
    let id = Uuid::new_v4();
    let nobody = PersonId::synthetic();
    let event = Event::new("webhook-test", id, &nobody, now, data);
    let payload = serde_json::to_vec(&event).expect("an event is plain values");
    Outgoing {
        id,
        payload: payload.into(),
        attempt: 1,
        resume_link: None,
    }
}
