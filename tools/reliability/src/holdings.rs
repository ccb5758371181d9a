//! What there is when a run has come to rest: stored events, objects, and what was taken of mails and webhooks.

use std::{
    collections::HashMap,
    fmt::{self, Display},
    path::PathBuf,
};

use reliability::digest;
use serde::Deserialize;
use serde_json::Value;
use site_events::{Channel, EventType, SITE_STREAM};
use testkit::{
    RECRUITERS_TO, SALES_TO, Stack, mail_server::AcceptedMail, measure::open_files, receiver::Received,
};
use tokio::time::Instant;
use uuid::Uuid;

/// The events that the local stack's one webhook endpoint hears of, among those that forms become.
const HOOKED: [EventType; 3] = [
    EventType::ContactReceived,
    EventType::NewsletterConfirmed,
    EventType::CareersApplied,
];

/// What there is at one moment.
#[derive(Default)]
pub struct Holdings {
    /// The stored events, by the address of the visitor who sent the form.
    pub events: HashMap<String, StoredEvent>,
    /// The confirmations of sign-ups, by the same.
    pub confirmations: HashMap<String, StoredEvent>,
    /// How many are stored beside another of the same visitor, who sends one form, and confirms once.
    pub stored_twice: usize,
    /// Objects in the bucket by key: the digest of their content.
    pub objects: HashMap<String, [u8; 32]>,
    /// Keys of résumés whose upload still has a record.
    pub upload_records: Vec<String>,
    /// Files of the spool that are still open.
    pub spool_files: Vec<PathBuf>,
    /// Mails by event and channel, each as often as it was taken.
    pub mails: HashMap<String, Vec<AcceptedMail>>,
    /// Webhooks by event, each as often as it was taken.
    pub webhooks: HashMap<String, Vec<Received>>,
    /// How many dead letters there are.
    pub dead_letters: usize,
}

/// A stored event.
#[derive(Deserialize)]
pub struct StoredEvent {
    /// Unique.
    pub id: Uuid,
    /// `site.<area>.<event>.v1`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// What the form became.
    pub data: Value,
}

impl StoredEvent {
    /// The address of the visitor.
    pub fn email(&self) -> &str {
        self.data["email"].as_str().unwrap_or_default()
    }

    /// The key of the résumé, where there is one.
    pub fn resume_key(&self) -> Option<&str> {
        self.data["resume"]["key"].as_str()
    }

    /// The mails and webhooks that it calls for.
    pub fn deliveries(&self) -> impl Iterator<Item = Delivery<'_>> {
        let is = |event_type: &EventType| self.event_type == event_type.name();
        let channels = Channel::ALL
            .into_iter()
            .filter(move |channel| is(&channel.event_type()));
        let mails = channels.map(|channel| Delivery::Mail {
            id: format!("{}.{}", self.id, channel.name()),
            recipient: self.recipient(channel),
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

    fn recipient(&self, channel: Channel) -> &str {
        match channel {
            Channel::SalesLead => SALES_TO,
            Channel::RecruiterApplication => RECRUITERS_TO,
            Channel::ContactAcknowledgement
            | Channel::NewsletterConfirmation
            | Channel::NewsletterWelcome
            | Channel::NewsletterGoodbye
            | Channel::ApplicationAcknowledgement => self.email(),
        }
    }
}

/// A mail or webhook that an event calls for.
pub enum Delivery<'a> {
    /// By event and channel.
    Mail {
        id: String,
        recipient: &'a str,
        /// Of the résumé that is to be attached.
        resume_key: Option<&'a str>,
    },
    /// By event.
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
    /// Counts everything.
    ///
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

    /// Every stored event.
    pub fn all_events(&self) -> impl Iterator<Item = &StoredEvent> {
        self.events.values().chain(self.confirmations.values())
    }

    /// When this was taken, in order.
    pub fn taken(&self, delivery: &Delivery<'_>) -> Vec<Instant> {
        match delivery {
            Delivery::Mail { id, .. } => self.mails_of(id).iter().map(|mail| mail.at).collect(),
            Delivery::Webhook { id, .. } => self.webhooks_of(id).iter().map(|webhook| webhook.at).collect(),
        }
    }

    /// What is wrong with it as it was taken.
    pub fn fault_of(&self, delivery: &Delivery<'_>) -> Option<String> {
        match delivery {
            Delivery::Mail {
                id,
                recipient,
                resume_key,
            } => {
                let mails = self.mails_of(id).iter();
                if let Some(other) = mails.clone().find(|mail| mail.recipient != *recipient) {
                    let other = &other.recipient;
                    return Some(format!("{delivery} is for {recipient} and went to {other}"));
                }
                // The object, in its turn, is compared with what the visitor sent.
                let resume = resume_key.and_then(|key| self.objects.get(key));
                let mut wrong = mails.filter(|mail| !mail.attachments.iter().eq(resume));
                let what = match resume_key {
                    Some(_) => "does not hold the whole résumé and nothing else",
                    None => "holds an attachment that nobody asked for",
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

/// Event and channel of a mail: what stands before the `@` of its `Message-ID`.
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
