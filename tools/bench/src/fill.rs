//! Fills a broker with what years of forms would leave there, quickly.

use anyhow::Context as _;
use async_nats::jetstream::{Context, message::PublishMessage};
use site_broker::SUBSCRIBERS_BUCKET;
use site_events::{
    Channel, DEAD_LETTERS_STREAM, SITE_STREAM,
    event::{ContactReceived, Event, EventData},
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR, DEAD_LETTER_TIME},
    subjects,
};
use testkit::publish_all;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

/// Adds contact messages, each of another person, until the stream of events holds so many.
///
/// # Errors
///
/// If the broker does not store one.
pub async fn events_up_to(context: &Context, total: u64) -> anyhow::Result<()> {
    let missing = held(context, SITE_STREAM).await?..total;
    let events = missing.map(|_| {
        let (id, person, payload) = contact_message()?;
        let message = PublishMessage::build().payload(payload.into());
        Ok((
            ContactReceived::TYPE.subject(&person),
            message.message_id(id.to_string()),
        ))
    });
    publish_all(context, events).await
}

/// Adds dead letters, until there are so many.
///
/// # Errors
///
/// If the broker does not store one.
pub async fn dead_letters_up_to(context: &Context, total: u64) -> anyhow::Result<()> {
    let given_up = OffsetDateTime::now_utc().format(&Rfc3339)?;
    let missing = held(context, DEAD_LETTERS_STREAM).await?..total;
    let dead_letters = missing.map(|_| {
        let (_, person, payload) = contact_message()?;
        let message = PublishMessage::build()
            .header(DEAD_LETTER_ERROR, "550 5.1.1 No such user")
            .header(DEAD_LETTER_ATTEMPTS, "90")
            .header(DEAD_LETTER_TIME, given_up.as_str())
            .payload(payload.into());
        let subject = subjects::dead_letter(Channel::SalesLead.name(), person.as_str());
        Ok((subject, message))
    });
    publish_all(context, dead_letters).await
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
    let missing = held(context, &format!("KV_{SUBSCRIBERS_BUCKET}")).await?..total;
    let records = missing.map(|_| {
        let message = PublishMessage::build().payload(record.payload.clone());
        Ok((format!("{}{}", bucket.prefix, person()?), message))
    });
    publish_all(context, records).await
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
