//! The newsletter service over gRPC, on a real broker.

use clap::Parser;
use newsletter::{Service, Settings};
use serde_json::Value;
use site_proto::newsletter::v1::{
    ConfirmRequest, SubscribeRequest, UnsubscribeRequest, newsletter_service_client::NewsletterServiceClient,
};
use site_service::{drain::CancellationToken, status};
use testkit::{Nats, User};
use time::{Duration, OffsetDateTime};
use tokio_util::sync::DropGuard;
use tonic::{Code, Status, transport::Channel};
use uuid::Uuid;
use visitor::{
    EmailAddress, PersonId, PersonKey,
    token::{Purpose, TokenKey},
};

const PERSON_KEY: &str = "a key for tests, of thirty-two bytes";
const TOKEN_KEY: &str = "another key for tests, of 32 bytes";
const ADDRESS: &str = "zoe@example.org";

struct Running {
    nats: Nats,
    newsletter: NewsletterServiceClient<Channel>,
    _stop: DropGuard,
}

async fn running() -> anyhow::Result<Running> {
    let nats = Nats::start().await?;
    let usual = ["newsletter".into(), "--listen=127.0.0.1:0".into()];
    let keys = [
        format!("--person-key={PERSON_KEY}"),
        format!("--token-key={TOKEN_KEY}"),
    ];
    let flags = usual.into_iter().chain(keys).chain(nats.flags(User::Newsletter));
    let service = Service::build(Settings::try_parse_from(flags)?).await?;
    let address = format!("http://127.0.0.1:{}", service.port());
    let stop = CancellationToken::new();
    tokio::spawn(service.run(stop.clone()));
    Ok(Running {
        nats,
        newsletter: NewsletterServiceClient::connect(address).await?,
        _stop: stop.drop_guard(),
    })
}

impl Running {
    async fn sign_up(&mut self) -> Result<(), Status> {
        let request = SubscribeRequest {
            email: ADDRESS.into(),
            idempotency_key: Uuid::new_v4().to_string(),
            attribution: None,
        };
        self.newsletter.subscribe(request).await.map(drop)
    }

    async fn confirm(&mut self, token: String) -> Result<(), Status> {
        self.newsletter.confirm(ConfirmRequest { token }).await.map(drop)
    }

    async fn unsubscribe(&mut self, token: String) -> Result<(), Status> {
        self.newsletter
            .unsubscribe(UnsubscribeRequest { token })
            .await
            .map(drop)
    }

    async fn event_types(&self) -> anyhow::Result<Vec<String>> {
        let events = self.nats.events().await?;
        let word = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
        Ok(events.iter().map(word).collect())
    }
}

fn person() -> anyhow::Result<PersonId> {
    Ok(PersonKey::new(PERSON_KEY)?.person(&EmailAddress::parse(ADDRESS)?))
}

/// A token as the notifier mails it.
fn token(purpose: Purpose, good_for: Duration) -> anyhow::Result<String> {
    Ok(TokenKey::new(TOKEN_KEY)?.sign(purpose, &person()?, OffsetDateTime::now_utc() + good_for))
}

const REQUESTED: &str = "site.newsletter.requested.v1";
const CONFIRMED: &str = "site.newsletter.confirmed.v1";
const UNSUBSCRIBED: &str = "site.newsletter.unsubscribed.v1";

#[tokio::test]
async fn from_sign_up_over_confirmation_to_goodbye_and_back() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    running.sign_up().await?;
    let seen = running.event_types().await?;
    assert_eq!(seen, [REQUESTED, CONFIRMED, UNSUBSCRIBED, REQUESTED]);
    Ok(())
}

#[tokio::test]
async fn a_second_sign_up_tells_nobody_who_is_subscribed_and_mails_nothing() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    running.sign_up().await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED]);
    Ok(())
}

#[tokio::test]
async fn a_link_that_is_used_twice_does_its_work_once() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    for _ in 0..2 {
        running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    }
    for _ in 0..2 {
        running
            .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
            .await?;
    }
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
    Ok(())
}

#[tokio::test]
async fn forged_expired_and_misused_tokens_are_refused_with_a_sentence() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    for bad in [
        "".to_owned(),
        "forged".to_owned(),
        token(Purpose::Confirm, -Duration::HOUR)?,
        token(Purpose::Unsubscribe, Duration::HOUR)?,
    ] {
        let refused = running.confirm(bad).await.expect_err("no good token");
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(status::violations(&refused).contains_key("token"));
    }
    assert_eq!(running.event_types().await?, [REQUESTED]);
    Ok(())
}

#[tokio::test]
async fn somebody_who_never_signed_up_cannot_be_confirmed() -> anyhow::Result<()> {
    let mut running = running().await?;
    let refused = running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await;
    assert_eq!(
        refused.map_err(|status| status.code()),
        Err(Code::InvalidArgument)
    );
    // Whoever is not known gets no mail: there is nothing left to do.
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    assert!(running.event_types().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn what_is_no_address_is_refused() -> anyhow::Result<()> {
    let mut running = running().await?;
    let request = SubscribeRequest {
        email: "zoe".into(),
        ..SubscribeRequest::default()
    };
    let refused = running
        .newsletter
        .subscribe(request)
        .await
        .expect_err("no address");
    assert_eq!(status::violations(&refused).keys().collect::<Vec<_>>(), ["email"]);
    Ok(())
}

#[tokio::test]
async fn a_sign_up_that_fails_half_way_is_completed_by_repeating_it() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.nats.stop().await?;
    let refused = running.sign_up().await;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    running.nats.resume_from_disk().await?;
    testkit::eventually(
        "the sign-up is taken",
        std::time::Duration::from_secs(10),
        async || running.sign_up().await.ok(),
    )
    .await?;
    assert_eq!(running.event_types().await?, [REQUESTED]);
    Ok(())
}
