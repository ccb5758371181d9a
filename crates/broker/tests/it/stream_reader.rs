//! Reading a stream in batches.

use async_nats::{
    HeaderMap,
    header::NATS_SUBJECT,
    jetstream::{Context, message::PublishMessage},
};
use futures_util::TryStreamExt as _;
use site_broker::StreamReader;
use site_events::DEAD_LETTERS_STREAM;
use testkit::{Nats, publish_all};

use crate::support::operator;

const ASHA: &str = "dead.contact-received-sales.asha";

struct Letters {
    _nats: Nats,
    context: Context,
    reader: StreamReader,
}

impl Letters {
    async fn start() -> anyhow::Result<Self> {
        let nats = Nats::start().await?;
        let context = operator(&nats).await?;
        let stream = context.get_stream(DEAD_LETTERS_STREAM).await?;
        Ok(Self {
            _nats: nats,
            reader: StreamReader::new(&context, stream),
            context,
        })
    }

    async fn publish(&self, count: usize, bytes: usize) -> anyhow::Result<()> {
        let letters = (0..count).map(|number| {
            let subject = format!("dead.contact-received-sales.other-{number}");
            let letter = PublishMessage::build().payload(vec![b'x'; bytes].into());
            Ok((subject, letter))
        });
        publish_all(&self.context, letters).await
    }
}

#[tokio::test]
async fn a_stream_is_read_in_order_with_concurrent_messages() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    let reader = &letters.reader;
    assert!(reader.all().try_next().await?.is_none());
    letters.publish(1_200, 2).await?;
    reader.stream().delete_message(600).await?;
    let mut all = reader.all();
    let mut read = Vec::new();
    while let Some(letter) = all.try_next().await? {
        read.push(letter.sequence);
        if read.len() == 1_199 {
            letters.publish(3, 2).await?;
        }
    }
    let expected: Vec<u64> = (1..=1_203).filter(|number| *number != 600).collect();
    assert_eq!(read, expected);
    assert_eq!(reader.count("dead.*.*").await?, 1_202);
    assert_eq!(reader.count("dead.*.other-7").await?, 1);
    assert_eq!(reader.count("dead.*.nobody").await?, 0);
    Ok(())
}

#[tokio::test]
async fn messages_that_fill_a_batch_by_their_size_all_arrive() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    letters.publish(12, 900_000).await?;
    let all = letters.reader.all().map_ok(|letter| letter.payload.len());
    assert_eq!(all.try_collect::<Vec<usize>>().await?, [900_000; 12]);
    Ok(())
}

#[tokio::test]
async fn messages_under_a_subject_are_read_with_their_own_headers() -> anyhow::Result<()> {
    let letters = Letters::start().await?;
    letters.publish(2, 2).await?;
    let mut headers = HeaderMap::new();
    headers.insert("Dead-Letter-Error", "550 no such user");
    // These headers look as if copied from another message.
    headers.insert(NATS_SUBJECT, "dead.another");
    headers.insert("Nats-Last-Sequence", "7");
    for _ in 0..2 {
        let stored = letters
            .context
            .publish_with_headers(ASHA, headers.clone(), "{}".into());
        stored.await?.await?;
    }
    let read: Vec<_> = letters.reader.under("dead.*.asha").try_collect().await?;
    assert_eq!(read.len(), 2);
    for letter in read {
        assert_eq!(letter.subject.as_str(), ASHA);
        assert_eq!(letter.headers, headers);
    }
    Ok(())
}
