//! The records of all subscribers, as their bucket holds them.

use async_nats::jetstream::message::StreamMessage;
use futures_util::{StreamExt as _, TryStreamExt as _, future::ready};
use site_broker::Messages;
use visitor::PersonId;

use crate::broker::BucketReader;

/// The records of all subscribers, markers of removed ones among them. One that is rewritten meanwhile comes again.
pub fn everybody(bucket: &BucketReader) -> Messages<'_> {
    let is_record = |record: &StreamMessage| {
        let key = bucket.key_of(record);
        key.is_some_and(|key| PersonId::try_from(key.to_owned()).is_ok())
    };
    let records = bucket.records();
    records.try_filter(move |record| ready(is_record(record))).boxed()
}
