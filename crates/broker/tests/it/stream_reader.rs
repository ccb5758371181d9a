//! Reading a stream in batches.

use std::sync::atomic::Ordering;

use async_nats::{Client, HeaderMap, header::NATS_SUBJECT, jetstream};
use bytes::Bytes;
use futures_util::{TryStreamExt as _, future::try_join_all};
use site_broker::StreamReader;
use site_events::DEAD_LETTERS_STREAM;
use testkit::{Nats, User};

const ASHA: &str = "dead.contact-received-sales.asha";

struct Letters {
    _nats: Nats,
    client: Client,
    context: jetstream::Context,
}

impl Letters {
    async fn start() -> anyhow::Result<Self> {
        let nats = Nats::start().await?;
        let client = nats.client(User::Operator).await?;
        let context = jetstream::new(client.clone());
        Ok(Self {
            _nats: nats,
            client,
            context,
        })
    }

    async fn publish(
        &self,
        subjects: impl IntoIterator<Item = String>,
        payload: Bytes,
    ) -> anyhow::Result<()> {
        let mut acks = Vec::new();
        for subject in subjects {
            acks.push(
                self.context
                    .publish(subject, payload.clone())
                    .await?
                    .into_future(),
            );
        }
        try_join_all(acks).await?;
        Ok(())
    }

    async fn publish_of_others(&self, count: usize) -> anyhow::Result<()> {
        let subjects = (0..count).map(|number| format!("dead.contact-received-sales.other-{number}"));
        self.publish(subjects, "{}".into()).await
    }

    async fn reader(&self) -> anyhow::Result<StreamReader> {
        let stream = self.context.get_stream(DEAD_LETTERS_STREAM).await?;
        Ok(StreamReader::new(&self.context, stream))
    }

    fn sent(&self) -> u64 {
        self.client.statistics().out_messages.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn all_of_a_stream_is_read_in_order_at_a_request_for_each_batch() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    let reader = letters.reader().await?;
    assert!(reader.all().try_next().await?.is_none());
    letters.publish_of_others(1_200).await?;
    reader.stream().delete_message(600).await?;
    let before = letters.sent();
    let read: Vec<u64> = reader
        .all()
        .map_ok(|letter| letter.sequence)
        .try_collect()
        .await?;
    let expected: Vec<u64> = (1..=1_200).filter(|number| *number != 600).collect();
    assert_eq!(read, expected);
    assert_eq!(
        letters.sent() - before,
        4,
        "three batches, and whether there is more"
    );
    assert_eq!(reader.count("dead.*.*").await?, 1_199);
    assert_eq!(reader.count("dead.*.other-7").await?, 1);
    assert_eq!(reader.count("dead.*.nobody").await?, 0);
    Ok(())
}

#[tokio::test]
async fn messages_that_fill_a_batch_by_their_size_all_arrive() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    let subjects = (0..12).map(|number| format!("dead.contact-received-sales.{number}"));
    letters.publish(subjects, vec![b'x'; 900_000].into()).await?;
    let reader = letters.reader().await?;
    let lengths: Vec<usize> = reader
        .all()
        .map_ok(|letter| letter.payload.len())
        .try_collect()
        .await?;
    assert_eq!(lengths, [900_000; 12]);
    Ok(())
}

#[tokio::test]
async fn a_message_is_read_with_the_headers_that_it_was_stored_with() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    let mut headers = HeaderMap::new();
    headers.insert("Dead-Letter-Error", "550 no such user");
    // As after copying all headers of another message.
    headers.insert(NATS_SUBJECT, "dead.another");
    headers.insert("Nats-Last-Sequence", "7");
    for _ in 0..2 {
        let sent = letters
            .context
            .publish_with_headers(ASHA, headers.clone(), "{}".into());
        sent.await?.await?;
    }
    let read: Vec<_> = letters.reader().await?.all().try_collect().await?;
    assert_eq!(read.len(), 2);
    for letter in read {
        assert_eq!(letter.subject.as_str(), ASHA);
        assert_eq!(letter.headers, headers);
    }
    Ok(())
}

#[tokio::test]
async fn what_comes_while_a_stream_is_read_is_read_too() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    letters.publish_of_others(2).await?;
    let reader = letters.reader().await?;
    let mut all = reader.all();
    assert!(all.try_next().await?.is_some() && all.try_next().await?.is_some());
    letters.publish_of_others(3).await?;
    assert_eq!(all.try_collect::<Vec<_>>().await?.len(), 3);
    Ok(())
}

#[tokio::test]
async fn what_lies_under_few_subjects_takes_as_many_requests_however_much_others_have_stored()
-> anyhow::Result<()> {
    let letters = Letters::start().await?;
    let mut asked = Vec::new();
    for others in [10, 1_000] {
        letters.publish([ASHA.to_owned()], "{}".into()).await?;
        letters.publish_of_others(others).await?;
        letters.publish([ASHA.to_owned()], "{}".into()).await?;
        let reader = letters.reader().await?;
        let before = letters.sent();
        let found: Vec<_> = reader.under("dead.*.asha").try_collect().await?;
        asked.push(letters.sent() - before);
        assert!(found.iter().all(|letter| letter.subject.as_str() == ASHA));
        assert_eq!(found.len(), 2 * asked.len());
    }
    assert_eq!(asked[0], asked[1]);
    Ok(())
}
