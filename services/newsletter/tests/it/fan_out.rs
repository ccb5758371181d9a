//! An issue is handed out: whom it reaches, whoever is killed meanwhile, and what the operator says.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration as Wait,
};

use anyhow::Context as _;
use async_nats::jetstream::{self, consumer::PullConsumer};
use futures_util::StreamExt;
use issues::{IssueProgress, IssueState, Issues};
use serde_json::Value;
use site_broker::{Publisher, SUBSCRIBERS_BUCKET};
use site_events::{
    FAN_OUT_CONSUMER, IssueId, SENDINGS_CONSUMER, SENDINGS_STREAM, SITE_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
};
use site_service::RequestId;
use testkit::{
    ChildProcess, Nats, SeededSubscriber, User, eventually, measure, pass_flags, seed_subscribers,
};
use time::{Duration, OffsetDateTime};
use tokio::process::Command;
use visitor::token::Purpose;

use crate::{ADDRESS, PERSON_KEY, Running, TOKEN_KEY, running, token};

const NAME: &str = "smart-home";
const SOON: Wait = Wait::from_secs(60);

fn issue() -> IssueId {
    IssueId::named(NAME)
}

fn requested(audience: Audience) -> NewsletterIssueRequested {
    NewsletterIssueRequested {
        name: NAME.to_owned(),
        subject: "The smart home".to_owned(),
        preview: "Cameras at home.".to_owned(),
        html: "<p>Hello</p>".to_owned(),
        text: "Hello".to_owned(),
        web: None,
        audience,
    }
}

/// The operator's tool, as far as it has to do with this service.
struct Operator {
    context: jetstream::Context,
    issues: Issues,
}

impl Operator {
    async fn on(nats: &Nats) -> anyhow::Result<Self> {
        let context = jetstream::new(nats.client(User::Operator).await?);
        Ok(Self {
            issues: Issues::open(&context).await?,
            context,
        })
    }

    /// Sends to all, and says stop once it has begun.
    async fn send_and_pause(&self) -> anyhow::Result<()> {
        self.send(Audience::Subscribers).await?;
        eventually("it has begun", SOON, async || {
            (self.progress().await.ok()?.position > 0).then_some(())
        })
        .await?;
        self.say(IssueState::Paused).await
    }

    async fn send(&self, audience: Audience) -> anyhow::Result<()> {
        let progress = IssueProgress::new(NAME.into(), "The smart home".into(), OffsetDateTime::now_utc());
        self.issues.write_progress(issue(), &progress, 0).await?;
        let publisher = Publisher::new(self.context.client());
        let request = RequestId::fresh();
        publisher
            .publish(
                &request,
                issue().event_id(),
                &issue().as_subject(),
                requested(audience),
            )
            .await?;
        Ok(())
    }

    async fn progress(&self) -> anyhow::Result<IssueProgress> {
        let entry = self.issues.progress(issue()).await?;
        Ok(entry.context("the issue is noted")?.record)
    }

    async fn say(&self, state: IssueState) -> anyhow::Result<()> {
        loop {
            let mut entry = self
                .issues
                .progress(issue())
                .await?
                .context("the issue is noted")?;
            entry.record.state = state;
            let written = self
                .issues
                .write_progress(issue(), &entry.record, entry.revision)
                .await;
            if written.is_ok() {
                return Ok(());
            }
        }
    }

    async fn until_handed_out(&self) -> anyhow::Result<IssueProgress> {
        eventually("the issue is handed out", 5 * SOON, async || {
            let progress = self.progress().await.ok()?;
            progress.handed_out.is_some().then_some(progress)
        })
        .await
    }

    async fn queued(&self) -> anyhow::Result<u64> {
        let stream = self.context.get_stream(SENDINGS_STREAM).await?;
        Ok(stream.cached_info().state.messages)
    }

    async fn until_the_event_is_done(&self) -> anyhow::Result<()> {
        eventually("the event is acknowledged", SOON, async || {
            let site = self.context.get_stream(SITE_STREAM).await.ok()?;
            let info = site.consumer_info(FAN_OUT_CONSUMER).await.ok()?;
            (info.num_pending == 0 && info.num_ack_pending == 0).then_some(())
        })
        .await
    }
}

async fn sendings(nats: &Nats) -> anyhow::Result<Vec<Sending>> {
    let messages = nats.messages(SENDINGS_STREAM).await?;
    messages
        .iter()
        .map(|message| Ok(serde_json::from_slice(&message.payload)?))
        .collect()
}

fn readers(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("reader-{number}@example.org"))
}

async fn seed(nats: &Nats, count: usize) -> anyhow::Result<Vec<SeededSubscriber>> {
    // Room for all mails of a large issue at once: here nobody sends them, and what finds no room waits.
    nats.provision(&["--storage-mb", "8192"]).await?;
    seed_subscribers(nats, PERSON_KEY, readers(count)).await
}

/// The service in a process of its own, to be killed.
fn process(nats: &Nats, logs: &std::path::Path) -> anyhow::Result<ChildProcess> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_newsletter"));
    let mut flags = vec![
        "--listen=127.0.0.1:0".to_owned(),
        format!("--person-key={PERSON_KEY}"),
        format!("--token-key={TOKEN_KEY}"),
    ];
    flags.extend(nats.flags(User::Newsletter));
    pass_flags(command.as_std_mut(), &flags);
    ChildProcess::start("newsletter", logs, command)
}

async fn sign_up_and_confirm(running: &mut Running) -> anyhow::Result<()> {
    running.sign_up().await?;
    running.confirm(token(Purpose::Confirm, Duration::HOUR)?).await?;
    Ok(())
}

#[tokio::test]
async fn an_issue_is_handed_out_to_whoever_confirmed_and_to_nobody_else() -> anyhow::Result<()> {
    let mut running = running().await?;
    let readers = seed(&running.nats, 5).await?;
    sign_up_and_confirm(&mut running).await?;
    running
        .unsubscribe(token(Purpose::Unsubscribe, Duration::HOUR)?)
        .await?;
    running.sign_up_as("pending@example.org").await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send(Audience::Subscribers).await?;
    let progress = operator.until_handed_out().await?;
    let handed_out = sendings(&running.nats).await?;
    let people: BTreeSet<&str> = handed_out
        .iter()
        .map(|sending| sending.subject.as_str())
        .collect();
    let expected: BTreeSet<&str> = readers.iter().map(|reader| reader.person.as_str()).collect();
    assert_eq!((people, handed_out.len()), (expected, 5));
    assert_eq!(
        (
            progress.queued,
            progress.passed_over.pending,
            progress.passed_over.unsubscribed
        ),
        (5, 1, 1)
    );
    for reader in &readers {
        let id = issue().sending_id(reader.record.subscription);
        assert!(
            handed_out.iter().any(|sending| sending.id == id),
            "{}",
            reader.email.as_str()
        );
    }
    let stored = serde_json::to_string(&handed_out)?;
    assert!(!stored.contains("example.org"), "a sending holds an address");
    operator.until_the_event_is_done().await?;
    Ok(())
}

#[tokio::test]
async fn who_confirms_after_it_was_asked_for_gets_the_next_one_and_a_test_goes_to_nobody()
-> anyhow::Result<()> {
    let mut running = running().await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send(Audience::Test).await?;
    operator.until_the_event_is_done().await?;
    sign_up_and_confirm(&mut running).await?;
    assert_eq!(operator.queued().await?, 0);

    let other = IssueId::named("other");
    let before = OffsetDateTime::now_utc() - Duration::MINUTE;
    let event = site_events::Event::new(
        "visit-0001",
        other.event_id(),
        &other.as_subject(),
        before,
        requested(Audience::Subscribers),
    );
    let subject = format!("site.newsletter.issue-requested.{other}");
    operator
        .context
        .publish(subject, serde_json::to_vec(&event)?.into())
        .await?
        .await?;
    operator.until_the_event_is_done().await?;
    let progress = operator
        .issues
        .progress(other)
        .await?
        .context("it is noted")?
        .record;
    assert_eq!((progress.queued, progress.passed_over.later), (0, 1));
    Ok(())
}

#[tokio::test]
async fn a_subscriber_whose_record_changes_while_it_is_handed_out_is_counted_once() -> anyhow::Result<()> {
    const COUNT: usize = 2_000;
    let running = running().await?;
    let readers = seed(&running.nats, COUNT).await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send_and_pause().await?;
    let before = operator.progress().await?;
    assert!(
        before.handed_out.is_none(),
        "it was paused too late to show anything"
    );
    let bucket = running.operator.get_key_value(SUBSCRIBERS_BUCKET).await?;
    for reader in &readers[..10] {
        let key = reader.person.as_str();
        let record = bucket.get(key).await?.context("a record")?;
        bucket.put(key, record).await?;
    }
    operator.say(IssueState::Running).await?;
    let progress = operator.until_handed_out().await?;
    assert_eq!(operator.queued().await?, COUNT as u64);
    assert_eq!(progress.queued, COUNT as u64);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_moments_it_goes_on_where_it_was_and_leaves_nobody_out() -> anyhow::Result<()> {
    let (count, kills) = (3_000, 3);
    let nats = Nats::start().await?;
    let readers = seed(&nats, count).await?;
    // After the streams are provisioned for the last time, which sets it.
    nats.shorten_the_ack_wait(Wait::from_secs(1)).await?;
    let logs = tempfile::TempDir::new()?;
    let operator = Operator::on(&nats).await?;
    operator.send(Audience::Subscribers).await?;
    let mut killed = 0;
    for _ in 0..kills {
        let position = operator.progress().await?.position;
        let service = process(&nats, logs.path())?;
        let is_going = eventually("it hands out", SOON, async || {
            let progress = operator.progress().await.ok()?;
            (progress.position > position || progress.handed_out.is_some())
                .then_some(progress.handed_out.is_none())
        });
        if is_going.await? {
            tokio::time::sleep(Wait::from_millis(fastrand::u64(0..150))).await;
            killed += u32::from(operator.progress().await?.handed_out.is_none());
        }
        service.kill().await?;
    }
    let _service = process(&nats, logs.path())?;
    let progress = operator.until_handed_out().await?;
    let mut per_person: BTreeMap<String, usize> = BTreeMap::new();
    for sending in sendings(&nats).await? {
        *per_person.entry(sending.subject.to_string()).or_default() += 1;
    }
    let expected: BTreeSet<&str> = readers.iter().map(|reader| reader.person.as_str()).collect();
    let found: BTreeSet<&str> = per_person.keys().map(String::as_str).collect();
    assert!(found == expected, "{} of {count} are handed out", found.len());
    let twice = per_person.values().filter(|count| **count > 1).count();
    assert_eq!((twice, progress.queued), (0, count as u64));
    assert!(killed > 0, "it was never killed while it handed out");
    Ok(())
}

/// Limits may let fewer mails go in an hour than are put into the stream together, and for longer than any event is tried.
#[tokio::test(flavor = "multi_thread")]
async fn an_issue_that_waits_for_room_takes_as_much_as_there_is_each_time() -> anyhow::Result<()> {
    const SENT: usize = 40;
    let nats = Nats::start().await?;
    nats.provision(&["--storage-mb", "16"]).await?;
    let count = 2_000;
    seed_subscribers(&nats, PERSON_KEY, readers(count)).await?;
    let logs = tempfile::TempDir::new()?;
    let operator = Operator::on(&nats).await?;
    operator.send(Audience::Subscribers).await?;
    let _service = process(&nats, logs.path())?;
    let until_full = async |at_least: u64| {
        eventually("the stream is full", SOON, async || {
            let (queued, noted) = (
                operator.queued().await.ok()?,
                operator.progress().await.ok()?.queued,
            );
            (queued > 0 && noted >= at_least).then_some((queued, noted))
        })
        .await
    };
    let (full, _) = until_full(251).await?;
    tokio::time::sleep(2 * Wait::from_secs(1)).await;
    let (full, noted) = until_full(full).await?;
    assert_eq!(noted, full, "what is stored is noted");
    assert!(full < count as u64, "it all fits");
    let notifier = jetstream::new(nats.client(User::Notifier).await?);
    let consumer: PullConsumer = notifier
        .get_consumer_from_stream(SENDINGS_CONSUMER, SENDINGS_STREAM)
        .await?;
    let batch = consumer.batch().max_messages(SENT).expires(SOON);
    let mut mails = batch.messages().await?;
    while let Some(mail) = mails.next().await {
        let mail = mail.map_err(|error| anyhow::anyhow!("{error}"))?;
        mail.double_ack()
            .await
            .map_err(|error| anyhow::anyhow!("{error}"))?;
    }
    // Lengths differ by a few bytes.
    until_full(full + SENT as u64 - 2).await?;
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_handed_out_in_little_memory() -> anyhow::Result<()> {
    let count = 5_000;
    let nats = Nats::start().await?;
    seed(&nats, count).await?;
    let logs = tempfile::TempDir::new()?;
    let service = process(&nats, logs.path())?;
    eventually("the service is connected", SOON, async || {
        nats.connected()
            .await
            .ok()?
            .contains(&"newsletter".to_owned())
            .then_some(())
    })
    .await?;
    tokio::time::sleep(Wait::from_secs(1)).await;
    let idle = measure::resident_bytes(&service, "VmHWM")?;
    let operator = Operator::on(&nats).await?;
    operator.send(Audience::Subscribers).await?;
    operator.until_handed_out().await?;
    let grown = measure::resident_bytes(&service, "VmHWM")?.saturating_sub(idle);
    assert_eq!(operator.queued().await?, count as u64);
    assert!(grown < 64_000_000, "{grown} bytes above idle");
    Ok(())
}

#[tokio::test]
async fn a_pause_a_resumption_and_a_cancellation_take_effect() -> anyhow::Result<()> {
    let running = running().await?;
    seed(&running.nats, 20_000).await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send_and_pause().await?;
    let stands_still = async || {
        eventually("it stands still", SOON, async || {
            let before = operator.queued().await.ok()?;
            tokio::time::sleep(Wait::from_secs(2)).await;
            (operator.queued().await.ok()? == before).then_some(before)
        })
        .await
    };
    let paused = stands_still().await?;
    assert!(paused < 20_000, "it was paused too late to show anything");

    operator.say(IssueState::Running).await?;
    eventually("it goes on", SOON, async || {
        (operator.queued().await.ok()? > paused).then_some(())
    })
    .await?;
    operator.say(IssueState::Canceled).await?;
    operator.until_the_event_is_done().await?;
    assert!(operator.queued().await? < 20_000, "it went on");
    assert_eq!(operator.progress().await?.handed_out, None);
    Ok(())
}

#[tokio::test]
async fn what_was_agreed_to_is_kept_in_the_words_of_the_page() -> anyhow::Result<()> {
    let mut running = running().await?;
    sign_up_and_confirm(&mut running).await?;
    let record: Value = running.record_of(ADDRESS).await?.context("a record")?;
    let question = record["consent"]["text"].as_str().context("the words")?;
    let page =
        std::fs::read_to_string(testkit::root().join("frontends/shell/src/content/newsletter-prompts.ts"))?;
    assert!(page.contains(&format!("question: '{question}'")), "{question}");
    assert_eq!(record["consent"]["form"], "double-opt-in");
    Ok(())
}
