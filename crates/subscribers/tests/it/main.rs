//! Tests the subscribers' bucket on a real broker.

use subscribers::{Subscriber, Subscribers};
use testkit::{Nats, User};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{EmailAddress, PersonKey};

#[tokio::test]
async fn a_sign_up_is_known_at_once_on_every_server() -> anyhow::Result<()> {
    const SIGN_UPS: usize = 200;
    let nats = Nats::start_cluster().await?;
    nats.wait_until_current().await?;
    let mut buckets = Vec::new();
    for server in 0..nats.servers.len() {
        buckets.push(Subscribers::open(nats.client_of(server, User::Newsletter).await?).await?);
    }
    let key = PersonKey::new("a person key of thirty-two bytes or more")?;
    for number in 0..SIGN_UPS {
        let email = EmailAddress::parse(&format!("visitor-{number}@example.org"))?;
        let (person, now) = (key.person(&email), OffsetDateTime::now_utc());
        let subscriber = Subscriber::imported(email, None, now, Uuid::new_v4());
        let written = buckets[0].write(&person, &subscriber, 0, None);
        written.await?;
        for (server, bucket) in buckets.iter().enumerate() {
            let entry = bucket.read(&person).await?;
            assert!(entry.value.is_some(), "server {server}, sign-up {number}");
        }
    }
    Ok(())
}
