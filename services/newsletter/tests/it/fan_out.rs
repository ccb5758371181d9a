//! Handing out an issue: recipients, limits, crashes, the operator's commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
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
const MAX_PENDING: u64 = 250;

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

/// Stands in for the operator's tool.
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

/// Notifier that acks every sending and mails nothing.
struct Notifier(Arc<Mutex<Vec<Sending>>>);

impl Notifier {
    async fn start(nats: &Nats) -> anyhow::Result<Self> {
        let context = jetstream::new(nats.client(User::Notifier).await?);
        let consumer: PullConsumer = context
            .get_consumer_from_stream(SENDINGS_CONSUMER, SENDINGS_STREAM)
            .await?;
        let mut mails = consumer.messages().await?;
        let taken = Self(Arc::default());
        let kept = taken.0.clone();
        tokio::spawn(async move {
            while let Some(Ok(mail)) = mails.next().await {
                let sending = serde_json::from_slice(&mail.payload).expect("a sending");
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(sending);
                mail.ack().await.expect("an acknowledged mail");
            }
        });
        Ok(taken)
    }

    fn taken(&self) -> Vec<Sending> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn count(&self) -> usize {
        self.taken().len()
    }

    async fn until_taken(&self, count: usize) -> anyhow::Result<()> {
        eventually("the mails are taken", 2 * SOON, async || {
            (self.count() >= count).then_some(())
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
    seed_subscribers(nats, PERSON_KEY, readers(count)).await
}

/// Service in its own process, to be killed.
fn process(nats: &Nats, logs: &std::path::Path, limit: Option<&str>) -> anyhow::Result<ChildProcess> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_newsletter"));
    let mut flags = vec![
        "--listen=127.0.0.1:0".to_owned(),
        format!("--person-key={PERSON_KEY}"),
        format!("--token-key={TOKEN_KEY}"),
    ];
    flags.extend(nats.flags(User::Newsletter));
    flags.extend(limit.map(str::to_owned));
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
    let notifier = Notifier::start(&running.nats).await?;
    operator.say(IssueState::Running).await?;
    let progress = operator.until_handed_out().await?;
    assert_eq!(progress.queued, COUNT as u64);
    notifier.until_taken(COUNT).await?;
    tokio::time::sleep(Wait::from_secs(1)).await;
    assert_eq!(notifier.count(), COUNT);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_random_moments_it_goes_on_where_it_was_and_leaves_nobody_out() -> anyhow::Result<()> {
    let (count, kills) = (3_000, 3);
    let nats = Nats::start().await?;
    let readers = seed(&nats, count).await?;
    nats.shorten_the_ack_wait(Wait::from_secs(1)).await?;
    let logs = tempfile::TempDir::new()?;
    let operator = Operator::on(&nats).await?;
    let notifier = Notifier::start(&nats).await?;
    operator.send(Audience::Subscribers).await?;
    let mut killed = 0;
    for _ in 0..kills {
        let position = operator.progress().await?.position;
        let service = process(&nats, logs.path(), None)?;
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
    let _service = process(&nats, logs.path(), None)?;
    let progress = operator.until_handed_out().await?;
    let mut per_person: BTreeMap<String, usize> = BTreeMap::new();
    notifier.until_taken(count).await?;
    for sending in notifier.taken() {
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

#[tokio::test]
async fn the_queue_is_kept_short_and_filled_again() -> anyhow::Result<()> {
    const COUNT: usize = 1_000;
    let running = running().await?;
    seed(&running.nats, COUNT).await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send(Audience::Subscribers).await?;
    let until_full = async || {
        eventually("the queue is full", SOON, async || {
            (operator.queued().await.ok()? == MAX_PENDING).then_some(())
        })
        .await
    };
    until_full().await?;
    tokio::time::sleep(Wait::from_secs(2)).await;
    until_full().await?;
    let notifier = Notifier::start(&running.nats).await?;
    notifier.until_taken(COUNT).await?;
    assert_eq!(operator.until_handed_out().await?.queued, COUNT as u64);
    Ok(())
}

/// Flag, number of mails, and the window in seconds.
const LIMITS: [(&str, usize, i64); 4] = [
    ("--newsletter-per-second=5", 5, 1),
    ("--newsletter-per-hour=12", 12, 60 * 60),
    ("--newsletter-per-day=11", 11, 24 * 60 * 60),
    // To each of two domains.
    ("--newsletter-domain-per-minute=4", 8, 60),
];

fn windows(from: OffsetDateTime, to: OffsetDateTime, seconds: i64) -> usize {
    let window = |time: OffsetDateTime| time.unix_timestamp().div_euclid(seconds);
    usize::try_from(window(to) - window(from) + 1).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_limit_is_one_of_two_processes_together() -> anyhow::Result<()> {
    for (flag, limit, seconds) in LIMITS {
        let nats = Nats::start().await?;
        let addresses = (0..60).map(|number| format!("reader-{number}@domain-{}.example", number % 2));
        let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
        let (operator, notifier) = (Operator::on(&nats).await?, Notifier::start(&nats).await?);
        let logs = tempfile::TempDir::new()?;
        let start = || process(&nats, logs.path(), Some(flag));
        let _services = [start()?, start()?];
        let begun = OffsetDateTime::now_utc();
        operator.send(Audience::Subscribers).await?;
        notifier.until_taken(limit).await?;
        tokio::time::sleep(Wait::from_secs(4)).await;
        let sent = notifier.count();
        let may_be = limit * windows(begun, OffsetDateTime::now_utc(), seconds);
        assert!(sent <= may_be, "{flag}: {sent} mails, {may_be} may be");
        assert!(sent < readers.len(), "{flag}: nothing was held");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daily_limit_is_used_to_its_last_and_holds_whoever_is_killed() -> anyhow::Result<()> {
    const LIMIT: usize = 600;
    let nats = Nats::start().await?;
    nats.shorten_the_ack_wait(Wait::from_secs(1)).await?;
    seed(&nats, 2 * LIMIT).await?;
    let (operator, notifier) = (Operator::on(&nats).await?, Notifier::start(&nats).await?);
    let logs = tempfile::TempDir::new()?;
    let flag = format!("--newsletter-per-day={LIMIT}");
    operator.send(Audience::Subscribers).await?;
    for share in [4, 2] {
        let service = process(&nats, logs.path(), Some(&flag))?;
        notifier.until_taken(LIMIT / share).await?;
        service.kill().await?;
    }
    let _service = process(&nats, logs.path(), Some(&flag))?;
    notifier.until_taken(LIMIT).await?;
    tokio::time::sleep(Wait::from_secs(3)).await;
    assert_eq!(notifier.count(), LIMIT);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_handed_out_in_little_memory() -> anyhow::Result<()> {
    let count = 5_000;
    let nats = Nats::start().await?;
    seed(&nats, count).await?;
    let logs = tempfile::TempDir::new()?;
    let service = process(&nats, logs.path(), None)?;
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
    let notifier = Notifier::start(&nats).await?;
    operator.send(Audience::Subscribers).await?;
    operator.until_handed_out().await?;
    notifier.until_taken(count).await?;
    let grown = measure::resident_bytes(&service, "VmHWM")?.saturating_sub(idle);
    assert!(grown < 64_000_000, "{grown} bytes above idle");
    Ok(())
}

#[tokio::test]
async fn a_pause_a_resumption_and_a_cancellation_take_effect() -> anyhow::Result<()> {
    const COUNT: usize = 20_000;
    let running = running().await?;
    seed(&running.nats, COUNT).await?;
    let operator = Operator::on(&running.nats).await?;
    let notifier = Notifier::start(&running.nats).await?;
    operator.send_and_pause().await?;
    let stands_still = async || {
        eventually("it stands still", SOON, async || {
            let before = notifier.count();
            tokio::time::sleep(Wait::from_secs(2)).await;
            (notifier.count() == before).then_some(before)
        })
        .await
    };
    let paused = stands_still().await?;
    assert!(paused < COUNT, "it was paused too late to show anything");

    operator.say(IssueState::Running).await?;
    notifier.until_taken(paused + 1).await?;
    operator.say(IssueState::Canceled).await?;
    operator.until_the_event_is_done().await?;
    assert!(notifier.count() < COUNT, "it went on");
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
