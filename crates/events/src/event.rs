//! The event types and their envelope (CloudEvents 1.0, structured JSON).

use std::{borrow::Cow, fmt::Display};

#[cfg(test)]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use time::{Duration, OffsetDateTime};
use uuid::{Builder, Uuid};
use visitor::{EmailAddress, PersonId, PersonKey};

use crate::Attribution;

/// Media type of a structured CloudEvent (CloudEvents JSON format, 3).
pub const CONTENT_TYPE: &str = "application/cloudevents+json";

/// UUID namespace of event ids.
const EVENT_IDS: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_7369_7465_6576);

/// Type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// A visitor sent a contact message.
    ContactReceived,
    /// A visitor signed up for the newsletter but has not confirmed.
    NewsletterRequested,
    /// A subscriber confirmed.
    NewsletterConfirmed,
    /// A subscriber left.
    NewsletterUnsubscribed,
    /// A newsletter mail bounced.
    NewsletterBounced,
    /// The operator requested an issue of the newsletter.
    NewsletterIssueRequested,
    /// A visitor applied for an internship.
    CareersApplied,
    /// All data of a person was erased.
    PersonErased,
}

impl EventType {
    /// All types.
    pub const ALL: [Self; 8] = [
        Self::ContactReceived,
        Self::NewsletterRequested,
        Self::NewsletterConfirmed,
        Self::NewsletterUnsubscribed,
        Self::NewsletterBounced,
        Self::NewsletterIssueRequested,
        Self::CareersApplied,
        Self::PersonErased,
    ];

    /// The CloudEvents `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ContactReceived => "site.contact.received.v1",
            Self::NewsletterRequested => "site.newsletter.requested.v1",
            Self::NewsletterConfirmed => "site.newsletter.confirmed.v1",
            Self::NewsletterUnsubscribed => "site.newsletter.unsubscribed.v1",
            Self::NewsletterBounced => "site.newsletter.bounced.v1",
            Self::NewsletterIssueRequested => "site.newsletter.issue-requested.v1",
            Self::CareersApplied => "site.careers.applied.v1",
            Self::PersonErased => "site.person.erased.v1",
        }
    }

    /// First three tokens of the type's subjects.
    pub fn subject_prefix(self) -> &'static str {
        self.name().trim_end_matches(".v1")
    }

    /// Name in settings, such as `contact.received`.
    pub fn short_name(self) -> &'static str {
        self.subject_prefix().trim_start_matches("site.")
    }

    /// Subject of a person's events of this type.
    pub fn subject(self, person: &PersonId) -> String {
        format!("{}.{person}", self.subject_prefix())
    }

    /// Type with this CloudEvents `type`.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// Type with this name in settings.
    pub fn short_named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.short_name() == name)
    }

    /// Id of the event that follows from `cause`, the same for every repeat. Visitors must not be able to
    /// choose `cause`.
    pub fn id_for(self, cause: Uuid) -> Uuid {
        let name = format!("{}/{cause}", self.name());
        Uuid::new_v5(&EVENT_IDS, name.as_bytes())
    }

    /// Id of the event for a person's submission, the same for every repeat. Two people with the same
    /// idempotency key get different ids.
    pub fn submission_id(self, person_key: &PersonKey, key: impl Display, person: &PersonId) -> Uuid {
        let name = format!("{}/{key}/{person}", self.name());
        Builder::from_custom_bytes(person_key.submission(&name)).into_uuid()
    }

    /// Fields of the visitor's form, in order: name in the event's data, and label.
    pub fn form_fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::ContactReceived => ContactReceived::FIELDS,
            Self::NewsletterRequested => NewsletterRequested::FIELDS,
            Self::CareersApplied => CareersApplied::FIELDS,
            _ => &[],
        }
    }

    /// The CloudEvents `source`: the service that publishes this event type.
    pub(crate) fn source(self) -> &'static str {
        match self {
            Self::ContactReceived => "/services/contact",
            Self::NewsletterRequested | Self::NewsletterConfirmed | Self::NewsletterUnsubscribed => {
                "/services/newsletter"
            }
            Self::NewsletterBounced => "/services/notifier",
            Self::NewsletterIssueRequested | Self::PersonErased => "/tools/sitectl",
            Self::CareersApplied => "/services/careers",
        }
    }
}

/// Content of one event type.
pub trait EventData: Serialize + DeserializeOwned + Send + Sync {
    /// Type of the events with this content.
    const TYPE: EventType;

    /// Sample content with every optional field.
    fn sample(now: OffsetDateTime) -> Self;
}

/// Content that a visitor submitted under an idempotency key.
pub trait Submission: EventData + Clone {
    /// Whether `stored` has the same visitor input. Attributions may differ.
    fn repeats(&self, stored: &Self) -> bool;
}

/// One event in its CloudEvents envelope.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Event<D> {
    /// Always `1.0`.
    pub specversion: Cow<'static, str>,
    /// The event's unique id. A repeated submission has the same id.
    pub id: Uuid,
    /// The service that published the event.
    pub source: Cow<'static, str>,
    /// `site.<area>.<event>.v1`.
    #[serde(rename = "type")]
    pub event_type: Cow<'static, str>,
    /// The person that the event is about: a keyed hash of their e-mail address, 32 hex digits. For a
    /// newsletter issue: the issue's id, in the same form.
    #[cfg_attr(test, schemars(with = "String", regex(pattern = r"^[0-9a-f]{32}$")))]
    pub subject: PersonId,
    /// When the site accepted the event (RFC 3339).
    #[serde(with = "time::serde::rfc3339")]
    #[cfg_attr(test, schemars(with = "String", extend("format" = "date-time")))]
    pub time: OffsetDateTime,
    /// Always `application/json`.
    pub datacontenttype: Cow<'static, str>,
    /// The trace that caused the event (CloudEvents distributed tracing extension).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// The `x-request-id` of the request that caused the event.
    pub requestid: String,
    /// What happened.
    pub data: D,
}

impl<D: EventData> Event<D> {
    /// Wraps content in an envelope. `request_id` identifies the request that caused the event.
    pub fn new(request_id: &str, id: Uuid, person: &PersonId, time: OffsetDateTime, data: D) -> Self {
        Self {
            specversion: "1.0".into(),
            id,
            source: D::TYPE.source().into(),
            event_type: D::TYPE.name().into(),
            subject: person.clone(),
            time,
            datacontenttype: "application/json".into(),
            traceparent: None,
            requestid: request_id.to_owned(),
            data,
        }
    }
}

/// A contact message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct ContactReceived {
    /// The visitor's full name.
    pub name: String,
    /// The visitor's e-mail address.
    #[cfg_attr(test, schemars(with = "String", extend("format" = "email")))]
    pub email: EmailAddress,
    /// The visitor's message.
    pub message: String,
    /// The visitor's company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// Telephone number, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// Where the visitor came from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
}

impl ContactReceived {
    const FIELDS: &[(&str, &str)] = &[
        ("name", "Name"),
        ("email", "E-mail"),
        ("message", "Message"),
        ("company", "Company"),
        ("phone", "Phone"),
    ];
}

impl EventData for ContactReceived {
    const TYPE: EventType = EventType::ContactReceived;

    fn sample(_: OffsetDateTime) -> Self {
        Self {
            name: "Test of the site".to_owned(),
            email: EmailAddress::sample(),
            message: "A test of the site's webhooks.\nNobody wrote this.".to_owned(),
            company: Some("Test Ltd".to_owned()),
            phone: Some("+1 202 555 0100".to_owned()),
            attribution: Some(Attribution::sample()),
        }
    }
}

impl Submission for ContactReceived {
    fn repeats(&self, stored: &Self) -> bool {
        let entered = |from: &Self| Self {
            attribution: None,
            ..from.clone()
        };
        entered(self) == entered(stored)
    }
}

/// A newsletter sign-up that awaits its confirmation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct NewsletterRequested {
    /// The address to confirm.
    #[cfg_attr(test, schemars(with = "String", extend("format" = "email")))]
    pub email: EmailAddress,
    /// When the confirmation link expires (RFC 3339).
    #[serde(with = "time::serde::rfc3339")]
    #[cfg_attr(test, schemars(with = "String", extend("format" = "date-time")))]
    pub expires: OffsetDateTime,
    /// Where the visitor came from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
}

impl NewsletterRequested {
    const FIELDS: &[(&str, &str)] = &[("email", "E-mail")];
}

impl EventData for NewsletterRequested {
    const TYPE: EventType = EventType::NewsletterRequested;

    fn sample(now: OffsetDateTime) -> Self {
        Self {
            email: EmailAddress::sample(),
            expires: now + Duration::DAY,
            attribution: Some(Attribution::sample()),
        }
    }
}

/// A confirmed newsletter subscription.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct NewsletterConfirmed {
    /// The subscriber's address.
    #[cfg_attr(test, schemars(with = "String", extend("format" = "email")))]
    pub email: EmailAddress,
}

impl EventData for NewsletterConfirmed {
    const TYPE: EventType = EventType::NewsletterConfirmed;

    fn sample(_: OffsetDateTime) -> Self {
        Self {
            email: EmailAddress::sample(),
        }
    }
}

/// The end of a newsletter subscription.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct NewsletterUnsubscribed {
    /// The former subscriber's address.
    #[cfg_attr(test, schemars(with = "String", extend("format" = "email")))]
    pub email: EmailAddress,
}

impl EventData for NewsletterUnsubscribed {
    const TYPE: EventType = EventType::NewsletterUnsubscribed;

    fn sample(_: OffsetDateTime) -> Self {
        Self {
            email: EmailAddress::sample(),
        }
    }
}

/// A newsletter mail that bounced: the address does not exist, or its server accepted no mail until the last retry.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct NewsletterBounced {
    /// The address.
    #[cfg_attr(test, schemars(with = "String", extend("format" = "email")))]
    pub email: EmailAddress,
    /// Name of the mail's channel.
    pub channel: String,
    /// The mail server's answer, without addresses.
    pub reason: String,
    /// Kind of the bounce.
    pub kind: BounceKind,
}

impl EventData for NewsletterBounced {
    const TYPE: EventType = EventType::NewsletterBounced;

    fn sample(_: OffsetDateTime) -> Self {
        Self {
            email: EmailAddress::sample(),
            channel: "newsletter-confirmed-welcome".to_owned(),
            reason: "permanent error (550): a test".to_owned(),
            kind: BounceKind::Hard,
        }
    }
}

/// Kind of a bounce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BounceKind {
    /// The address does not exist.
    Hard,
    /// The mail was deferred until the last retry: a full mailbox, or an unavailable server.
    Soft,
}

/// A newsletter issue to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NewsletterIssueRequested {
    /// The issue's name: letters, digits and hyphens, like the address of a post.
    pub name: String,
    /// The subject line.
    pub subject: String,
    /// The preview text that mail programs show beside the subject.
    pub preview: String,
    /// The content as HTML, without the header and footer that all our mails share.
    pub html: String,
    /// The content as plain text.
    pub text: String,
    /// URL of the issue on the web, if it is published there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub web: Option<String>,
    /// The issue's recipients.
    pub audience: Audience,
}

impl EventData for NewsletterIssueRequested {
    const TYPE: EventType = EventType::NewsletterIssueRequested;

    fn sample(_: OffsetDateTime) -> Self {
        Self {
            name: "test".to_owned(),
            subject: "A test of the site's webhooks".to_owned(),
            preview: "Nobody gets this issue.".to_owned(),
            html: "<p>Nobody gets this issue.</p>".to_owned(),
            text: "Nobody gets this issue.".to_owned(),
            web: None,
            audience: Audience::Test,
        }
    }
}

/// Recipients of a newsletter issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// Everyone with a confirmed subscription at the time of the request.
    Subscribers,
    /// Test addresses that the operator named.
    Test,
    /// A value of a later version. Treat it as an empty audience.
    #[serde(untagged)]
    Unknown(String),
}

/// An internship application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CareersApplied {
    /// The applicant's full name.
    pub name: String,
    /// The applicant's e-mail address.
    #[cfg_attr(test, schemars(with = "String", extend("format" = "email")))]
    pub email: EmailAddress,
    /// Telephone number, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The position applied for.
    pub position: String,
    /// Years of experience, as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experience: Option<String>,
    /// The cover letter.
    pub cover_letter: String,
    /// The résumé, if the applicant sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<StoredResume>,
    /// Where the visitor came from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
}

impl CareersApplied {
    const FIELDS: &[(&str, &str)] = &[
        ("name", "Name"),
        ("email", "E-mail"),
        ("phone", "Phone"),
        ("position", "Position"),
        ("experience", "Experience"),
        ("coverLetter", "Cover letter"),
    ];
}

impl EventData for CareersApplied {
    const TYPE: EventType = EventType::CareersApplied;

    fn sample(_: OffsetDateTime) -> Self {
        Self {
            name: "Test of the site".to_owned(),
            email: EmailAddress::sample(),
            phone: Some("+1 202 555 0100".to_owned()),
            position: "Test".to_owned(),
            experience: Some("1 year".to_owned()),
            cover_letter: "A test of the site's webhooks. Nobody applied.".to_owned(),
            resume: Some(StoredResume {
                key: "resumes/test/cv.pdf".to_owned(),
                file_name: "cv.pdf".to_owned(),
                content_type: "application/pdf".to_owned(),
                size_bytes: 1,
                sha256: "00".repeat(32),
                scan: Scan::Clean,
                active_content: Vec::new(),
            }),
            attribution: Some(Attribution::sample()),
        }
    }
}

impl Submission for CareersApplied {
    fn repeats(&self, stored: &Self) -> bool {
        let entered = |from: &Self| Self {
            resume: None,
            attribution: None,
            ..from.clone()
        };
        let content = |from: &Self| from.resume.as_ref().map(|resume| resume.sha256.clone());
        entered(self) == entered(stored) && content(self) == content(stored)
    }
}

/// All data of a person was erased, and receivers must erase their copies. The event holds only the person's
/// id, which was the `subject` of the erased events. The event itself is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct PersonErased {}

impl EventData for PersonErased {
    const TYPE: EventType = EventType::PersonErased;

    fn sample(_: OffsetDateTime) -> Self {
        Self {}
    }
}

/// A résumé stored in the bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StoredResume {
    /// The file's key in the bucket.
    pub key: String,
    /// The file's name, as uploaded.
    pub file_name: String,
    /// The file's media type.
    pub content_type: String,
    /// The file's size in bytes.
    #[serde(rename = "size")]
    pub size_bytes: u64,
    /// SHA-256 of the file's content, hex.
    pub sha256: String,
    /// Result of the virus scan.
    #[serde(default)]
    pub scan: Scan,
    /// Content that can act by itself once the file is opened. Compressed objects of a PDF are not examined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active_content: Vec<ActiveContent>,
}

/// Content of a file that can act by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ActiveContent {
    /// Macros of an office program.
    Macros,
    /// A template or an object that an office program loads from another machine.
    ExternalTemplate,
    /// A PDF's scripts.
    #[serde(rename = "javascript")]
    JavaScript,
    /// A PDF's action that starts a program.
    Launch,
    /// A file within a PDF.
    EmbeddedFile,
}

/// Result of a virus scan. Infected files are rejected, so no event contains an infected file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// Not scanned: there is no scanner, or it was unavailable.
    #[default]
    NotScanned,
    /// Nothing was found.
    Clean,
    /// A value of a later version. Treat it as not scanned.
    #[serde(untagged)]
    Unknown(String),
}

impl Scan {
    /// Whether a scanner looked and found nothing.
    pub fn is_clean(&self) -> bool {
        *self == Self::Clean
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use time::macros::datetime;

    use super::*;

    fn golden<D: EventData>(data: D) -> Event<D> {
        let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id");
        let key = Uuid::from_u128(7);
        Event::new(
            "visit-0001",
            D::TYPE.id_for(key),
            &person,
            datetime!(2026-11-20 12:00 UTC),
            data,
        )
    }

    fn email() -> EmailAddress {
        EmailAddress::parse("asha@example.com").expect("an address")
    }

    fn texts<D: EventData>() -> BTreeSet<String> {
        let sample = serde_json::to_value(D::sample(OffsetDateTime::UNIX_EPOCH)).expect("plain values");
        let fields = sample.as_object().into_iter().flatten();
        let texts = fields.filter(|(name, value)| value.is_string() && *name != "expires");
        texts.map(|(name, _)| name.clone()).collect()
    }

    #[test]
    fn every_text_of_a_form_has_a_label() {
        for (event_type, texts) in [
            (EventType::ContactReceived, texts::<ContactReceived>()),
            (EventType::NewsletterRequested, texts::<NewsletterRequested>()),
            (EventType::CareersApplied, texts::<CareersApplied>()),
        ] {
            let fields = event_type.form_fields().iter();
            assert_eq!(
                fields
                    .map(|(name, _)| (*name).to_owned())
                    .collect::<BTreeSet<_>>(),
                texts
            );
        }
    }

    #[test]
    fn contact_received_looks_like_this() {
        insta::assert_json_snapshot!(golden(ContactReceived::sample(OffsetDateTime::UNIX_EPOCH)));
    }

    #[test]
    fn newsletter_requested_looks_like_this() {
        insta::assert_json_snapshot!(golden(NewsletterRequested {
            email: email(),
            expires: datetime!(2026-11-22 12:00 UTC),
            attribution: None,
        }));
    }

    #[test]
    fn newsletter_confirmed_looks_like_this() {
        insta::assert_json_snapshot!(golden(NewsletterConfirmed { email: email() }));
    }

    #[test]
    fn newsletter_unsubscribed_looks_like_this() {
        insta::assert_json_snapshot!(golden(NewsletterUnsubscribed { email: email() }));
    }

    #[test]
    fn newsletter_bounced_looks_like_this() {
        insta::assert_json_snapshot!(golden(NewsletterBounced {
            email: email(),
            channel: "newsletter-requested-confirmation".into(),
            reason: "permanent error (550): 5.1.1 [address] No such user".into(),
            kind: BounceKind::Hard,
        }));
    }

    #[test]
    fn newsletter_issue_requested_looks_like_this() {
        insta::assert_json_snapshot!(golden(NewsletterIssueRequested {
            name: "smart-home".into(),
            subject: "The smart home that minds its own business".into(),
            preview: "Cameras at home guard the people you love most.".into(),
            html: "<p>Hello</p>".into(),
            text: "Hello".into(),
            web: Some("https://oculant.example/blog/smart-home".into()),
            audience: Audience::Subscribers,
        }));
    }

    #[test]
    fn careers_applied_looks_like_this() {
        let mut applied = CareersApplied::sample(OffsetDateTime::UNIX_EPOCH);
        let resume = applied.resume.as_mut().expect("the sample has a résumé");
        resume.active_content.push(ActiveContent::Macros);
        insta::assert_json_snapshot!(golden(applied));
    }

    #[test]
    fn person_erased_looks_like_this() {
        insta::assert_json_snapshot!(golden(PersonErased {}));
    }

    #[test]
    fn submission_ids_depend_on_type_key_person_and_secret() {
        let secrets = ["a key", "another key"]
            .map(|name| PersonKey::new(&format!("{name} of thirty-two bytes or more")).expect("a long key"));
        let people = ["asha@example.com", "zoe@example.org"]
            .map(|email| secrets[0].person(&EmailAddress::parse(email).expect("an address")));
        let mut ids = HashSet::new();
        for secret in &secrets {
            for person in &people {
                for key in [Uuid::from_u128(7), Uuid::from_u128(8)] {
                    for event_type in [EventType::ContactReceived, EventType::CareersApplied] {
                        let id = event_type.submission_id(secret, key, person);
                        assert_eq!(id, event_type.submission_id(secret, key, person));
                        assert!(ids.insert(id));
                    }
                }
            }
        }
    }
}
