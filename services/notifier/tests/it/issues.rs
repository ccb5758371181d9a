//! Mails of an issue: recipients, limits and crashes.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::Context as _;
use async_nats::jetstream::{self, message::PublishMessage};
use backon::{ConstantBuilder, Retryable};
use issues::{Figures, IssueProgress, IssueState, Issues, Outcomes};
use site_broker::{Publisher, RetryPolicy};
use site_events::{
    Channel, IssueId, SENDINGS_CONSUMER, SENDINGS_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use site_service::RequestId;
use subscribers::{Retention, Subscribers};
use testkit::{
    MailFault, MailServer, Nats, ScriptedReply, SeededSubscriber, User, eventually, measure, publish_all,
    seed_subscribers,
};
use time::OffsetDateTime;
use visitor::token::{Purpose, TokenKey};

pub use testkit::PERSON_KEY;

use crate::running::{Running, SALES, SOON, Site, TOKEN_KEY, person, process, settings};

const NAME: &str = "smart-home";
const ZOE: &str = "zoe@example.org";
/// Short, so that deliveries of a dead notifier come back soon.
const ACK_WAIT: Duration = Duration::from_secs(2);
const CONNECTIONS: usize = 2;
/// Sendings that the newsletter service publishes together.
const STEP: usize = 250;
/// How often the newsletter service checks for room in the stream.
const ROOM_INTERVAL: Duration = Duration::from_secs(1);
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
        self.ask(Audience::Subscribers).await?;
        let sendings = to.iter().map(|reader| Sending {
            id: issue().sending_id(reader.record.subscription),
            subject: reader.person.clone(),
            requestid: "visit-0001".to_owned(),
            issue: issue(),
            test: None,
            repeats_refused: false,
        });
        self.hand_out(sendings).await
    }

    async fn ask(&self, audience: Audience) -> anyhow::Result<()> {
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
            audience,
        };
        let publisher = Publisher::new(self.context.client());
        let request = RequestId::fresh();
        publisher
            .publish(&request, issue().event_id(), &issue().as_subject(), requested)
            .await?;
        Ok(())
    }

    /// Waits while the stream is full, as the newsletter service does. A repeated sending keeps its id.
    async fn hand_out(&self, sendings: impl IntoIterator<Item = Sending>) -> anyhow::Result<()> {
        let sendings: Vec<Sending> = sendings.into_iter().collect();
        for step in sendings.chunks(STEP) {
            let put = || self.put(step);
            let retries = ConstantBuilder::default()
                .with_delay(ROOM_INTERVAL)
                .without_max_times();
            put.retry(retries)
                .when(|error| format!("{error:#}").contains("maximum bytes exceeded"))
                .await?;
        }
        Ok(())
    }

    async fn put(&self, sendings: &[Sending]) -> anyhow::Result<()> {
        let messages = sendings.iter().map(|sending| {
            let subject = subjects::sending(&issue().to_string(), sending.subject.as_str());
            let message = PublishMessage::build().payload(serde_json::to_vec(&sending)?.into());
            Ok((subject, message.message_id(sending.id.to_string())))
        });
        publish_all(&self.context, messages).await
    }

    async fn say(&self, state: IssueState) -> anyhow::Result<()> {
        let mut entry = self
            .issues
            .progress(issue())
            .await?
            .context("the issue is noted")?;
        entry.record.state = state;
        self.issues
            .write_progress(issue(), &entry.record, entry.revision)
            .await?;
        Ok(())
    }

    async fn unsubscribe(&self, reader: &SeededSubscriber) -> anyhow::Result<()> {
        let known = self.subscribers.read(&reader.person).await?;
        let record = known.subscriber.context("a record")?;
        let left = record.unsubscribed(OffsetDateTime::now_utc()).forgotten();
        self.subscribers
            .write(&reader.person, &left, known.revision, Retention::Forever)
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
        let progress = self
            .issues
            .progress(issue())
            .await?
            .context("the issue is noted")?;
        let figures = Outcomes::read(&self.context).await?.figures(&progress.record);
        figures.context("figures are known")
    }
}

async fn seed(nats: &Nats, count: usize) -> anyhow::Result<Vec<SeededSubscriber>> {
    let addresses = (0..count).map(|number| format!("reader-{number}@example.org"));
    seed_subscribers(nats, PERSON_KEY, addresses).await
}

async fn taking() -> anyhow::Result<MailServer> {
    MailServer::start(|_, _| ScriptedReply::Take).await
}

async fn taking_slowly() -> anyhow::Result<MailServer> {
    MailServer::start(|_, _| ScriptedReply::TakeAfter(MAIL_TIME)).await
}

fn by_reader(server: &MailServer) -> BTreeMap<String, Vec<String>> {
    let mut mails: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for mail in server.accepted_mails() {
        mails.entry(mail.recipient).or_default().push(mail.message_id);
    }
    mails
}

#[tokio::test]
async fn an_issue_reaches_its_readers_with_all_that_bulk_mail_needs() -> anyhow::Result<()> {
    let (nats, inbox) = tokio::try_join!(Nats::start(), MailServer::start(|_, _| ScriptedReply::Take))?;
    let readers = seed_subscribers(&nats, PERSON_KEY, [ZOE.to_owned()]).await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, inbox.port, &[]).await?;
    operator.send(&readers).await?;
    let mails = inbox.mails_to(ZOE, 1, SOON).await?;
    let header = |name: &str| mails[0]["headers"][name].as_str().unwrap_or_default();
    let id = issue().sending_id(readers[0].record.subscription);
    assert_eq!(
        header("message-id"),
        format!("<{id}.newsletter-issue@oculant.example>")
    );
    assert_eq!(header("list-id"), "Oculant Insights <newsletter.oculant.example>");
    assert_eq!(header("feedback-id"), "smart-home:newsletter:site:oculant");
    assert_eq!(header("list-unsubscribe-post"), "List-Unsubscribe=One-Click");
    assert_eq!(mails[0]["subject"], "The smart home");
    let one_click = header("list-unsubscribe").trim_matches(['<', '>']);
    let token = one_click.strip_prefix("https://oculant.example/api/newsletter/unsubscribe?token=");
    let holder = TokenKey::new(TOKEN_KEY)?.verify(
        token.context("a link to the API")?,
        Purpose::Unsubscribe,
        OffsetDateTime::now_utc(),
    )?;
    assert_eq!(holder, person(ZOE)?);
    for (part, words) in [("text", "Unsubscribe: https://"), ("html", "Read it on the web")] {
        assert!(
            mails[0][part].as_str().is_some_and(|text| text.contains(words)),
            "{part}"
        );
    }
    assert_eq!(operator.until_done(SOON).await?.sent, 1);
    Ok(())
}

#[tokio::test]
async fn who_leaves_before_a_mail_is_sent_gets_none() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = taking().await?;
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
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::TakeAfter(Duration::from_millis(50))).await?;
    let readers = seed(&nats, 2_000).await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    operator.send(&readers).await?;
    let sent = || server.accepted_mails().len();
    eventually("mails are sent", SOON, async || (sent() > 10).then_some(())).await?;
    operator.say(IssueState::Paused).await?;
    let before = eventually("it stands still", SOON, async || {
        let before = sent();
        tokio::time::sleep(Duration::from_secs(2)).await;
        (sent() == before).then_some(before)
    })
    .await?;
    operator.say(IssueState::Running).await?;
    eventually("it goes on", SOON, async || (sent() > before).then_some(())).await?;
    operator.say(IssueState::Canceled).await?;
    operator.until_done(SOON).await?;
    assert!(sent() < readers.len(), "it went on");
    Ok(())
}

/// Fails if a reader has no mail, or mails with different message ids.
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
async fn killed_at_random_moments_nobody_is_left_out_and_only_mails_in_flight_are_repeated()
-> anyhow::Result<()> {
    let (count, kills) = (1_000, 3);
    let nats = Nats::start().await?;
    let server = taking_slowly().await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let readers = seed(&nats, count).await?;
    let operator = Operator::on(&nats).await?;
    let logs = tempfile::TempDir::new()?;
    let share = MAIL_TIME / CONNECTIONS as u32 * (count / kills) as u32;
    let killing = async {
        let mut killed = 0;
        for _ in 0..kills {
            let before = server.accepted_mails().len();
            let notifier = process(&nats, server.port, &[], logs.path())?;
            eventually("mails are sent", SOON, async || {
                (server.accepted_mails().len() > before || before == count).then_some(())
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
async fn mails_that_a_domain_defers_wait_each_for_itself_and_hold_up_no_other() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, attempt| {
        if to.ends_with("@slow.example") && attempt < 2 {
            ScriptedReply::ToRecipient("451 4.7.1 Greylisted")
        } else {
            ScriptedReply::Take
        }
    })
    .await?;
    let addresses = (0..60).map(|number| {
        let domain = if number % 3 == 0 {
            "slow.example"
        } else {
            "example.org"
        };
        format!("reader-{number}@{domain}")
    });
    let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
    let operator = Operator::on(&nats).await?;
    let site = Site::on(&nats).await?;
    operator.send(&readers).await?;
    let pause = Duration::from_secs(60);
    let _notifier = Running::start_retrying_after(pause, &nats, server.port, &[]).await?;
    eventually("all others have it", SOON, async || {
        (server.accepted_mails().len() >= 40).then_some(())
    })
    .await?;
    site.contact("ravi@example.org").await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let tried: usize = readers
        .iter()
        .map(|reader| reader.email.as_str())
        .filter(|email| email.ends_with("@slow.example"))
        .map(|email| server.attempts(email))
        .sum();
    let figures = operator.figures().await?;
    assert_eq!((figures.sent, figures.in_hand), (40, 20));
    assert!(tried <= 20, "the slow domain was asked {tried} times");
    Ok(())
}

#[tokio::test]
async fn a_mail_that_is_deferred_for_too_long_is_given_up_and_told_of() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::ToRecipient("451 4.2.2 Mailbox full")).await?;
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
    let events = nats.events().await?;
    let bounced = events
        .iter()
        .find(|event| event["type"] == "site.newsletter.bounced.v1");
    assert_eq!(bounced.context("a bounce")?["data"]["kind"], "soft");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_domain_that_defers_mails_holds_up_no_other_and_is_not_looked_at_again_and_again()
-> anyhow::Result<()> {
    const COUNT: usize = 200;
    const TAKEN: usize = COUNT / 10;
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| {
        if to.ends_with("@slow.example") {
            ScriptedReply::ToRecipient("451 4.7.1 Greylisted")
        } else {
            ScriptedReply::TakeAfter(MAIL_TIME)
        }
    })
    .await?;
    let addresses = (0..COUNT).map(|number| {
        let domain = if number.is_multiple_of(10) {
            "example.org"
        } else {
            "slow.example"
        };
        format!("reader-{number}@{domain}")
    });
    let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let logs = tempfile::TempDir::new()?;
    let _notifier = process(&nats, server.port, &[], logs.path())?;
    eventually("all that are taken", SOON, async || {
        (server.accepted_mails().len() == TAKEN).then_some(())
    })
    .await?;
    let stream = operator.context.get_stream(SENDINGS_STREAM).await?;
    let looks = stream
        .consumer_info(SENDINGS_CONSUMER)
        .await?
        .delivered
        .consumer_sequence;
    // Every deferred sending is read once before it waits.
    assert!(looks <= 2 * COUNT as u64, "{looks} looks");
    Ok(())
}

/// Their mails come first, so it looks as if the mail server accepts none.
#[tokio::test]
async fn several_slow_domains_at_the_head_of_an_issue_hold_up_no_other() -> anyhow::Result<()> {
    const OTHERS: usize = 20;
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| {
        if to.ends_with("@example.org") {
            ScriptedReply::Take
        } else {
            ScriptedReply::ToRecipient("451 4.7.1 Greylisted")
        }
    })
    .await?;
    let slow = (0..60).map(|number| format!("reader-{number}@domain-{}.example", number / 10));
    let others = (60..60 + OTHERS).map(|number| format!("reader-{number}@example.org"));
    let readers = seed_subscribers(&nats, PERSON_KEY, slow.chain(others)).await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    operator.send(&readers).await?;
    eventually("the others have theirs", SOON, async || {
        (server.accepted_mails().len() == OTHERS).then_some(())
    })
    .await
}

#[tokio::test]
async fn an_address_that_does_not_exist_is_told_of_and_is_no_dead_letter() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| match to {
        "reader-0@example.org" => ScriptedReply::ToRecipient("550 5.1.1 No such user here"),
        "reader-1@example.org" => ScriptedReply::ToContent("554 5.7.1 Looks like spam"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let readers = seed(&nats, 3).await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    operator.send(&readers).await?;
    let figures = operator.until_done(SOON).await?;
    assert_eq!((figures.sent, figures.bounced, figures.refused), (1, 1, 1));
    let events = nats.events().await?;
    let bounced: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "site.newsletter.bounced.v1")
        .collect();
    assert_eq!(bounced.len(), 1);
    assert_eq!(bounced[0]["subject"], readers[0].person.as_str());
    assert_eq!(bounced[0]["data"]["channel"], "newsletter-issue");
    assert_eq!(bounced[0]["data"]["kind"], "hard");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

/// The first refusal is ambiguous: its mail is retried, not given up.
#[tokio::test]
async fn an_issue_that_is_refused_domain_after_domain_is_held_and_goes_out_once_that_is_mended()
-> anyhow::Result<()> {
    const READERS: usize = 26;
    for refusal in [
        "550 5.7.1 Message rejected",
        "550 5.4.5 Daily user sending limit exceeded",
    ] {
        let nats = Nats::start().await?;
        let server = taking().await?;
        server.fault(MailFault::Each(ScriptedReply::ToRecipient(refusal)));
        let addresses = (0..READERS).map(|number| format!("reader-{number}@domain-{number}.example"));
        let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
        let operator = Operator::on(&nats).await?;
        operator.send(&readers).await?;
        let notifier = Running::start(&nats, server.port, &[]).await?;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let tried: usize = readers
            .iter()
            .map(|reader| server.attempts(reader.email.as_str()))
            .sum();
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
async fn a_lead_goes_before_an_issue() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::TakeAfter(Duration::from_millis(200))).await?;
    let readers = seed(&nats, 500).await?;
    let operator = Operator::on(&nats).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    operator.send(&readers).await?;
    eventually("mails are sent", SOON, async || {
        (server.accepted_mails().len() > 4).then_some(())
    })
    .await?;
    let before = server.accepted_mails().len();
    for number in 0..20 {
        site.contact(&format!("visitor-{number}@example.com")).await?;
    }
    site.until_acked(Channel::SalesLead, SOON).await?;
    let mails = server.accepted_mails().split_off(before);
    let last = mails
        .iter()
        .rposition(|mail| mail.recipient == SALES)
        .context("a lead")?;
    let issues = mails[..last]
        .iter()
        .filter(|mail| mail.recipient.starts_with("reader-"))
        .count();
    // Mails in flight at the first lead, and a few between leads.
    assert!(
        issues <= 12,
        "{issues} mails of the issue went before the last of 20 leads"
    );
    operator.say(IssueState::Canceled).await?;
    Ok(())
}

/// A mail that waits must not delay others.
#[tokio::test(flavor = "multi_thread")]
async fn an_issue_keeps_the_connections_to_a_slow_mail_server_busy() -> anyhow::Result<()> {
    const COUNT: usize = 100;
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Hold).await?;
    let readers = seed(&nats, COUNT).await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    operator.send(&readers).await?;
    eventually("each connection holds a mail", SOON, async || {
        (server.counts().held == CONNECTIONS).then_some(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_goes_out_in_little_memory() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = taking_slowly().await?;
    let readers = seed(&nats, 1_000).await?;
    let operator = Operator::on(&nats).await?;
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, server.port, &[], logs.path())?;
    eventually("the notifier is connected", SOON, async || {
        nats.connected()
            .await
            .ok()?
            .contains(&"notifier".to_owned())
            .then_some(())
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let idle = measure::resident_bytes(&notifier, "VmHWM")?;
    operator.send(&readers).await?;
    operator.until_done(SOON * 10).await?;
    let grown = measure::resident_bytes(&notifier, "VmHWM")?.saturating_sub(idle);
    assert!(grown < 64_000_000, "{grown} bytes above idle");
    Ok(())
}
