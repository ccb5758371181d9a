//! Fills a broker with what years of forms would leave there, quickly.

use std::collections::VecDeque;

use anyhow::Context as _;
use async_nats::{
    HeaderMap,
    header::NATS_MESSAGE_ID,
    jetstream::{Context, context::PublishAckFuture, message::PublishMessage},
};
use site_broker::SUBSCRIBERS_BUCKET;
use site_events::{
    Channel, DEAD_LETTERS_STREAM, SITE_STREAM,
    event::{ContactReceived, Event, EventData},
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR, DEAD_LETTER_TIME},
    subjects,
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

/// How many may be sent and not acknowledged yet. Each by itself would take an hour for a million.
const IN_FLIGHT: usize = 2_000;

/// Sends what is to be stored, many at once.
struct Filling<'a> {
    context: &'a Context,
    acks: VecDeque<PublishAckFuture>,
}

impl<'a> Filling<'a> {
    fn new(context: &'a Context) -> Self {
        Self {
            context,
            acks: VecDeque::with_capacity(IN_FLIGHT),
        }
    }

    async fn send(&mut self, subject: String, headers: HeaderMap, payload: Vec<u8>) -> anyhow::Result<()> {
        if self.acks.len() == IN_FLIGHT {
            self.await_one().await?;
        }
        let message = PublishMessage::build().headers(headers).payload(payload.into());
        self.acks
            .push_back(self.context.send_publish(subject, message).await?);
        Ok(())
    }

    async fn await_one(&mut self) -> anyhow::Result<()> {
        if let Some(ack) = self.acks.pop_front() {
            ack.await?;
        }
        Ok(())
    }

    async fn finish(mut self) -> anyhow::Result<()> {
        while !self.acks.is_empty() {
            self.await_one().await?;
        }
        Ok(())
    }
}

/// Adds contact messages, each of another person, until the stream of events holds so many.
///
/// # Errors
///
/// If the broker does not store one.
pub async fn events_up_to(context: &Context, total: u64) -> anyhow::Result<()> {
    let mut filling = Filling::new(context);
    for _ in held(context, SITE_STREAM).await?..total {
        let (id, person, payload) = contact_message()?;
        let mut headers = HeaderMap::new();
        headers.insert(NATS_MESSAGE_ID, id.to_string());
        filling
            .send(ContactReceived::TYPE.subject(&person), headers, payload)
            .await?;
    }
    filling.finish().await
}

/// Adds dead letters, until there are so many.
///
/// # Errors
///
/// If the broker does not store one.
pub async fn dead_letters_up_to(context: &Context, total: u64) -> anyhow::Result<()> {
    let given_up = OffsetDateTime::now_utc().format(&Rfc3339)?;
    let mut filling = Filling::new(context);
    for _ in held(context, DEAD_LETTERS_STREAM).await?..total {
        let (_, person, payload) = contact_message()?;
        let mut headers = HeaderMap::new();
        headers.insert(DEAD_LETTER_ERROR, "550 5.1.1 No such user");
        headers.insert(DEAD_LETTER_ATTEMPTS, "90");
        headers.insert(DEAD_LETTER_TIME, given_up.as_str());
        let subject = subjects::dead_letter(Channel::SalesLead.name(), person.as_str());
        filling.send(subject, headers, payload).await?;
    }
    filling.finish().await
}

/// Adds subscribers, until there are so many: the record of one who has signed up, again and again.
///
/// # Errors
///
/// If nobody has signed up yet, or the broker does not store one.
pub async fn subscribers_up_to(context: &Context, total: u64) -> anyhow::Result<()> {
    let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
    let any = format!("{}>", bucket.prefix);
    let record = bucket
        .stream
        .get_first_raw_message_by_subject(&any, 1)
        .await
        .context("nobody has signed up")?;
    let held = held(context, &format!("KV_{SUBSCRIBERS_BUCKET}")).await?;
    let mut filling = Filling::new(context);
    for _ in held..total {
        let subject = format!("{}{}", bucket.prefix, person()?);
        filling
            .send(subject, HeaderMap::new(), record.payload.to_vec())
            .await?;
    }
    filling.finish().await
}

async fn held(context: &Context, stream: &str) -> anyhow::Result<u64> {
    Ok(context.get_stream(stream).await?.cached_info().state.messages)
}

/// Its id, its person, and itself.
fn contact_message() -> anyhow::Result<(Uuid, PersonId, Vec<u8>)> {
    let (id, person) = (Uuid::new_v4(), person()?);
    let message = ContactReceived {
        name: "Ada Lovelace".to_owned(),
        email: EmailAddress::parse(&format!("ada.{person}@example.org"))?,
        message: "How many forms a second?".to_owned(),
        attribution: None,
    };
    let event = Event::new(&id.to_string(), id, &person, OffsetDateTime::now_utc(), message);
    Ok((id, person, serde_json::to_vec(&event)?))
}

fn person() -> anyhow::Result<PersonId> {
    let person = PersonId::try_from(Uuid::new_v4().simple().to_string());
    person.map_err(|_| anyhow::anyhow!("that is no person"))
}
