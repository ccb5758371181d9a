//! The subscribers' bucket on a real broker.

use std::time::Duration;

use site_broker::RecordError;
use subscribers::{Retention, Subscriber, Subscribers};
use testkit::{Nats, User, eventually};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

const TIMEOUT: Duration = Duration::from_secs(20);

fn signed_up() -> anyhow::Result<(PersonId, Subscriber)> {
    signed_up_as("ada@example.org")
}

fn signed_up_as(email: &str) -> anyhow::Result<(PersonId, Subscriber)> {
    let email = EmailAddress::parse(email)?;
    let person = PersonKey::new("a person key of thirty-two bytes or more")?.person(&email);
    let now = OffsetDateTime::now_utc();
    let subscriber = Subscriber::signed_up(None, email, None, now, Uuid::new_v4(), Uuid::new_v4());
    Ok((person, subscriber.expect("nothing is known of her")))
}

async fn opened(nats: &Nats) -> anyhow::Result<Subscribers> {
    Ok(Subscribers::open(nats.client(User::Newsletter).await?).await?)
}

#[tokio::test]
async fn a_record_is_changed_and_removed_only_by_who_has_read_it_last() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let bucket = opened(&nats).await?;
    let (person, subscriber) = signed_up()?;

    let first = bucket.write(&person, &subscriber, 0, Retention::Forever).await?;
    let known = bucket.read(&person).await?;
    assert_eq!(
        (known.subscriber.as_ref(), known.revision),
        (Some(&subscriber), first)
    );

    let mailed = subscriber.clone().mailed(OffsetDateTime::now_utc());
    let second = bucket.write(&person, &mailed, first, Retention::Forever).await?;
    assert!(second > first);
    let stale = bucket
        .write(&person, &subscriber, first, Retention::Forever)
        .await;
    assert!(matches!(stale, Err(RecordError::Conflict)), "{stale:?}");
    assert!(bucket.delete(&person, first).await.is_err());
    assert_eq!(bucket.read(&person).await?.subscriber, Some(mailed));

    bucket.delete(&person, second).await?;
    assert_eq!(bucket.read(&person).await?.subscriber, None);
    Ok(())
}

#[tokio::test]
async fn a_record_that_is_kept_for_a_time_goes_by_itself() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let bucket = opened(&nats).await?;
    let (person, subscriber) = signed_up()?;
    bucket
        .write(
            &person,
            &subscriber,
            0,
            Retention::Expires(Duration::from_secs(1)),
        )
        .await?;
    eventually("the record expires", TIMEOUT, async || {
        let known = bucket.read(&person).await.ok()?;
        known.subscriber.is_none().then_some(())
    })
    .await
}

#[tokio::test]
async fn whoever_signed_up_is_known_at_once_whichever_server_is_asked() -> anyhow::Result<()> {
    const SIGN_UPS: usize = 200;
    let nats = Nats::start_cluster().await?;
    nats.wait_until_current().await?;
    let mut buckets = Vec::new();
    for server in 0..nats.servers.len() {
        buckets.push(Subscribers::open(nats.client_of(server, User::Newsletter).await?).await?);
    }
    for number in 0..SIGN_UPS {
        let (person, subscriber) = signed_up_as(&format!("visitor-{number}@example.org"))?;
        buckets[0]
            .write(&person, &subscriber, 0, Retention::Forever)
            .await?;
        for (server, bucket) in buckets.iter().enumerate() {
            let entry = bucket.read(&person).await?;
            assert!(entry.subscriber.is_some(), "server {server}, sign-up {number}");
        }
    }
    Ok(())
}
