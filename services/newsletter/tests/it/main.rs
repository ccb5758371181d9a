//! The newsletter service over gRPC, on a real broker.

use std::time::{Duration as Wait, Instant};

use anyhow::Context as _;
use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{
        self,
        consumer::{Info, PullConsumer},
    },
};
use clap::Parser;
use newsletter::{Service, Settings};
use serde_json::Value;
use site_broker::{Publisher, SUBSCRIBERS_BUCKET};
use site_events::{
    SITE_STREAM, SUPPRESSION_CONSUMER,
    event::{BounceKind, NewsletterBounced},
};
use site_proto::newsletter::v1::{
    ConfirmRequest, SubscribeRequest, UnsubscribeRequest, newsletter_service_client::NewsletterServiceClient,
};
use site_service::{RequestId, drain::CancellationToken, status};
use subscribers::Subscriber;
use testkit::{Nats, PERSON_KEY, User};
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

struct Running {
    nats: Nats,
    /// Connected early, because a record can expire during a login.
    operator: jetstream::Context,
    newsletter: NewsletterServiceClient<Channel>,
    _stop: DropGuard,
}

async fn running() -> anyhow::Result<Running> {
    running_where(|_| {}).await
}

async fn running_where(set: impl FnOnce(&mut Settings)) -> anyhow::Result<Running> {
    running_on(Nats::start().await?, set).await
}

async fn running_on(nats: Nats, set: impl FnOnce(&mut Settings)) -> anyhow::Result<Running> {
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
    let default_flags = ["newsletter".into(), "--listen=127.0.0.1:0".into()];
    let keys = [
        format!("--person-key={PERSON_KEY}"),
        format!("--token-key={TOKEN_KEY}"),
    ];
    let flags = default_flags
        .into_iter()
        .chain(keys)
        .chain(nats.flags(User::Newsletter));
    Ok(Settings::try_parse_from(flags)?)
}

impl Running {
    async fn sign_up(&mut self) -> Result<(), Status> {
        self.sign_up_as(ADDRESS).await
    }

    async fn sign_up_as(&mut self, email: &str) -> Result<(), Status> {
        self.sign_up_under(&Uuid::new_v4().to_string(), email).await
    }

    async fn sign_up_under(&mut self, key: &str, email: &str) -> Result<(), Status> {
        let request = SubscribeRequest {
            email: email.into(),
            idempotency_key: key.into(),
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

    async fn records(&self) -> anyhow::Result<u64> {
        let bucket = self.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
        let stream = self.operator.get_stream(bucket.stream_name).await?;
        Ok(stream.cached_info().state.messages)
    }

    async fn record_of(&self, email: &str) -> anyhow::Result<Option<Value>> {
        let record = self.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
        let record = record.get(person_of(email)?.as_str()).await?;
        Ok(record.map(|record| serde_json::from_slice(&record)).transpose()?)
    }

    async fn bounce(&self) -> anyhow::Result<()> {
        self.bounce_as(BounceKind::Hard).await
    }

    async fn bounce_as(&self, kind: BounceKind) -> anyhow::Result<()> {
        let bounced = NewsletterBounced {
            email: EmailAddress::parse(ADDRESS)?,
            channel: "newsletter-confirmed-welcome".to_owned(),
            reason: "permanent error (550)".to_owned(),
            kind,
        };
        let publisher = Publisher::new(self.nats.client(User::Operator).await?);
        let request_id = RequestId::fresh();
        publisher
            .publish(&request_id, Uuid::new_v4(), &person()?, bounced)
            .await?;
        Ok(())
    }

    /// TTL of the record of [`ADDRESS`] in this state. `None` is forever.
    async fn ttl_as(&self, state: &str) -> anyhow::Result<Option<String>> {
        let bucket = self.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
        let subject = format!("{}{}", bucket.prefix, person()?);
        testkit::eventually(&format!("it is {state}"), Wait::from_secs(20), async || {
            let message = bucket
                .stream
                .get_last_raw_message_by_subject(&subject)
                .await
                .ok()?;
            let record: Value = serde_json::from_slice(&message.payload).ok()?;
            let ttl = message.headers.get(NATS_MESSAGE_TTL).map(ToString::to_string);
            (record["state"] == state).then_some(ttl)
        })
        .await
    }

    async fn suppressing(&self) -> anyhow::Result<Info> {
        let consumer: PullConsumer = self
            .operator
            .get_consumer_from_stream(SUPPRESSION_CONSUMER, SITE_STREAM)
            .await?;
        Ok(consumer.cached_info().clone())
    }

    async fn settled(&self) -> anyhow::Result<()> {
        testkit::eventually("all bounces are heeded", Wait::from_secs(20), async || {
            let suppressing = self.suppressing().await.ok()?;
            (suppressing.num_pending == 0 && suppressing.num_ack_pending == 0).then_some(())
        })
        .await
    }

    async fn event_types(&self) -> anyhow::Result<Vec<String>> {
        let events = self.nats.events().await?;
        let word = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
        Ok(events.iter().map(word).collect())
    }
}

fn person() -> anyhow::Result<PersonId> {
    person_of(ADDRESS)
}

fn person_of(email: &str) -> anyhow::Result<PersonId> {
    Ok(PersonKey::new(PERSON_KEY)?.person(&EmailAddress::parse(email)?))
}

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
async fn while_the_key_changes_links_by_the_former_one_still_work() -> anyhow::Result<()> {
    let (new, former) = (
        TokenKey::new("the new key for tests, of 32 bytes")?,
        TokenKey::new(TOKEN_KEY)?,
    );
    let mut running = running_where(|settings| {
        settings.token_key = new.clone();
        settings.token_key_former = Some(former);
    })
    .await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    let expires = OffsetDateTime::now_utc() + Duration::HOUR;
    running
        .unsubscribe(new.sign(Purpose::Unsubscribe, &person()?, expires))
        .await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
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
    // An unknown person gets no mail, so leaving succeeds.
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

/// A key must not reveal another person's sign-up or its outcome.
#[tokio::test]
async fn a_key_that_somebody_else_used_is_as_good_as_any() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    for (first, mails) in [(ADDRESS, 1), ("stranger@example.org", 2)] {
        let before = running.event_types().await?.len();
        let key = Uuid::new_v4().to_string();
        running.sign_up_under(&key, first).await?;
        let probe = format!("probe-{mails}@example.org");
        timeout(Wait::from_secs(1), running.sign_up_under(&key, &probe)).await??;
        running.sign_up_under(&key, &probe).await?;
        assert_eq!(
            running.event_types().await?.len(),
            before + mails,
            "after {first}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn the_same_key_asks_for_one_mail_however_late_it_comes_and_another_for_another() -> anyhow::Result<()>
{
    let mut running = running().await?;
    let [key, other] = [(); 2].map(|()| Uuid::new_v4().to_string());
    running.sign_up_under(&key, ADDRESS).await?;
    for (key, mails) in [(&key, 1), (&other, 2)] {
        let mut record = running.record_of(ADDRESS).await?.context("a record")?;
        let long_ago = OffsetDateTime::now_utc() - Duration::minutes(16);
        record["mailed"] = long_ago.format(&Rfc3339)?.into();
        let bucket = running.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
        bucket.put(person()?.as_str(), record.to_string().into()).await?;
        running.sign_up_under(key, ADDRESS).await?;
        assert_eq!(running.event_types().await?, vec![REQUESTED; mails]);
    }
    Ok(())
}

/// The key of a browser without scripts stays the same for an hour.
#[tokio::test]
async fn whoever_left_and_signs_up_again_under_the_same_key_is_mailed_again() -> anyhow::Result<()> {
    let mut running = running().await?;
    let key = format!("content:{}", Uuid::new_v4());
    running.sign_up_under(&key, ADDRESS).await?;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    running.sign_up_under(&key, ADDRESS).await?;
    assert_eq!(running.event_types().await?, [REQUESTED, UNSUBSCRIBED, REQUESTED]);
    Ok(())
}

/// A subscriber's sign-up stores as much and takes as long as any other.
#[tokio::test]
async fn no_clock_tells_who_is_subscribed() -> anyhow::Result<()> {
    const TRIES: usize = 100;
    const ROUNDS: usize = 3;
    let mut running = running().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
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
async fn a_sign_up_that_fails_half_way_is_completed_by_repeating_it() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.nats.stop().await?;
    let refused = running.sign_up().await;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    running.nats.resume_from_disk().await?;
    testkit::eventually("the sign-up is taken", Wait::from_secs(45), async || {
        running.sign_up().await.ok()
    })
    .await?;
    assert_eq!(running.event_types().await?, [REQUESTED]);
    Ok(())
}

/// Found by `tools/reliability/tests/model`. A sign-up died before it requested the mail. Another within 30 s
/// promised a mail that nobody sent.
#[tokio::test]
async fn a_sign_up_beside_one_that_was_cut_off_asks_for_the_mail_itself() -> anyhow::Result<()> {
    let mut running = running().await?;
    let now = OffsetDateTime::now_utc();
    let cut_off = Uuid::new_v4();
    let email = EmailAddress::parse(ADDRESS)?;
    let subscription = Uuid::new_v4();
    let pending = Subscriber::signed_up(None, email, None, now, cut_off, subscription);
    let pending = serde_json::to_vec(&pending.context("a first sign-up is stored")?)?;
    let bucket = running.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
    bucket.put(person()?.as_str(), pending.into()).await?;

    running.sign_up().await?;
    assert_eq!(running.event_types().await?, [REQUESTED]);
    // If the first sign-up continues after all, there is still one mail.
    let events = running.nats.events().await?;
    let id = Uuid::new_v5(&subscription, cut_off.as_bytes());
    assert_eq!(events[0]["id"], id.to_string());
    let record = running.record_of(ADDRESS).await?.context("a record")?;
    assert!(record["mailed"].is_string(), "{record}");
    running.sign_up().await?;
    assert_eq!(running.event_types().await?, [REQUESTED]);
    Ok(())
}

#[tokio::test]
async fn a_sign_up_that_nobody_confirms_is_forgotten_and_may_be_made_anew() -> anyhow::Result<()> {
    let within = Wait::from_secs(4);
    let mut running = running_where(|settings| settings.confirm_within = within).await?;
    running.sign_up().await?;
    assert_eq!(running.records().await?, 1);
    let requested = &running.nats.events().await?[0];
    let time = |value: &Value| OffsetDateTime::parse(value.as_str().unwrap_or_default(), &Rfc3339);
    let good_for = time(&requested["data"]["expires"])? - time(&requested["time"])?;
    assert!(
        (good_for - within).abs() < Duration::SECOND,
        "the link is good for {good_for}"
    );

    testkit::eventually("the bucket is empty", Wait::from_secs(45), async || {
        (running.records().await.ok()? == 0).then_some(())
    })
    .await?;
    let refused = running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await;
    let refused = refused.expect_err("there is nothing to confirm");
    let sentence = &status::violations(&refused)["token"];
    assert!(sentence.contains("not valid any more"), "{sentence}");

    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    assert_eq!(running.event_types().await?, [REQUESTED, REQUESTED, CONFIRMED]);
    Ok(())
}

#[tokio::test]
async fn what_was_confirmed_in_time_stays() -> anyhow::Result<()> {
    let mut running = running_where(|settings| settings.confirm_within = Wait::from_secs(4)).await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    // It is younger: the first would have expired before it.
    running.sign_up_as("asha@example.com").await?;
    testkit::eventually("the later one is forgotten", Wait::from_secs(45), async || {
        running
            .record_of("asha@example.com")
            .await
            .ok()?
            .is_none()
            .then_some(())
    })
    .await?;
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert_eq!(record["state"], "confirmed");
    assert_eq!(running.records().await?, 1);
    Ok(())
}

#[tokio::test]
async fn whoever_left_stays_known_however_often_their_address_is_typed() -> anyhow::Result<()> {
    let mut running = running_where(|settings| settings.confirm_within = Wait::from_secs(4)).await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    running.sign_up().await?;
    running.sign_up_as("asha@example.com").await?;
    testkit::eventually("the later one is forgotten", Wait::from_secs(45), async || {
        (running.records().await.ok()? == 1).then_some(())
    })
    .await?;
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert!(
        record["confirmed"].is_string() && record["ended"].is_string(),
        "{record}"
    );
    Ok(())
}

#[tokio::test]
async fn links_of_a_former_subscription_mean_the_person_and_not_more() -> anyhow::Result<()> {
    let mut running = running().await?;
    let (old_confirm, old_unsubscribe) = (
        token(Purpose::Confirm, Duration::HOUR)?,
        token(Purpose::Unsubscribe, Duration::HOUR)?,
    );
    running.sign_up().await?;
    running.confirm(old_confirm.clone()).await?;
    running.unsubscribe(old_unsubscribe.clone()).await?;
    let refused = running.confirm(old_confirm.clone()).await;
    assert_eq!(
        refused.map_err(|status| status.code()),
        Err(Code::InvalidArgument),
        "it brings nobody back"
    );

    running.sign_up().await?;
    running.confirm(old_confirm).await?;
    running.unsubscribe(old_unsubscribe).await?;
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert_eq!(record["state"], "unsubscribed");
    let seen = running.event_types().await?;
    let twice = [
        REQUESTED,
        CONFIRMED,
        UNSUBSCRIBED,
        REQUESTED,
        CONFIRMED,
        UNSUBSCRIBED,
    ];
    assert_eq!(seen, twice, "the second subscription's events are its own");
    Ok(())
}

#[tokio::test]
async fn requests_of_the_same_moment_all_get_an_answer_and_cause_one_event_each() -> anyhow::Result<()> {
    let mut running = running().await?;
    let at_once = async |running: &Running, step: Step| -> anyhow::Result<()> {
        let mut requests = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let (mut client, step) = (running.newsletter.clone(), step.clone());
            requests.spawn(async move { step.take(&mut client).await });
        }
        for answer in requests.join_all().await {
            answer?;
        }
        Ok(())
    };
    at_once(&running, Step::SignUp).await?;
    at_once(&running, Step::Confirm(token(Purpose::Confirm, Duration::HOUR)?)).await?;
    let out = token(Purpose::Unsubscribe, Duration::HOUR)?;
    at_once(&running, Step::Unsubscribe(out)).await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
    running.sign_up().await?;
    Ok(())
}

#[derive(Clone)]
enum Step {
    SignUp,
    Confirm(String),
    Unsubscribe(String),
}

impl Step {
    async fn take(self, client: &mut NewsletterServiceClient<Channel>) -> Result<(), Status> {
        match self {
            Self::SignUp => {
                let request = SubscribeRequest {
                    email: ADDRESS.into(),
                    idempotency_key: Uuid::new_v4().to_string(),
                    attribution: None,
                };
                client.subscribe(request).await.map(drop)
            }
            Self::Confirm(token) => client.confirm(ConfirmRequest { token }).await.map(drop),
            Self::Unsubscribe(token) => client.unsubscribe(UnsubscribeRequest { token }).await.map(drop),
        }
    }
}

#[tokio::test]
async fn with_another_key_of_person_ids_it_does_not_start() -> anyhow::Result<()> {
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
async fn a_start_before_the_set_up_says_what_to_run() -> anyhow::Result<()> {
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
        let said = started
            .err()
            .map(|error| format!("{error:#}"))
            .unwrap_or_default();
        assert!(
            said.contains(what) && said.contains("sitectl setup"),
            "{what}: {said}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn three_mails_that_were_not_taken_for_now_suppress_and_two_do_not() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    for times in 1..=2 {
        running.bounce_as(BounceKind::Soft).await?;
        running.settled().await?;
        let record = running.record_of(ADDRESS).await?.unwrap_or_default();
        assert_eq!(
            (&record["state"], &record["came_back"]["times"]),
            (&"confirmed".into(), &times.into())
        );
    }
    running.bounce_as(BounceKind::Soft).await?;
    running.ttl_as("suppressed").await?;
    Ok(())
}

#[tokio::test]
async fn a_stranger_whose_mail_came_back_is_forgotten_after_ninety_days_and_who_had_consented_is_not()
-> anyhow::Result<()> {
    const NINETY_DAYS: &str = "7776000";
    let mut running = running().await?;
    running.sign_up().await?;
    running.bounce().await?;
    let ttl = running.ttl_as("suppressed").await?.unwrap_or_default();
    assert_eq!(ttl.trim_end_matches('s'), NINETY_DAYS);
    let mut running = self::running().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    running.bounce().await?;
    assert_eq!(running.ttl_as("suppressed").await?, None);
    Ok(())
}

#[tokio::test]
async fn a_goodbye_that_failed_half_way_is_told_within_the_hour_and_none_later() -> anyhow::Result<()> {
    for (minutes, told) in [(59, vec![UNSUBSCRIBED]), (61, vec![])] {
        let mut running = running().await?;
        let left = OffsetDateTime::now_utc() - Duration::minutes(minutes);
        let record = serde_json::json!({
            "email": ADDRESS,
            "subscription": Uuid::from_u128(1),
            "requested": "2026-01-20T12:00:00Z",
            "state": "unsubscribed",
            "since": left.format(&Rfc3339)?,
        });
        let bucket = running.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
        bucket.put(person()?.as_str(), record.to_string().into()).await?;
        running
            .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
            .await?;
        assert_eq!(running.event_types().await?, told, "{minutes} minutes after");
        let mut after = running.record_of(ADDRESS).await?.unwrap_or_default();
        assert_eq!(after.get("email"), None);
        after["email"] = ADDRESS.into();
        assert_eq!(after, record);
    }
    Ok(())
}

#[tokio::test]
async fn whoever_left_leaves_no_address_behind_and_may_come_back() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    let out = token(Purpose::Unsubscribe, Duration::HOUR)?;
    running.unsubscribe(out.clone()).await?;
    let events = running.nats.events().await?;
    assert_eq!(events[2]["data"]["email"], ADDRESS, "the goodbye goes there");
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert_eq!(record["state"], "unsubscribed");
    assert!(!record.to_string().contains(ADDRESS), "{record}");

    running.unsubscribe(out).await?;
    assert_eq!(running.event_types().await?, [REQUESTED, CONFIRMED, UNSUBSCRIBED]);
    running.sign_up().await?;
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert_eq!(
        (&record["state"], &record["email"]),
        (&"pending".into(), &ADDRESS.into())
    );
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert_eq!(
        (&record["state"], &record["email"]),
        (&"confirmed".into(), &ADDRESS.into())
    );
    Ok(())
}

#[tokio::test]
async fn whose_goodbye_comes_back_leaves_no_address_behind_either() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.sign_up().await?;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    running.bounce().await?;
    running.ttl_as("suppressed").await?;
    let record = running.record_of(ADDRESS).await?.unwrap_or_default();
    assert!(!record.to_string().contains(ADDRESS), "{record}");
    Ok(())
}
