//! Mails of an issue: recipients, limits and crashes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::Context as _;
use async_nats::jetstream::{self, message::PublishMessage};
use serde_json::Value;
use site_broker::{Publisher, RetryPolicy};
use site_events::{
    Channel, IssueId, SENDINGS_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use site_service::RequestId;
use subscribers::Subscribers;
use subscribers::issues::{Figures, IssueProgress, IssueState, Issues, Outcomes};
use testkit::{
    MailFault, MailServer, Nats, ScriptedReply, SeededSubscriber, User, eventually, publish_all,
    seed_subscribers,
};
use time::OffsetDateTime;

pub use testkit::PERSON_KEY;

use crate::running::{Running, SALES, SOON, parts, process, scene, settings, take, until};

const NAME: &str = "smart-home";
/// Short, so that the broker soon redelivers a dead notifier's mails.
const ACK_WAIT: Duration = Duration::from_secs(2);
const CONNECTIONS: u32 = 2;
const MAIL_TIME: Duration = Duration::from_millis(5);

fn issue() -> IssueId {
    IssueId::named(NAME)
}

/// Stands in for the operator and the newsletter service.
pub struct Operator {
    context: jetstream::Context,
    issues: Issues,
    subscribers: Subscribers,
}

impl Operator {
    pub async fn on(nats: &Nats) -> anyhow::Result<Self> {
        let client = nats.client(User::Operator).await?;
        let context = jetstream::new(client.clone());
        Ok(Self {
            issues: Issues::open(&context).await?,
            subscribers: Subscribers::open(client).await?,
            context,
        })
    }

    pub async fn send(&self, to: &[SeededSubscriber]) -> anyhow::Result<()> {
        self.ask().await?;
        let messages = to.iter().map(|reader| {
            let sending = Sending {
                id: issue().sending_id(reader.record.subscription),
                subject: reader.person.clone(),
                requestid: "visit-0001".to_owned(),
                issue: issue(),
                test: None,
            };
            let subject = subjects::sending(&issue().to_string(), sending.subject.as_str());
            let message = PublishMessage::build().payload(serde_json::to_vec(&sending)?.into());
            Ok((subject, message.message_id(sending.id.to_string())))
        });
        publish_all(&self.context, messages).await
    }

    async fn ask(&self) -> anyhow::Result<()> {
        let now = OffsetDateTime::now_utc();
        let progress = IssueProgress::new(NAME.into(), "The smart home".into(), now);
        self.issues.write_progress(issue(), &progress, 0).await?;
        let requested = NewsletterIssueRequested {
            name: NAME.to_owned(),
            subject: "The smart home".to_owned(),
            preview: "Cameras at home.".to_owned(),
            html: "<p>Hello</p>".to_owned(),
            text: "Hello".to_owned(),
            web: Some("https://oculant.example/blog/smart-home".to_owned()),
            audience: Audience::Subscribers,
        };
        let publisher = Publisher::new(self.context.client());
        let request = RequestId::fresh();
        publisher
            .publish(&request, issue().event_id(), &issue().as_subject(), requested)
            .await?;
        Ok(())
    }

    async fn say(&self, state: IssueState) -> anyhow::Result<()> {
        let known = self.issues.progress(issue()).await?;
        let mut progress = known.value.context("the issue is noted")?;
        progress.state = state;
        self.issues
            .write_progress(issue(), &progress, known.revision)
            .await?;
        Ok(())
    }

    async fn unsubscribe(&self, reader: &SeededSubscriber) -> anyhow::Result<()> {
        let known = self.subscribers.read(&reader.person).await?;
        let record = known.value.context("a record")?;
        let left = record.unsubscribed(OffsetDateTime::now_utc()).forgotten();
        self.subscribers
            .write(&reader.person, &left, known.revision, None)
            .await?;
        Ok(())
    }

    async fn waiting(&self) -> anyhow::Result<u64> {
        let stream = self.context.get_stream(SENDINGS_STREAM).await?;
        Ok(stream.cached_info().state.messages)
    }

    async fn until_done(&self, within: Duration) -> anyhow::Result<Figures> {
        eventually("all mails are done", within, async || {
            (self.waiting().await.ok()? == 0).then_some(())
        })
        .await?;
        self.figures().await
    }

    async fn figures(&self) -> anyhow::Result<Figures> {
        let known = self.issues.progress(issue()).await?;
        let progress = known.value.context("the issue is noted")?;
        let figures = Outcomes::read(&self.context).await?.figures(&progress);
        figures.context("figures are known")
    }
}

async fn seed(nats: &Nats, count: usize) -> anyhow::Result<Vec<SeededSubscriber>> {
    let addresses = (0..count).map(|number| format!("reader-{number}@example.org"));
    seed_subscribers(nats, PERSON_KEY, addresses).await
}

fn by_reader(server: &MailServer) -> BTreeMap<String, Vec<String>> {
    let mut mails: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mail in server.accepted_mails() {
        mails.entry(mail.recipient).or_default().push(mail.message_id);
    }
    mails
}

#[tokio::test]
async fn unsubscribed_people_get_no_waiting_mail() -> anyhow::Result<()> {
    let (nats, server, _site) = parts(take).await?;
    let readers = seed(&nats, 10).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    for reader in &readers[..4] {
        operator.unsubscribe(reader).await?;
    }
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let figures = operator.until_done(SOON).await?;
    assert_eq!((figures.sent, figures.left), (6, 4));
    let mailed = by_reader(&server);
    for (number, reader) in readers.iter().enumerate() {
        assert_eq!(
            mailed.contains_key(reader.email.as_str()),
            number >= 4,
            "{}",
            reader.email.as_str()
        );
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_pause_a_resumption_and_a_cancellation_take_effect() -> anyhow::Result<()> {
    let slow = |_: &str, _: usize| ScriptedReply::TakeAfter(Duration::from_millis(50));
    let (nats, server, _site, _notifier) = scene(&[], slow).await?;
    let readers = seed(&nats, 2_000).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let sent = || server.accepted_mails().len();
    until("mails are sent", || sent() > 10).await?;
    operator.say(IssueState::Paused).await?;
    let before = eventually("it stands still", SOON, async || {
        let before = sent();
        tokio::time::sleep(Duration::from_secs(2)).await;
        (sent() == before).then_some(before)
    })
    .await?;
    operator.say(IssueState::Running).await?;
    until("it goes on", || sent() > before).await?;
    operator.say(IssueState::Canceled).await?;
    operator.until_done(SOON).await?;
    assert!(sent() < readers.len(), "it went on");
    Ok(())
}

/// Counts repeated mails. Fails if a reader has no mail, or mails with different message ids.
fn repeats(server: &MailServer, readers: &[SeededSubscriber]) -> usize {
    let mailed = by_reader(server);
    for reader in readers {
        let email = reader.email.as_str();
        assert!(mailed.contains_key(email), "no mail to {email}");
    }
    for (reader, mails) in &mailed {
        let ids: BTreeSet<&String> = mails.iter().collect();
        assert_eq!(
            ids.len(),
            1,
            "{reader} got two mails that mail programs do not know as one"
        );
    }
    mailed.values().map(|mails| mails.len() - 1).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_notifier_repeats_only_mails_in_flight() -> anyhow::Result<()> {
    let (count, kills) = (1_000, 3);
    let (nats, server, _site) = parts(|_, _| ScriptedReply::TakeAfter(MAIL_TIME)).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let readers = seed(&nats, count).await?;
    let operator = Operator::on(&nats).await?;
    let logs = tempfile::TempDir::new()?;
    let share = MAIL_TIME / CONNECTIONS * (count / kills) as u32;
    let killing = async {
        let mut killed = 0;
        for _ in 0..kills {
            let before = server.accepted_mails().len();
            let notifier = process(&nats, server.port, &[], logs.path())?;
            until("mails are sent", || {
                server.accepted_mails().len() > before || before == count
            })
            .await?;
            tokio::time::sleep(share.mul_f64(fastrand::f64())).await;
            killed += usize::from(operator.figures().await?.sent < count as u64);
            notifier.kill().await?;
        }
        anyhow::Ok((killed, process(&nats, server.port, &[], logs.path())?))
    };
    let ((), (killed, _notifier)) = tokio::try_join!(operator.send(&readers), killing)?;
    let figures = operator.until_done(SOON * 10).await?;
    let repeats = repeats(&server, &readers);
    assert!(repeats <= 16 * kills, "{repeats} repeated");
    assert_eq!(figures.sent, count as u64, "{figures:?}");
    assert_eq!(killed, kills, "it was killed after it had sent all");
    Ok(())
}

#[tokio::test]
async fn mails_deferred_by_a_domain_block_no_others() -> anyhow::Result<()> {
    let (nats, server, site) = parts(|to, attempt| match to.ends_with("@slow.example") && attempt < 2 {
        true => ScriptedReply::ToRecipient("451 4.7.1 Greylisted"),
        false => ScriptedReply::Take,
    })
    .await?;
    let domains = ["slow.example", "example.org", "example.org"];
    let addresses = (0..60).map(|number| format!("reader-{number}@{}", domains[number % 3]));
    let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let pause = Duration::from_secs(60);
    let _notifier = Running::start_retrying_after(pause, &nats, server.port, &[]).await?;
    until("all others have it", || server.accepted_mails().len() >= 40).await?;
    site.contact("ravi@example.org").await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let emails = readers.iter().map(|reader| reader.email.as_str());
    let slow = emails.filter(|email| email.ends_with("@slow.example"));
    let tried: usize = slow.map(|email| server.attempts(email)).sum();
    let figures = operator.figures().await?;
    assert_eq!((figures.sent, figures.in_hand), (40, 20));
    assert!(tried <= 20, "the slow domain was asked {tried} times");
    Ok(())
}

async fn bounced(nats: &Nats) -> anyhow::Result<Vec<Value>> {
    let mut events = nats.events().await?;
    events.retain(|event| event["type"] == "site.newsletter.bounced.v1");
    Ok(events)
}

#[tokio::test]
async fn a_mail_deferred_for_too_long_becomes_a_soft_bounce() -> anyhow::Result<()> {
    let full = |_: &str, _: usize| ScriptedReply::ToRecipient("451 4.2.2 Mailbox full");
    let (nats, server, _site) = parts(full).await?;
    let readers = seed(&nats, 1).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let mut settings = settings(&nats, server.port, &[])?;
    settings.retries = RetryPolicy {
        initial_backoff: Duration::from_millis(10),
        give_up_after: Duration::from_millis(200),
    };
    let _notifier = Running::start_with(settings).await?;
    assert_eq!(operator.until_done(SOON).await?.given_up, 1);
    let bounced = bounced(&nats).await?;
    assert_eq!(bounced.len(), 1);
    assert_eq!(bounced[0]["data"]["kind"], "soft");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

/// The deferring domains come first in the issue, so the mail server seems to accept no mail.
#[tokio::test]
async fn deferring_domains_block_no_others_of_an_issue() -> anyhow::Result<()> {
    const OTHERS: usize = 20;
    let (nats, server, _site, _notifier) = scene(&[], |to, _| match to.ends_with("@example.org") {
        true => ScriptedReply::Take,
        false => ScriptedReply::ToRecipient("451 4.7.1 Greylisted"),
    })
    .await?;
    let slow = (0..60).map(|number| format!("reader-{number}@domain-{}.example", number / 10));
    let others = (60..60 + OTHERS).map(|number| format!("reader-{number}@example.org"));
    let readers = seed_subscribers(&nats, PERSON_KEY, slow.chain(others)).await?;
    Operator::on(&nats).await?.send(&readers).await?;
    until("the others have theirs", || {
        server.accepted_mails().len() == OTHERS
    })
    .await
}

#[tokio::test]
async fn an_address_that_does_not_exist_becomes_a_hard_bounce() -> anyhow::Result<()> {
    let (nats, _server, _site, _notifier) = scene(&[], |to, _| match to {
        "reader-0@example.org" => ScriptedReply::ToRecipient("550 5.1.1 No such user here"),
        "reader-1@example.org" => ScriptedReply::ToContent("554 5.7.1 Looks like spam"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let readers = seed(&nats, 3).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let figures = operator.until_done(SOON).await?;
    assert_eq!((figures.sent, figures.bounced, figures.refused), (1, 1, 1));
    let bounced = bounced(&nats).await?;
    assert_eq!(bounced.len(), 1);
    assert_eq!(bounced[0]["subject"], readers[0].person.as_str());
    assert_eq!(bounced[0]["data"]["channel"], "newsletter-issue");
    assert_eq!(bounced[0]["data"]["kind"], "hard");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

/// The first refusal's cause is unknown, so its mail is retried.
#[tokio::test]
async fn an_issue_refused_by_many_domains_is_held() -> anyhow::Result<()> {
    const READERS: usize = 26;
    for refusal in [
        "550 5.7.1 Message rejected",
        "550 5.4.5 Daily user sending limit exceeded",
    ] {
        let (nats, server, _site) = parts(take).await?;
        server.fault(MailFault::Each(ScriptedReply::ToRecipient(refusal)));
        let addresses = (0..READERS).map(|number| format!("reader-{number}@domain-{number}.example"));
        let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
        let operator = Operator::on(&nats).await?;
        operator.send(&readers).await?;
        let notifier = Running::start(&nats, server.port, &[]).await?;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let emails = readers.iter().map(|reader| reader.email.as_str());
        let tried: usize = emails.map(|email| server.attempts(email)).sum();
        assert!((1..READERS).contains(&tried), "{tried} attempts");
        server.fault(MailFault::None);
        drop(notifier);
        let _notifier = Running::start(&nats, server.port, &[]).await?;
        let figures = operator.until_done(3 * SOON).await?;
        assert_eq!(
            (figures.sent, figures.refused, figures.bounced, figures.given_up),
            (READERS as u64, 0, 0, 0),
            "{refusal}"
        );
        assert_eq!(nats.events().await?.len(), 1, "no bounce is told of");
    }
    Ok(())
}

#[tokio::test]
async fn a_lead_is_sent_before_an_issue() -> anyhow::Result<()> {
    let slow = |_: &str, _: usize| ScriptedReply::TakeAfter(Duration::from_millis(200));
    let (nats, server, site, _notifier) = scene(&[], slow).await?;
    let readers = seed(&nats, 500).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    until("mails are sent", || server.accepted_mails().len() > 4).await?;
    let before = server.accepted_mails().len();
    for number in 0..20 {
        site.contact(&format!("visitor-{number}@example.com")).await?;
    }
    site.until_acked(Channel::SalesLead, SOON).await?;
    let mails = server.accepted_mails().split_off(before);
    let last = mails.iter().rposition(|mail| mail.recipient == SALES);
    let before_it = mails[..last.context("a lead")?].iter();
    let issues = before_it
        .filter(|mail| mail.recipient.starts_with("reader-"))
        .count();
    // Allows the mails in flight at the first lead, and a few between leads.
    assert!(
        issues <= 12,
        "{issues} mails of the issue went before the last of 20 leads"
    );
    operator.say(IssueState::Canceled).await?;
    Ok(())
}
