//! The records of the mails that visitors got within a day. They lie under ids of inboxes, which an address has many of, so a
//! person's are found by their events, which a record names.

use std::collections::BTreeSet;

use async_nats::jetstream::{kv::Store as Bucket, message::StreamMessage};
use serde_json::Value;
use site_events::{Channel, subjects};
use uuid::Uuid;

use crate::broker;

/// The records of inboxes that got mails for some of these events.
///
/// # Errors
///
/// If the broker does not answer.
pub async fn search(bucket: &Bucket, events: &BTreeSet<Uuid>) -> anyhow::Result<Vec<StreamMessage>> {
    let (mut records, mut from) = (Vec::new(), 1);
    if events.is_empty() {
        return Ok(records);
    }
    let everybody = format!("{}*", bucket.prefix);
    while let Some(message) = broker::next(&bucket.stream, &everybody, from).await? {
        from = message.sequence + 1;
        if !is_of_staff(&message.subject) && counts_any_of(&broker::content(&message), events) {
            records.push(message);
        }
    }
    Ok(records)
}

/// Whether it is the record of what our own people got within an hour, which lies under the channel's name.
fn is_of_staff(subject: &str) -> bool {
    let key = subjects::person_of(subject);
    Channel::ALL.into_iter().any(|channel| channel.name() == key)
}

/// Whether a record counts a mail for one of these events.
fn counts_any_of(record: &Value, events: &BTreeSet<Uuid>) -> bool {
    let mails = record["mails"].as_object().into_iter().flatten();
    let mut counted = mails.filter_map(|(mail, _)| mail.split_once('.')?.0.parse().ok());
    counted.any(|event: Uuid| events.contains(&event))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_is_a_persons_where_it_counts_a_mail_for_their_event_and_no_channels_is() {
        let [theirs, another] = [1, 2].map(Uuid::from_u128);
        let record = |event: Uuid| {
            let mail = format!("{event}.{}", Channel::ContactAcknowledgement.name());
            json!({ "mails": { mail: 1_795_176_000 } })
        };
        let events = BTreeSet::from([theirs]);
        assert!(counts_any_of(&record(theirs), &events));
        assert!(!counts_any_of(&record(another), &events));
        for unreadable in [
            json!("broken"),
            json!({}),
            json!({ "mails": { "a": 1, "a.b": 1 } }),
        ] {
            assert!(!counts_any_of(&unreadable, &events), "{unreadable}");
        }
        assert!(is_of_staff("$KV.visitor-mails.contact-received-sales"));
        assert!(!is_of_staff("$KV.visitor-mails.0123456789abcdef0123456789abcdef"));
    }
}
