//! Reconciliation of one sequence.

use std::collections::{BTreeSet, HashMap, HashSet};

use anyhow::ensure;
use serde_json::Value;
use site_events::{Channel, EventType, subjects};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

use crate::{
    parts::PERSON_KEY,
    snapshot::{Snapshot, Stored},
    steps::{Form, PEOPLE, Submission},
};

pub struct Person {
    pub email: String,
    pub id: PersonId,
    /// Whether the person was erased and has sent nothing since.
    pub is_erased: bool,
    /// Whether a mail with the link was sent.
    pub has_confirmation_link: bool,
    pub has_unsubscribe_link: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Promise {
    /// The submission is stored under this id.
    Event(String, Submission),
    /// A confirmation mail is due, if the person needs one.
    SignUp(usize),
}

pub struct Books {
    name: Uuid,
    pub people: [Person; PEOPLE],
    pub promises: Vec<Promise>,
    /// Submissions by the id of their event.
    pub tried: HashMap<String, HashSet<Submission>>,
    /// Number of accepted mails by `Message-ID`.
    pub sent: HashMap<String, u32>,
    /// Mails whose attempt was interrupted. Each may repeat once.
    pub cut_off: HashSet<String>,
}

impl Books {
    pub fn new() -> anyhow::Result<Self> {
        let name = Uuid::new_v4();
        let person_key = PersonKey::new(PERSON_KEY)?;
        let person = |number: usize| -> anyhow::Result<Person> {
            let email = format!("person{number}-{}@example.org", name.simple());
            Ok(Person {
                id: person_key.person(&EmailAddress::parse(&email)?),
                email,
                is_erased: false,
                has_confirmation_link: false,
                has_unsubscribe_link: false,
            })
        };
        Ok(Self {
            name,
            people: [person(0)?, person(1)?],
            promises: Vec::new(),
            tried: HashMap::new(),
            sent: HashMap::new(),
            cut_off: HashSet::new(),
        })
    }

    /// Odd keys are bound to the content (UUIDv8).
    pub fn key(&self, submission: Submission) -> Uuid {
        let Submission {
            form,
            person,
            key,
            text,
        } = submission;
        if key.is_multiple_of(2) {
            return Uuid::new_v5(&self.name, &[key]);
        }
        let content = format!("{form:?} {person} {text} {key}");
        let bound = Uuid::new_v5(&self.name, content.as_bytes());
        uuid::Builder::from_custom_bytes(bound.into_bytes()).into_uuid()
    }

    pub fn text(&self, submission: Submission) -> String {
        format!("text {} of {}", submission.text, self.name)
    }

    pub fn resume(&self, text: &str) -> Vec<u8> {
        format!("%PDF-1.4\n{text}\nstartxref\n0\n%%EOF\n").into_bytes()
    }

    /// Id of the submission's event. A sign-up's event has an id derived from this one.
    pub fn event_id(&self, submission: Submission) -> anyhow::Result<String> {
        let event_type = match submission.form {
            Form::Contact => EventType::ContactReceived,
            Form::Application => EventType::CareersApplied,
            Form::SignUp => EventType::NewsletterRequested,
        };
        let person = &self.people[submission.person].id;
        let id = event_type.submission_id(&PersonKey::new(PERSON_KEY)?, self.key(submission), person);
        Ok(id.to_string())
    }

    pub fn holds(&self, stored: &Stored, submission: Submission) -> bool {
        let data = &stored.event["data"];
        let text = match submission.form {
            Form::Contact => &data["message"],
            Form::Application => cover_letter(data),
            Form::SignUp => &Value::Null,
        };
        let is_same_text = submission.form == Form::SignUp || *text == self.text(submission);
        is_same_text && stored.person() == self.people[submission.person].id.as_str()
    }

    /// Checks every invariant.
    pub fn balance(&self, before: &Snapshot, after: &Snapshot) -> anyhow::Result<()> {
        self.promises_are_kept(after)?;
        self.resumes_are_whole(after)?;
        each_event_is_stored_once(after)?;
        self.nothing_is_left_of_erased_people(after)?;
        self.nothing_new_is_for_those_who_left(before, after)
    }

    fn promises_are_kept(&self, after: &Snapshot) -> anyhow::Result<()> {
        for promise in &self.promises {
            let is_kept = match promise {
                Promise::Event(id, submission) => after
                    .event(id)
                    .is_some_and(|stored| self.holds(stored, *submission)),
                Promise::SignUp(person) => {
                    let person = self.people[*person].id.as_str();
                    let is_pending = after.state(person).is_none_or(|state| state == "pending");
                    !is_pending || after.last(EventType::NewsletterRequested, person).is_some()
                }
            };
            ensure!(is_kept, "what was accepted is not stored: {promise:?}");
        }
        Ok(())
    }

    fn resumes_are_whole(&self, after: &Snapshot) -> anyhow::Result<()> {
        let originals = after.originals();
        for stored in originals.filter(|stored| stored.is(EventType::CareersApplied)) {
            let key = stored.resume().unwrap_or_default();
            let text = cover_letter(&stored.event["data"]).as_str().unwrap_or_default();
            let is_whole = after.objects.get(key) == Some(&self.resume(text));
            ensure!(
                is_whole,
                "an application is stored without its whole résumé: {key}"
            );
        }
        Ok(())
    }

    fn nothing_is_left_of_erased_people(&self, after: &Snapshot) -> anyhow::Result<()> {
        for person in self.people.iter().filter(|person| person.is_erased) {
            let id = person.id.as_str();
            let events = after.events.iter().chain(&after.dead_letters);
            // The event of an erasure holds only the person's id.
            let events = events.filter(|stored| !stored.is(EventType::PersonErased));
            let is_left = events.map(Stored::person).any(|of| of == id)
                || after.subscribers.contains_key(id)
                || after.uploads.iter().any(|key| key.starts_with(id))
                || after.objects.keys().any(|key| key.contains(id));
            ensure!(!is_left, "something is left of an erased person");
        }
        Ok(())
    }

    /// After suppression the bounce is the only new newsletter event. After an unsubscription nothing is confirmed
    /// without a new sign-up.
    fn nothing_new_is_for_those_who_left(&self, before: &Snapshot, after: &Snapshot) -> anyhow::Result<()> {
        let known: BTreeSet<&str> = before.originals().map(Stored::id).collect();
        for stored in after.originals().filter(|stored| !known.contains(stored.id())) {
            let is_withheld = match before.state(stored.person()) {
                Some("suppressed") => {
                    stored.subject.starts_with("site.newsletter") && !stored.is(EventType::NewsletterBounced)
                }
                Some("unsubscribed") => stored.is(EventType::NewsletterConfirmed),
                _ => false,
            };
            ensure!(
                !is_withheld,
                "a mail is due to a person who left: {}",
                subjects::without_person(&stored.subject)
            );
        }
        Ok(())
    }

    /// Each event has a mail in each of its channels, or is a dead letter.
    pub fn all_is_told(&self, after: &Snapshot) -> anyhow::Result<()> {
        for stored in after.originals() {
            let channels = Channel::ALL.into_iter();
            for channel in channels.filter(|channel| stored.is(channel.event_type())) {
                let mail = format!("{}.{}", stored.id(), channel.name());
                let is_sent = self.sent.contains_key(&mail);
                let is_dead = after.dead_letters.iter().any(|letter| {
                    letter.id() == stored.id() && subjects::channel_of(&letter.subject) == channel.name()
                });
                ensure!(is_sent || is_dead, "an event has no mail: {}", channel.name());
            }
        }
        Ok(())
    }

    pub fn no_orphan_is_left(&self, after: &Snapshot) -> anyhow::Result<()> {
        let stored = after.events.iter().chain(&after.dead_letters);
        let referenced: BTreeSet<&str> = stored.filter_map(Stored::resume).collect();
        let mut objects = after.objects.keys();
        let orphan = objects.find(|key| !referenced.contains(key.as_str()));
        ensure!(
            orphan.is_none(),
            "a résumé without an event outlived the sweep: {orphan:?}"
        );
        ensure!(after.uploads.is_empty(), "an upload's record outlived the sweep");
        Ok(())
    }
}

fn each_event_is_stored_once(after: &Snapshot) -> anyhow::Result<()> {
    let mut ids = BTreeSet::new();
    for stored in after.originals() {
        ensure!(
            ids.insert(stored.id()),
            "an event is stored twice: {}",
            subjects::without_person(&stored.subject)
        );
    }
    Ok(())
}

fn cover_letter(data: &Value) -> &Value {
    &data["coverLetter"]
}
