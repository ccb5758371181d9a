//! Stored and delivered data after a run.

use std::{
    collections::HashMap,
    fmt::{self, Display},
    path::PathBuf,
};

use reliability::digest;
use serde::Deserialize;
use serde_json::Value;
use site_events::{Channel, EventType, SITE_STREAM};
use testkit::{Stack, mail_server::AcceptedMail, measure::open_files, receiver::Received};
use tokio::time::Instant;
use uuid::Uuid;

/// Events of a run that the stack's webhook endpoint receives.
const HOOKED: [EventType; 3] = [
    EventType::ContactReceived,
    EventType::NewsletterConfirmed,
    EventType::CareersApplied,
];

/// Domain of our staff's addresses.
const OUR_DOMAIN: &str = "@oculant.example";

#[derive(Default)]
pub struct Holdings {
    /// By the visitor's address.
    pub events: HashMap<String, StoredEvent>,
    pub confirmations: HashMap<String, StoredEvent>,
    /// Number of duplicate events: a visitor sends one form and confirms at most once.
    pub stored_twice: usize,
    /// SHA-256 by key.
    pub objects: HashMap<String, [u8; 32]>,
    /// Keys of résumés.
    pub upload_records: Vec<String>,
    pub spool_files: Vec<PathBuf>,
    /// By event and channel, duplicates included.
    pub mails: HashMap<String, Vec<AcceptedMail>>,
    /// By event, duplicates included.
    pub webhooks: HashMap<String, Vec<Received>>,
    pub dead_letters: usize,
}

#[derive(Deserialize)]
pub struct StoredEvent {
    pub id: Uuid,
    /// `site.<area>.<event>.v1`.
    #[serde(rename = "type")]
    pub event_type: String,
    pub data: Value,
}

impl StoredEvent {
    pub fn email(&self) -> &str {
        self.data["email"].as_str().unwrap_or_default()
    }

    pub fn resume_key(&self) -> Option<&str> {
        self.data["resume"]["key"].as_str()
    }

    pub fn deliveries(&self) -> impl Iterator<Item = Delivery<'_>> {
        let is = |event_type: &EventType| self.event_type == event_type.name();
        let channels = Channel::ALL
            .into_iter()
            .filter(move |channel| is(&channel.event_type()));
        let mails = channels.map(|channel| Delivery::Mail {
            id: format!("{}.{}", self.id, channel.name()),
            visitor: channel.is_to_visitor().then(|| self.email()),
            resume_key: self
                .resume_key()
                .filter(|_| channel == Channel::RecruiterApplication),
        });
        let webhook = HOOKED.iter().any(is).then(|| Delivery::Webhook {
            id: self.id.to_string(),
            event_type: &self.event_type,
        });
        mails.chain(webhook)
    }
}

/// Mail or webhook that an event requires.
pub enum Delivery<'a> {
    /// Identified by event and channel.
    Mail {
        id: String,
        /// The visitor's address; none if the mail goes to our staff.
        visitor: Option<&'a str>,
        /// Key of the résumé to attach.
        resume_key: Option<&'a str>,
    },
    /// Identified by event.
    Webhook { id: String, event_type: &'a str },
}

impl Display for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mail { id, .. } => write!(f, "mail {id}"),
            Self::Webhook { id, .. } => write!(f, "webhook {id}"),
        }
    }
}

impl Holdings {
    /// # Errors
    ///
    /// If the broker or the bucket cannot be read.
    pub async fn count(stack: &Stack) -> anyhow::Result<Self> {
        let (mut events, mut confirmations, mut stored_twice) = (HashMap::new(), HashMap::new(), 0);
        for message in stack.nats.messages(SITE_STREAM).await? {
            let event: StoredEvent = serde_json::from_slice(&message.payload)?;
            let of_its_kind = if event.event_type == EventType::NewsletterConfirmed.name() {
                &mut confirmations
            } else {
                &mut events
            };
            if of_its_kind.insert(event.email().to_owned(), event).is_some() {
                stored_twice += 1;
            }
        }
        let objects = stack.s3.objects()?;
        let mails = stack.mail_server()?.accepted_mails();
        let webhooks = stack.receiver.accepted();
        Ok(Self {
            events,
            confirmations,
            stored_twice,
            objects: objects
                .into_iter()
                .map(|(key, content)| (key, digest(&content)))
                .collect(),
            upload_records: stack.nats.upload_records().await?,
            spool_files: open_files(&stack.spool),
            mails: by_id(mails, mail_id),
            webhooks: by_id(webhooks, |webhook| webhook.id.clone()),
            dead_letters: stack.nats.dead_letters().await?.len(),
        })
    }

    pub fn all_events(&self) -> impl Iterator<Item = &StoredEvent> {
        self.events.values().chain(self.confirmations.values())
    }

    /// Times of acceptance, in order.
    pub fn accepted(&self, delivery: &Delivery<'_>) -> Vec<Instant> {
        match delivery {
            Delivery::Mail { id, .. } => self.mails_of(id).iter().map(|mail| mail.at).collect(),
            Delivery::Webhook { id, .. } => self.webhooks_of(id).iter().map(|webhook| webhook.at).collect(),
        }
    }

    /// Mismatch of an accepted delivery with its event, as a sentence.
    pub fn mismatch(&self, delivery: &Delivery<'_>) -> Option<String> {
        match delivery {
            Delivery::Mail {
                id,
                visitor,
                resume_key,
            } => {
                let mails = self.mails_of(id).iter();
                let is_right = |mail: &AcceptedMail| match visitor {
                    Some(visitor) => mail.recipient == *visitor,
                    None => mail.recipient.ends_with(OUR_DOMAIN),
                };
                if let Some(other) = mails.clone().find(|mail| !is_right(mail)) {
                    let (whom, other) = (visitor.unwrap_or("our staff"), &other.recipient);
                    return Some(format!("{delivery} is for {whom} but went to {other}"));
                }
                // `loss_of` compares the object with what the visitor sent.
                let resume = resume_key.and_then(|key| self.objects.get(key));
                let mut wrong = mails.filter(|mail| !mail.attachments.iter().eq(resume));
                let what = match resume_key {
                    Some(_) => "does not have exactly the résumé attached",
                    None => "has an unexpected attachment",
                };
                wrong.next().map(|_| format!("{delivery} {what}"))
            }
            Delivery::Webhook { id, event_type } => {
                let is_right = |webhook: &Received| webhook.verified && webhook.body["type"] == *event_type;
                let wrong = self.webhooks_of(id).iter().find(|webhook| !is_right(webhook))?;
                Some(format!("{delivery} of {event_type} came as {wrong:?}"))
            }
        }
    }

    fn mails_of(&self, id: &str) -> &[AcceptedMail] {
        self.mails.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    fn webhooks_of(&self, id: &str) -> &[Received] {
        self.webhooks.get(id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Event and channel, from the local part of the `Message-ID`.
fn mail_id(mail: &AcceptedMail) -> String {
    let id = mail.message_id.trim_matches(['<', '>']);
    id.split('@').next().unwrap_or_default().to_owned()
}

fn by_id<T>(all: Vec<T>, id: impl Fn(&T) -> String) -> HashMap<String, Vec<T>> {
    let mut by_id: HashMap<String, Vec<T>> = HashMap::new();
    for one in all {
        by_id.entry(id(&one)).or_default().push(one);
    }
    by_id
}
