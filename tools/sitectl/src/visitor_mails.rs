//! The records of the mails that visitors got within a day. They lie under ids of inboxes, which an address has many of, and name
//! events: a person's are those that name one of theirs.

use std::collections::BTreeSet;

use async_nats::jetstream::message::StreamMessage;
use futures_util::{TryStreamExt as _, future::ready};
use serde_json::Value;
use site_events::{Channel, subjects};
use uuid::Uuid;
use visitor::InboxId;

use crate::broker::{self, BucketReader};

/// The records that count mails for some of these events: among those of these inboxes, or where they are not known among all of
/// the bucket.
///
/// # Errors
///
/// If the broker does not answer.
pub async fn search(
    bucket: &BucketReader,
    inboxes: Option<&[InboxId]>,
    events: &BTreeSet<Uuid>,
) -> anyhow::Result<Vec<StreamMessage>> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let counts_theirs = |record: &StreamMessage| {
        !is_of_staff(&record.subject) && counts_any_of(&broker::content(record), events)
    };
    let Some(inboxes) = inboxes else {
        let records = bucket.records();
        return Ok(records
            .try_filter(|record| ready(counts_theirs(record)))
            .try_collect()
            .await?);
    };
    let mut records = Vec::new();
    for inbox in inboxes {
        records.extend(bucket.search(inbox.as_str()).await?);
    }
    records.retain(counts_theirs);
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
