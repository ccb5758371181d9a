//! Fan-out of an issue: recipients, limits, crashes, the operator's commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration as Wait,
};

use anyhow::Context as _;
use async_nats::jetstream::{self, consumer::PullConsumer};
use futures_util::StreamExt;
use site_broker::Publisher;
use site_events::{
    FAN_OUT_CONSUMER, IssueId, SENDINGS_CONSUMER, SENDINGS_STREAM, SITE_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
};
use site_service::RequestId;
use subscribers::issues::{IssueProgress, IssueState, Issues};
use testkit::{ChildProcess, Nats, SeededSubscriber, User, eventually, pass_flags, seed_subscribers};
use time::OffsetDateTime;
use tokio::process::Command;

use crate::{PERSON_KEY, SOON, TOKEN_KEY, running};

const NAME: &str = "smart-home";

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
        let (id, subject) = (issue().event_id(), issue().as_subject());
        publisher
            .publish(&request, id, &subject, requested(audience))
            .await?;
        Ok(())
    }

    async fn progress(&self) -> anyhow::Result<IssueProgress> {
        let known = self.issues.progress(issue()).await?;
        known.value.context("the issue is noted")
    }

    async fn say(&self, state: IssueState) -> anyhow::Result<()> {
        loop {
            let known = self.issues.progress(issue()).await?;
            let mut progress = known.value.context("the issue is noted")?;
            progress.state = state;
            let written = self
                .issues
                .write_progress(issue(), &progress, known.revision)
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

async fn seed(nats: &Nats, count: usize) -> anyhow::Result<Vec<SeededSubscriber>> {
    let readers = (0..count).map(|number| format!("reader-{number}@example.org"));
    seed_subscribers(nats, PERSON_KEY, readers).await
}

/// Starts a newsletter process that a test can kill.
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

#[tokio::test]
async fn an_issue_is_queued_for_confirmed_subscribers_only() -> anyhow::Result<()> {
    let running = running().await?;
    let readers = seed(&running.nats, 5).await?;
    running.sign_up_and_confirm().await?;
    running.unsubscribe_by_link().await?;
    running.sign_up_as("pending@example.org").await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send(Audience::Subscribers).await?;
    let progress = operator.until_handed_out().await?;
    let handed_out = sendings(&running.nats).await?;
    let people = handed_out.iter().map(|sending| sending.subject.as_str());
    let people: BTreeSet<&str> = people.collect();
    let expected: BTreeSet<&str> = readers.iter().map(|reader| reader.person.as_str()).collect();
    assert_eq!((people, handed_out.len()), (expected, 5));
    let passed_over = (progress.passed_over.pending, progress.passed_over.unsubscribed);
    assert_eq!((progress.queued, passed_over), (5, (1, 1)));
    for reader in &readers {
        let id = issue().sending_id(reader.record.subscription);
        let has_mail = handed_out.iter().any(|sending| sending.id == id);
        assert!(has_mail, "{}", reader.email.as_str());
    }
    let stored = serde_json::to_string(&handed_out)?;
    assert!(!stored.contains("example.org"), "a sending holds an address");
    operator.until_the_event_is_done().await?;
    Ok(())
}

#[tokio::test]
async fn a_test_of_an_issue_reaches_no_subscriber() -> anyhow::Result<()> {
    let running = running().await?;
    running.sign_up_and_confirm().await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send(Audience::Test).await?;
    operator.until_the_event_is_done().await?;
    assert!(sendings(&running.nats).await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_resumed_issue_queues_a_changed_record_once() -> anyhow::Result<()> {
    const COUNT: usize = 2_000;
    let running = running().await?;
    let readers = seed(&running.nats, COUNT).await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send_and_pause().await?;
    let paused = operator.progress().await?;
    let notifier = Notifier::start(&running.nats).await?;
    let bucket = running.subscribers().await?;
    for reader in &readers[..10] {
        let key = reader.person.as_str();
        let record = bucket.get(key).await?.context("a record")?;
        bucket.put(key, record).await?;
    }
    tokio::time::sleep(Wait::from_secs(2)).await;
    let progress = operator.progress().await?;
    assert_eq!(
        progress.position, paused.position,
        "it went on while it was paused"
    );
    assert_eq!(progress.handed_out, None);
    operator.say(IssueState::Running).await?;
    let progress = operator.until_handed_out().await?;
    assert_eq!(progress.queued, COUNT as u64);
    notifier.until_taken(COUNT).await?;
    tokio::time::sleep(Wait::from_secs(1)).await;
    assert_eq!(notifier.count(), COUNT);
    Ok(())
}

#[tokio::test]
async fn a_canceled_issue_is_handed_out_no_further() -> anyhow::Result<()> {
    let running = running().await?;
    seed(&running.nats, 2_000).await?;
    let operator = Operator::on(&running.nats).await?;
    operator.send_and_pause().await?;
    operator.say(IssueState::Canceled).await?;
    operator.until_the_event_is_done().await?;
    assert_eq!(operator.progress().await?.handed_out, None);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_fan_out_resumes_and_skips_no_subscriber() -> anyhow::Result<()> {
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

#[tokio::test(flavor = "multi_thread")]
async fn processes_share_a_daily_limit_across_kills() -> anyhow::Result<()> {
    const LIMIT: usize = 600;
    let nats = Nats::start().await?;
    nats.shorten_the_ack_wait(Wait::from_secs(1)).await?;
    seed(&nats, 2 * LIMIT).await?;
    let (operator, notifier) = (Operator::on(&nats).await?, Notifier::start(&nats).await?);
    let logs = tempfile::TempDir::new()?;
    let flag = format!("--newsletter-per-day={LIMIT}");
    let start = || process(&nats, logs.path(), Some(&flag));
    operator.send(Audience::Subscribers).await?;
    let mut service = start()?;
    for share in [4, 2] {
        let next = start()?;
        notifier.until_taken(LIMIT / share).await?;
        std::mem::replace(&mut service, next).kill().await?;
    }
    notifier.until_taken(LIMIT).await?;
    tokio::time::sleep(Wait::from_secs(3)).await;
    assert_eq!(notifier.count(), LIMIT);
    Ok(())
}

#[tokio::test]
async fn a_consent_keeps_the_pages_wording() -> anyhow::Result<()> {
    let running = running().await?;
    running.sign_up_and_confirm().await?;
    let record = running.record().await?;
    let question = record["consent"]["text"].as_str().context("the words")?;
    let page = testkit::root().join("frontends/shell/src/content/newsletter-prompts.ts");
    let page = std::fs::read_to_string(page)?;
    assert!(page.contains(&format!("question: '{question}'")), "{question}");
    assert_eq!(record["consent"]["form"], "double-opt-in");
    Ok(())
}
