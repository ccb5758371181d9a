//! Issues of the newsletter on their way out: whom a mail reaches, within which limits, whoever is killed meanwhile.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use async_nats::jetstream::{self, message::PublishMessage};
use backon::{ConstantBuilder, Retryable};
use issues::{Figures, IssueProgress, IssueState, Issues, Ledger, SendingLimits};
use site_broker::{DELIVERIES_BUCKET, Publisher};
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
use uuid::Uuid;
use visitor::{
    EmailAddress,
    token::{Purpose, TokenKey},
};

pub use testkit::PERSON_KEY;

use crate::running::{Running, SALES, SOON, Site, TOKEN_KEY, person, process, process_by_clock};

const NAME: &str = "smart-home";
const ZOE: &str = "zoe@example.org";
/// Shorter than the usual minute, so that what a dead notifier had taken comes back soon.
const ACK_WAIT: Duration = Duration::from_secs(2);
/// How many connections a channel has.
const CONNECTIONS: usize = 4;
/// How many mails the newsletter service puts into their stream together.
const STEP: usize = 250;
/// How often it looks whether there is room in the stream again.
const ROOM_INTERVAL: Duration = Duration::from_secs(1);
/// How long a mail takes at a mail server that takes its time.
const MAIL_TIME: Duration = Duration::from_millis(5);

fn issue() -> IssueId {
    IssueId::named(NAME)
}

/// The operator and the newsletter service, as far as the notifier has to do with them.
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

    /// Asks for the issue, and hands it out to these.
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

    /// Has somebody look at the issue who need not be a subscriber.
    async fn send_test(&self, to: [&str; 2]) -> anyhow::Result<()> {
        self.ask(Audience::Test).await?;
        for to in to {
            let sending = Sending {
                id: issue().sending_id(Uuid::new_v4()),
                subject: person(to)?,
                requestid: "visit-0001".to_owned(),
                issue: issue(),
                test: Some(EmailAddress::parse(to)?),
                repeats_refused: false,
            };
            self.hand_out([sending]).await?;
        }
        Ok(())
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

    /// Where the stream is full it waits for room, as the newsletter service does: what is put twice is one mail by its id.
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

    /// Somebody leaves.
    async fn unsubscribe(&self, reader: &SeededSubscriber) -> anyhow::Result<()> {
        let known = self.subscribers.read(&reader.person).await?;
        let record = known.subscriber.context("a record")?;
        let left = record.unsubscribed(OffsetDateTime::now_utc()).forgotten();
        self.subscribers
            .write(&reader.person, &left, known.revision, Retention::Forever)
            .await?;
        Ok(())
    }

    /// How many mails wait or are in somebody's hands.
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
        Ok(self.issues.ledger().await?.record.figures(issue()))
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

/// How often each was mailed, by the ids that those mails had.
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

/// How many mails were sent again, each known as the same one to mail programs, where each reader has one.
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

/// How many mails are done, whatever came of them.
fn done(figures: Figures) -> u64 {
    figures.sent + figures.left + figures.bounced + figures.refused + figures.given_up
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
        let (mut killed, mut in_flight) = (0, 0);
        for _ in 0..kills {
            let before = server.accepted_mails().len();
            let notifier = process(&nats, server.port, &[], logs.path())?;
            eventually("mails are sent", SOON, async || {
                (server.accepted_mails().len() > before || before == count).then_some(())
            })
            .await?;
            tokio::time::sleep(share.mul_f64(fastrand::f64())).await;
            let ledger = operator.issues.ledger().await?.record;
            in_flight += ledger.in_hand(issue());
            killed += usize::from(done(ledger.figures(issue())) < count as u64);
            notifier.kill().await?;
        }
        anyhow::Ok((killed, in_flight, process(&nats, server.port, &[], logs.path())?))
    };
    let ((), (killed, in_flight, _notifier)) = tokio::try_join!(operator.send(&readers), killing)?;
    let figures = operator.until_done(SOON * 10).await?;
    let repeats = repeats(&server, &readers);
    assert!(
        repeats <= 16 * kills,
        "{repeats} repeated, {in_flight} were in flight"
    );
    assert_eq!(figures.sent, count as u64, "{figures:?}");
    assert_eq!(killed, kills, "it was killed after it had sent all");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daily_limit_holds_for_three_notifiers_that_are_started_anew_and_is_used_to_its_last()
-> anyhow::Result<()> {
    let limit = 60;
    let nats = Nats::start().await?;
    let server = taking_slowly().await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let readers = seed(&nats, 2 * limit).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let logs = tempfile::TempDir::new()?;
    let flags = [format!("--newsletter-per-day={limit}")];
    let start = || process(&nats, server.port, &flags, logs.path());
    let mut notifiers = vec![start()?, start()?, start()?];
    for share in [3, 2] {
        eventually("mails are sent", SOON, async || {
            (server.accepted_mails().len() >= limit / share).then_some(())
        })
        .await?;
        notifiers.remove(0).stop().await?;
        notifiers.push(start()?);
    }
    eventually("as many as may be are sent", SOON * 2, async || {
        (server.accepted_mails().len() >= limit).then_some(())
    })
    .await?;
    // One is killed while what is beyond the limit waits in its hands, and comes to others.
    notifiers.remove(0).kill().await?;
    tokio::time::sleep(3 * ACK_WAIT).await;
    let mailed = by_reader(&server);
    assert_eq!((mailed.len(), server.accepted_mails().len()), (limit, limit));
    assert_eq!(operator.figures().await?.sent, limit as u64);
    assert_eq!(
        operator.waiting().await?,
        limit as u64,
        "the rest waits for tomorrow"
    );
    Ok(())
}

#[tokio::test]
async fn a_mail_of_a_test_takes_no_place_and_begins_no_day_of_the_warm_up() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = taking().await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &["--newsletter-warm-up=1,500".to_owned()]).await?;
    operator.send_test([ZOE, "ravi@example.org"]).await?;
    operator.until_done(SOON).await?;
    assert_eq!(server.accepted_mails().len(), 2);
    assert_eq!(operator.issues.ledger().await?.record, Ledger::default());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notifier_whose_clock_is_wrong_opens_no_day_early_nor_anew() -> anyhow::Result<()> {
    const LIMIT: usize = 10;
    let nats = Nats::start().await?;
    let server = taking().await?;
    let readers = seed(&nats, 3 * LIMIT).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let folder = tempfile::TempDir::new()?;
    let flags = [format!("--newsletter-per-day={LIMIT}")];
    let start = |offset| process_by_clock(&nats, server.port, &flags, folder.path(), offset);
    let _right = process(&nats, server.port, &flags, folder.path())?;
    eventually("as many as may be are sent", SOON, async || {
        (server.accepted_mails().len() >= LIMIT).then_some(())
    })
    .await?;
    let _wrong = [start("+1d")?, start("-1d")?];
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!(server.accepted_mails().len(), LIMIT);
    let ledger = operator.issues.ledger().await?.record;
    assert_eq!(
        ledger.mails_of_the_day(OffsetDateTime::now_utc()),
        u32::try_from(LIMIT)?
    );
    Ok(())
}

#[tokio::test]
async fn while_the_mail_server_is_away_no_mail_takes_a_place_of_the_day() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let port = closed.local_addr()?.port();
    drop(closed);
    let readers = seed(&nats, 10).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let _notifier = Running::start(&nats, port, &["--newsletter-per-day=5".to_owned()]).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    // For a moment those have one that ask in turn whether it is back.
    let (mut least, now) = (u32::MAX, OffsetDateTime::now_utc());
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        least = least.min(operator.issues.ledger().await?.record.mails_of_the_day(now));
    }
    assert_eq!(least, 0, "places are kept");
    assert_eq!(operator.waiting().await?, 10);
    Ok(())
}

/// A notifier that is killed between the two leaves the record, and the mail in its hands.
#[tokio::test]
async fn a_mail_that_was_decided_on_before_a_kill_counts_as_what_was_decided() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = taking().await?;
    let readers = seed(&nats, 3).await?;
    let (operator, site) = (Operator::on(&nats).await?, Site::on(&nats).await?);
    let (mut ledger, now) = (operator.issues.ledger().await?, OffsetDateTime::now_utc());
    for (reader, word) in readers.iter().zip(["left ", "bounced ", ""]) {
        let id = issue().sending_id(reader.record.subscription);
        let limits = SendingLimits::default();
        let mail = (issue(), "example.org");
        ledger.record.claim(id, Uuid::new_v4(), mail, now, &limits);
        let record = format!("{word}2026-11-20T12:00:00Z");
        site.note(DELIVERIES_BUCKET, &format!("{id}.{SENDINGS_CONSUMER}"), &record)
            .await?;
    }
    operator
        .issues
        .write_ledger(&ledger.record, ledger.revision)
        .await?;
    operator.send(&readers).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let figures = operator.until_done(SOON).await?;
    assert_eq!((figures.left, figures.bounced, figures.sent), (1, 1, 1));
    // Whoever was killed with one in hand gives no place back.
    let ledger = operator.issues.ledger().await?.record;
    assert_eq!((ledger.in_hand(issue()), ledger.mails_of_the_day(now)), (0, 3));
    Ok(())
}

/// By which limit, how many mails it lets go, and for how many seconds.
const LIMITS: [(&str, usize, i64); 4] = [
    ("--newsletter-per-second=5", 5, 1),
    ("--newsletter-per-hour=12", 12, 60 * 60),
    ("--newsletter-warm-up=9,500", 9, 24 * 60 * 60),
    // To each of two domains.
    ("--newsletter-domain-per-minute=4", 8, 60),
];

/// How many windows of so many seconds two moments are in.
fn windows(from: OffsetDateTime, to: OffsetDateTime, seconds: i64) -> usize {
    let window = |time: OffsetDateTime| time.unix_timestamp().div_euclid(seconds);
    usize::try_from(window(to) - window(from) + 1).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_limit_is_one_of_two_notifiers_together() -> anyhow::Result<()> {
    for (flag, limit, seconds) in LIMITS {
        let nats = Nats::start().await?;
        let server = taking().await?;
        let addresses = (0..60).map(|number| format!("reader-{number}@domain-{}.example", number % 2));
        let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
        let operator = Operator::on(&nats).await?;
        let logs = tempfile::TempDir::new()?;
        let flags = [flag.to_owned()];
        let start = || process(&nats, server.port, &flags, logs.path());
        let _notifiers = [start()?, start()?];
        let begun = OffsetDateTime::now_utc();
        operator.send(&readers).await?;
        eventually("as many as may be are sent", SOON, async || {
            (server.accepted_mails().len() >= limit).then_some(())
        })
        .await?;
        tokio::time::sleep(Duration::from_secs(4)).await;
        let sent = server.accepted_mails().len();
        let may_be = limit * windows(begun, OffsetDateTime::now_utc(), seconds);
        assert!(sent <= may_be, "{flag}: {sent} mails, {may_be} may be");
        assert!(sent < readers.len(), "{flag}: nothing was held");
    }
    Ok(())
}

#[tokio::test]
async fn a_domain_that_puts_mails_off_is_slowed_and_no_other() -> anyhow::Result<()> {
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
    let _notifier = Running::start(&nats, server.port, &[]).await?;
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
    assert!(tried <= 6, "the slow domain was asked {tried} times");
    assert_eq!(operator.figures().await?.sent, 40);
    assert!(operator.figures().await?.deferred > 0);
    Ok(())
}

/// Nine of ten subscribers are of a domain that takes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_domain_that_puts_mails_off_holds_up_no_other_and_is_not_looked_at_again_and_again()
-> anyhow::Result<()> {
    const COUNT: usize = 1_000;
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
    // Each of the others is looked at before it waits.
    assert!(looks <= 2 * COUNT as u64, "{looks} looks");
    Ok(())
}

#[tokio::test]
async fn a_mail_server_that_puts_every_domain_off_is_away_and_slows_none() -> anyhow::Result<()> {
    const READERS: usize = 60;
    const DOMAINS: usize = 20;
    /// The first of four domains, by which it is not known yet, and what is on a connection by then.
    const PUT_OFF: usize = 8;
    /// Those that asked whether it is back leave their domains alone for some seconds more.
    const ASKED: usize = 4;
    let nats = Nats::start().await?;
    let is_full = Arc::new(AtomicBool::new(true));
    let answer = is_full.clone();
    let server = MailServer::start(move |_, _| {
        if answer.load(Ordering::Relaxed) {
            ScriptedReply::ToRecipient("451 4.7.1 Greylisted")
        } else {
            ScriptedReply::Take
        }
    })
    .await?;
    let addresses = (0..READERS).map(|number| format!("reader-{number}@domain-{}.example", number % DOMAINS));
    let readers = seed_subscribers(&nats, PERSON_KEY, addresses).await?;
    let operator = Operator::on(&nats).await?;
    operator.send(&readers).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    tokio::time::sleep(Duration::from_secs(8)).await;
    is_full.store(false, Ordering::Relaxed);
    eventually("all but the first", Duration::from_secs(10), async || {
        (server.accepted_mails().len() >= READERS - PUT_OFF - 3 * ASKED).then_some(())
    })
    .await?;
    let deferred = operator.figures().await?.deferred;
    assert!(deferred <= PUT_OFF as u64, "{deferred} attempts were used up");
    Ok(())
}

/// Their mails come first, and look as if the mail server took none.
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

/// A relay that asks the receiving domain takes its time with the address, in which no content is sent.
#[tokio::test]
async fn recipients_that_take_long_hold_up_no_others() -> anyhow::Result<()> {
    const OTHERS: usize = 20;
    const LONG: Duration = Duration::from_secs(25);
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| {
        if to.ends_with("@example.org") {
            ScriptedReply::Take
        } else {
            ScriptedReply::TakeRecipientAfter(LONG)
        }
    })
    .await?;
    let slow = (0..8).map(|number| format!("reader-{number}@slow.example"));
    let others = (8..8 + OTHERS).map(|number| format!("reader-{number}@example.org"));
    let readers = seed_subscribers(&nats, PERSON_KEY, slow.chain(others)).await?;
    let operator = Operator::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    operator.send(&readers).await?;
    eventually("the others have theirs", LONG / 2, async || {
        (server.accepted_mails().len() == OTHERS).then_some(())
    })
    .await
}

#[tokio::test]
async fn the_mail_of_a_test_that_is_put_off_again_and_again_is_given_up() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::ToRecipient("451 4.7.1 Greylisted")).await?;
    let operator = Operator::on(&nats).await?;
    let pause = Duration::from_millis(100);
    let _notifier = Running::start_retrying_after(pause, &nats, server.port, &[]).await?;
    operator
        .send_test(["asha@example.org", "ravi@example.org"])
        .await?;
    operator.until_done(SOON).await?;
    for to in ["asha@example.org", "ravi@example.org"] {
        assert!(
            (2..=8).contains(&server.attempts(to)),
            "{} attempts",
            server.attempts(to)
        );
    }
    Ok(())
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
    assert_eq!(bounced[0]["data"].get("kind"), None, "a hard one");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

/// Of the first it cannot be known yet; it is asked again, and not given up.
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
        let _notifier = Running::start(&nats, server.port, &[]).await?;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let tried: usize = readers
            .iter()
            .map(|reader| server.attempts(reader.email.as_str()))
            .sum();
        assert!((1..READERS).contains(&tried), "{tried} attempts");
        server.fault(MailFault::None);
        let figures = operator.until_done(SOON).await?;
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
    // Those on a connection when the first lead came, and what slips in between two of them.
    assert!(
        issues <= 12,
        "{issues} mails of the issue went before the last of 20 leads"
    );
    operator.say(IssueState::Canceled).await?;
    Ok(())
}

/// At a mail server that takes its time all of its connections are in use: what a mail waits for before it is sent, others do not wait
/// for.
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
