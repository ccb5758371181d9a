//! The newsletter service over gRPC, on a real broker.

use std::time::{Duration as Wait, Instant};

use anyhow::Context as _;
use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{self, kv::Store},
};
use clap::Parser;
use futures_util::future::try_join_all;
use newsletter::{Service, Settings};
use serde_json::Value;
use site_broker::{Publisher, SUBSCRIBERS_BUCKET};
use site_events::{
    SITE_STREAM, SUPPRESSION_CONSUMER,
    event::{BounceKind, NewsletterBounced},
};
use site_proto::newsletter::v1::{
    ConfirmRequest, NewsletterForm, SubscribeRequest, UnsubscribeRequest,
    newsletter_service_client::NewsletterServiceClient,
};
use site_service::{RequestId, drain::CancellationToken, status};
use testkit::{Nats, PERSON_KEY, User, eventually};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tonic::{Code, Status, transport::Channel};
use uuid::Uuid;
use visitor::{
    EmailAddress, PersonId, PersonKey,
    token::{Purpose, TokenKey},
};

mod fan_out;

const TOKEN_KEY: &str = "another key for tests, of 32 bytes";
const ADDRESS: &str = "zoe@example.org";
const SOON: Wait = Wait::from_secs(60);

struct Running {
    nats: Nats,
    /// Connected early, because a record can expire while the operator logs in.
    operator: jetstream::Context,
    newsletter: NewsletterServiceClient<Channel>,
    _stop: DropGuard,
}

async fn running() -> anyhow::Result<Running> {
    running_where(|_| {}).await
}

async fn running_where(set: impl FnOnce(&mut Settings)) -> anyhow::Result<Running> {
    let nats = Nats::start().await?;
    let mut settings = settings(&nats)?;
    set(&mut settings);
    let service = Service::build(settings).await?;
    let address = format!("http://127.0.0.1:{}", service.port());
    let stop = CancellationToken::new();
    tokio::spawn(service.run(stop.clone()));
    Ok(Running {
        operator: jetstream::new(nats.client(User::Operator).await?),
        nats,
        newsletter: NewsletterServiceClient::connect(address).await?,
        _stop: stop.drop_guard(),
    })
}

fn settings(nats: &Nats) -> anyhow::Result<Settings> {
    let flags = [
        "newsletter".to_owned(),
        "--listen=127.0.0.1:0".to_owned(),
        format!("--person-key={PERSON_KEY}"),
        format!("--token-key={TOKEN_KEY}"),
    ];
    let flags = flags.into_iter().chain(nats.flags(User::Newsletter));
    Ok(Settings::try_parse_from(flags)?)
}

impl Running {
    async fn sign_up(&self) -> Result<(), Status> {
        self.sign_up_as(ADDRESS).await
    }

    async fn sign_up_as(&self, email: &str) -> Result<(), Status> {
        self.sign_up_under(&Uuid::new_v4().to_string(), email).await
    }

    async fn sign_up_under(&self, key: &str, email: &str) -> Result<(), Status> {
        let form = NewsletterForm {
            email: email.into(),
            ..NewsletterForm::default()
        };
        let request = SubscribeRequest {
            form: Some(form),
            idempotency_key: key.into(),
        };
        self.newsletter.clone().subscribe(request).await.map(drop)
    }

    async fn confirm(&self, token: String) -> Result<(), Status> {
        let request = ConfirmRequest { token };
        self.newsletter.clone().confirm(request).await.map(drop)
    }

    async fn unsubscribe(&self, token: String) -> Result<(), Status> {
        let request = UnsubscribeRequest { token };
        self.newsletter.clone().unsubscribe(request).await.map(drop)
    }

    async fn confirm_by_link(&self) -> anyhow::Result<()> {
        Ok(self.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?)
    }

    async fn unsubscribe_by_link(&self) -> anyhow::Result<()> {
        let token = token(Purpose::Unsubscribe, Duration::HOUR)?;
        Ok(self.unsubscribe(token).await?)
    }

    async fn sign_up_and_confirm(&self) -> anyhow::Result<()> {
        self.sign_up().await?;
        self.confirm_by_link().await
    }

    async fn subscribers(&self) -> anyhow::Result<Store> {
        Ok(self.operator.get_key_value(SUBSCRIBERS_BUCKET).await?)
    }

    /// Record of [`ADDRESS`].
    async fn record(&self) -> anyhow::Result<Value> {
        self.record_of(ADDRESS).await
    }

    async fn record_of(&self, email: &str) -> anyhow::Result<Value> {
        let record = self.subscribers().await?.get(person_of(email)?.as_str()).await?;
        Ok(serde_json::from_slice(&record.context("a record")?)?)
    }

    async fn write_record(&self, record: &Value) -> anyhow::Result<()> {
        let (bucket, person) = (self.subscribers().await?, person_of(ADDRESS)?);
        bucket.put(person.as_str(), record.to_string().into()).await?;
        Ok(())
    }

    async fn bounce(&self) -> anyhow::Result<()> {
        let bounced = NewsletterBounced {
            email: EmailAddress::parse(ADDRESS)?,
            channel: "newsletter-confirmed-welcome".to_owned(),
            reason: "permanent error (550)".to_owned(),
            kind: BounceKind::Hard,
        };
        let publisher = Publisher::new(self.nats.client(User::Operator).await?);
        let (request_id, person) = (RequestId::fresh(), person_of(ADDRESS)?);
        publisher
            .publish(&request_id, Uuid::new_v4(), &person, bounced)
            .await?;
        Ok(())
    }

    /// TTL of the record of [`ADDRESS`] once it is suppressed. `None` is forever.
    async fn suppressed_ttl(&self) -> anyhow::Result<Option<String>> {
        let bucket = self.subscribers().await?;
        let subject = format!("{}{}", bucket.prefix, person_of(ADDRESS)?);
        eventually("it is suppressed", Wait::from_secs(20), async || {
            let message = bucket.stream.get_last_raw_message_by_subject(&subject);
            let message = message.await.ok()?;
            let record: Value = serde_json::from_slice(&message.payload).ok()?;
            let ttl = message.headers.get(NATS_MESSAGE_TTL).map(ToString::to_string);
            (record["state"] == "suppressed").then_some(ttl)
        })
        .await
    }

    async fn event_types(&self) -> anyhow::Result<Vec<String>> {
        let events = self.nats.events().await?;
        let word = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
        Ok(events.iter().map(word).collect())
    }
}

fn person_of(email: &str) -> anyhow::Result<PersonId> {
    Ok(PersonKey::new(PERSON_KEY)?.person(&EmailAddress::parse(email)?))
}

fn token(purpose: Purpose, good_for: Duration) -> anyhow::Result<String> {
    token_of(ADDRESS, purpose, good_for)
}

fn token_of(email: &str, purpose: Purpose, good_for: Duration) -> anyhow::Result<String> {
    let expires = OffsetDateTime::now_utc() + good_for;
    Ok(TokenKey::new(TOKEN_KEY)?.sign(purpose, &person_of(email)?, expires))
}

const REQUESTED: &str = "site.newsletter.requested.v1";
const CONFIRMED: &str = "site.newsletter.confirmed.v1";
const UNSUBSCRIBED: &str = "site.newsletter.unsubscribed.v1";

#[tokio::test]
async fn a_subscription_publishes_one_event_per_step() -> anyhow::Result<()> {
    let running = running().await?;
    for _ in 0..2 {
        running.sign_up().await?;
        running.sign_up().await?;
        let record = running.record().await?;
        assert_eq!(record["state"], "pending");
        assert_eq!(record["email"], ADDRESS);

        running.confirm_by_link().await?;
        running.confirm_by_link().await?;
        running.sign_up().await?;
        let record = running.record().await?;
        assert_eq!(record["state"], "confirmed");
        assert_eq!(record["email"], ADDRESS);

        running.unsubscribe_by_link().await?;
        running.unsubscribe_by_link().await?;
        let record = running.record().await?;
        assert_eq!(record["state"], "unsubscribed");
        assert!(!record.to_string().contains(ADDRESS), "{record}");
        let old_link = running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await;
        let refused = old_link.expect_err("it brings nobody back");
        assert_eq!(refused.code(), Code::InvalidArgument);
    }
    let once = [REQUESTED, CONFIRMED, UNSUBSCRIBED];
    assert_eq!(running.event_types().await?, [once, once].concat());
    let events = running.nats.events().await?;
    assert_eq!(events[2]["data"]["email"], ADDRESS, "the goodbye goes there");
    Ok(())
}

#[tokio::test]
async fn wrong_addresses_and_links_are_refused_with_a_sentence() -> anyhow::Result<()> {
    let running = running().await?;
    let refused = running.sign_up_as("zoe").await.expect_err("no address");
    assert_eq!(status::violations(&refused).keys().collect::<Vec<_>>(), ["email"]);
    let ensure_refused = async |token: String| {
        let refused = running.confirm(token).await.expect_err("no good token");
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(status::violations(&refused).contains_key("token"));
    };
    // Nobody has signed up: confirming fails, and unsubscribing succeeds.
    ensure_refused(token(Purpose::Confirm, Duration::HOUR)?).await;
    running.unsubscribe_by_link().await?;
    running.sign_up().await?;
    for bad in [
        "".to_owned(),
        "forged".to_owned(),
        token(Purpose::Confirm, -Duration::HOUR)?,
        token(Purpose::Unsubscribe, Duration::HOUR)?,
    ] {
        ensure_refused(bad).await;
    }
    assert_eq!(running.event_types().await?, [REQUESTED]);
    Ok(())
}

#[tokio::test]
async fn links_signed_by_the_former_key_still_work() -> anyhow::Result<()> {
    let new = TokenKey::new("the new key for tests, of 32 bytes")?;
    let former = TokenKey::new(TOKEN_KEY)?;
    let running = running_where(|settings| {
        settings.token_key = new.clone();
        settings.token_key_former = Some(former);
    })
    .await?;
    running.sign_up_and_confirm().await?;
    let expires = OffsetDateTime::now_utc() + Duration::HOUR;
    let token = new.sign(Purpose::Unsubscribe, &person_of(ADDRESS)?, expires);
    running.unsubscribe(token).await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
    Ok(())
}

#[tokio::test]
async fn another_persons_key_neither_blocks_nor_reveals_a_sign_up() -> anyhow::Result<()> {
    let running = running().await?;
    running.sign_up_and_confirm().await?;
    for (first, mails) in [(ADDRESS, 1), ("stranger@example.org", 2)] {
        let before = running.event_types().await?.len();
        let key = Uuid::new_v4().to_string();
        running.sign_up_under(&key, first).await?;
        let probe = format!("probe-{mails}@example.org");
        timeout(Wait::from_secs(1), running.sign_up_under(&key, &probe)).await??;
        running.sign_up_under(&key, &probe).await?;
        let after = running.event_types().await?.len();
        assert_eq!(after, before + mails, "after {first}");
    }
    Ok(())
}

#[tokio::test]
async fn a_key_requests_one_mail_until_unsubscribed() -> anyhow::Result<()> {
    let running = running().await?;
    // The gateway derives such a key, the same for an hour, for browsers without scripts.
    let key = format!("content:{}", Uuid::new_v4());
    let other = Uuid::new_v4().to_string();
    running.sign_up_under(&key, ADDRESS).await?;
    for (key, mails) in [(&key, 1), (&other, 2)] {
        let mut record = running.record().await?;
        let long_ago = OffsetDateTime::now_utc() - Duration::minutes(16);
        record["mailed"] = long_ago.format(&Rfc3339)?.into();
        running.write_record(&record).await?;
        running.sign_up_under(key, ADDRESS).await?;
        assert_eq!(running.event_types().await?, vec![REQUESTED; mails]);
    }
    running.unsubscribe_by_link().await?;
    running.sign_up_under(&key, ADDRESS).await?;
    let types = running.event_types().await?;
    assert_eq!(types, [REQUESTED, REQUESTED, UNSUBSCRIBED, REQUESTED]);
    Ok(())
}

#[tokio::test]
async fn sign_up_timing_does_not_reveal_subscribers() -> anyhow::Result<()> {
    const TRIES: usize = 100;
    const ROUNDS: usize = 3;
    let running = running().await?;
    running.sign_up_and_confirm().await?;
    let mut medians = Vec::new();
    for round in 0..ROUNDS {
        let mut taken = [const { Vec::new() }; 2];
        for at in 0..TRIES {
            let stranger = format!("stranger-{round}-{at}@example.org");
            for (taken, email) in taken.iter_mut().zip([ADDRESS, &stranger]) {
                let started = Instant::now();
                running.sign_up_as(email).await?;
                taken.push(started.elapsed());
            }
        }
        let [subscriber, stranger] = taken.map(|mut taken| {
            taken.sort();
            taken[TRIES / 2]
        });
        let ratio = subscriber.as_secs_f64() / stranger.as_secs_f64();
        medians.push(format!("{subscriber:?} of {stranger:?}"));
        if (0.85..=1.15).contains(&ratio) {
            return Ok(());
        }
    }
    anyhow::bail!("the medians differ: {medians:?}")
}

#[tokio::test]
async fn a_repeated_sign_up_completes_a_failed_one() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.nats.stop().await?;
    let refused = running.sign_up().await;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    running.nats.resume_from_disk().await?;
    eventually("the sign-up is taken", SOON, async || {
        running.sign_up().await.ok()
    })
    .await?;
    assert_eq!(running.event_types().await?, [REQUESTED]);
    Ok(())
}

#[tokio::test]
async fn only_an_unconfirmed_first_sign_up_expires() -> anyhow::Result<()> {
    const CONFIRMED_ADDRESS: &str = "asha@example.com";
    const LEFT_ADDRESS: &str = "ravi@example.com";
    let within = Wait::from_secs(4);
    let running = running_where(|settings| settings.confirm_within = within).await?;
    for email in [CONFIRMED_ADDRESS, LEFT_ADDRESS] {
        running.sign_up_as(email).await?;
        let confirm = token_of(email, Purpose::Confirm, Duration::HOUR)?;
        running.confirm(confirm).await?;
    }
    let unsubscribe = token_of(LEFT_ADDRESS, Purpose::Unsubscribe, Duration::HOUR)?;
    running.unsubscribe(unsubscribe).await?;
    running.sign_up_as(LEFT_ADDRESS).await?;
    // Signs up last: any other record that expires would be gone before this one.
    running.sign_up().await?;
    let requested = running.nats.events().await?.pop().context("an event")?;
    let time = |value: &Value| OffsetDateTime::parse(value.as_str().unwrap_or_default(), &Rfc3339);
    let good_for = time(&requested["data"]["expires"])? - time(&requested["time"])?;
    let is_precise = (good_for - within).abs() < Duration::SECOND;
    assert!(is_precise, "the link is good for {good_for}");

    eventually("the first sign-up is forgotten", SOON, async || {
        let bucket = running.subscribers().await.ok()?.stream_name;
        let records = running.operator.get_stream(bucket).await.ok()?;
        (records.cached_info().state.messages == 2).then_some(())
    })
    .await?;
    assert_eq!(running.record_of(CONFIRMED_ADDRESS).await?["state"], "confirmed");
    let left = running.record_of(LEFT_ADDRESS).await?;
    assert!(
        left["confirmed"].is_string() && left["ended"].is_string(),
        "{left}"
    );

    let refused = running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await;
    let refused = refused.expect_err("there is nothing to confirm");
    let sentence = &status::violations(&refused)["token"];
    assert!(sentence.contains("not valid any more"), "{sentence}");
    running.sign_up_and_confirm().await?;
    let types = running.event_types().await?;
    assert_eq!(types[types.len() - 2..], [REQUESTED, CONFIRMED]);
    Ok(())
}

#[tokio::test]
async fn concurrent_requests_publish_one_event_per_step() -> anyhow::Result<()> {
    let running = running().await?;
    try_join_all((0..8).map(|_| running.sign_up())).await?;
    try_join_all((0..8).map(|_| running.confirm_by_link())).await?;
    try_join_all((0..8).map(|_| running.unsubscribe_by_link())).await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
    Ok(())
}

#[tokio::test]
async fn a_different_person_key_fails_the_start() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let mut settings = settings(&nats)?;
    settings.person.person_key = PersonKey::new("another key for tests, of thirty-two bytes")?;
    let refused = Service::build(settings).await.err();
    assert_eq!(
        refused.map(|error| error.to_string()).as_deref(),
        Some("The setting PERSON_KEY is wrong: this installation was set up with another key.")
    );
    Ok(())
}

#[tokio::test]
async fn a_start_before_setup_names_the_command() -> anyhow::Result<()> {
    for what in ["consumer", "bucket"] {
        let nats = Nats::start().await?;
        let context = jetstream::new(nats.client(User::Operator).await?);
        if what == "consumer" {
            context
                .delete_consumer_from_stream(SUPPRESSION_CONSUMER, SITE_STREAM)
                .await?;
        } else {
            context.delete_key_value(SUBSCRIBERS_BUCKET).await?;
        }
        let started = Service::build(settings(&nats)?).await;
        let said = format!("{:#}", started.err().context("it started")?);
        assert!(said.contains(what) && said.contains("sitectl setup"), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn suppressions_without_consent_expire_after_ninety_days() -> anyhow::Result<()> {
    let stranger = running().await?;
    stranger.sign_up().await?;
    stranger.bounce().await?;
    let ttl = stranger.suppressed_ttl().await?.unwrap_or_default();
    assert_eq!(ttl.trim_end_matches('s'), "7776000", "seconds");
    let leaver = running().await?;
    leaver.sign_up().await?;
    leaver.unsubscribe_by_link().await?;
    leaver.bounce().await?;
    leaver.suppressed_ttl().await?;
    let record = leaver.record().await?;
    assert!(!record.to_string().contains(ADDRESS), "{record}");
    Ok(())
}

#[tokio::test]
async fn a_hard_bounce_suppresses_a_subscriber() -> anyhow::Result<()> {
    let running = running().await?;
    running.sign_up_and_confirm().await?;
    running.bounce().await?;
    assert_eq!(running.suppressed_ttl().await?, None);
    Ok(())
}

#[tokio::test]
async fn an_interrupted_unsubscription_is_completed_within_the_hour() -> anyhow::Result<()> {
    for (minutes, told) in [(59, vec![UNSUBSCRIBED]), (61, vec![])] {
        let running = running().await?;
        let left = OffsetDateTime::now_utc() - Duration::minutes(minutes);
        let record = serde_json::json!({
            "email": ADDRESS,
            "subscription": Uuid::from_u128(1),
            "requested": "2026-01-20T12:00:00Z",
            "state": "unsubscribed",
            "since": left.format(&Rfc3339)?,
        });
        running.write_record(&record).await?;
        running.unsubscribe_by_link().await?;
        assert_eq!(running.event_types().await?, told, "{minutes} minutes after");
        let mut after = running.record().await?;
        assert_eq!(after.get("email"), None);
        after["email"] = ADDRESS.into();
        assert_eq!(after, record);
    }
    Ok(())
}
