//! Permissions of broker users, for requests and their reply subjects.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use async_nats::{
    Client, HeaderMap, StatusCode,
    jetstream::{self, consumer::PullConsumer},
};
use futures_util::{FutureExt, StreamExt, TryStreamExt, future::try_join_all};
use site_broker::{Endpoint, UPLOADS_BUCKET, buckets::open_bucket, provision::stream_names};
use site_events::{Channel, SITE_STREAM};
use testkit::{Nats, User};
use tokio::time::timeout;

use crate::support::{SOON, create_the_consumer, operator, publish};

const NO_ANSWER: Duration = Duration::from_secs(3);
const CHANNEL: &str = "contact-received-sales";
const WEBHOOK: &str =
    r#"[{"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"}]"#;
/// Header with the subject to which the broker sends a message's trace.
const TRACE_DESTINATION: &str = "Nats-Trace-Dest";
const OWN_EVENT: &str = "site.contact.received.0123456789abcdef0123456789abcdef";
const LAST_OWN_EVENT: &str = "$JS.API.DIRECT.GET.SITE.site.contact.received.0123456789abcdef0123456789abcdef";

const ANY: &str = "{}";
const NEXT: &str = r#"{ "batch": 1, "no_wait": true }"#;
const FIRST: &str = r#"{ "seq": 1 }"#;
const SNAPSHOT: &str = r#"{ "deliver_subject": "backup.rights" }"#;
const REDIRECTED: &str = r#"{ "stream_name": "SITE", "config":
    { "durable_name": "contact-received-sales", "deliver_subject": "dead.x.y" } }"#;

/// Requests with their bodies.
type Requests = &'static [(&'static str, &'static str)];

const PERMITTED: [(User, Requests); 7] = [
    (
        User::Contact,
        &[
            ("$JS.API.STREAM.INFO.SITE", ANY),
            (OWN_EVENT, r#"{ "id": "own" }"#),
            (LAST_OWN_EVENT, ""),
        ],
    ),
    (
        User::Newsletter,
        &[
            ("$JS.API.STREAM.INFO.SITE", ANY),
            ("$JS.API.STREAM.MSG.GET.KV_subscribers", FIRST),
            (
                "$JS.API.CONSUMER.MSG.NEXT.SITE.newsletter-bounced-suppression",
                NEXT,
            ),
        ],
    ),
    (
        User::Careers,
        &[
            ("$JS.API.STREAM.INFO.SITE", ANY),
            ("$JS.API.STREAM.MSG.GET.KV_uploads", FIRST),
        ],
    ),
    (
        User::Notifier,
        &[
            ("$JS.API.STREAM.INFO.SITE", ANY),
            ("$JS.API.STREAM.MSG.GET.SITE", FIRST),
            ("$JS.API.CONSUMER.MSG.NEXT.SITE.contact-received-sales", NEXT),
        ],
    ),
    (
        User::Reader,
        &[
            ("$JS.API.STREAM.INFO.SITE", ANY),
            ("$JS.API.STREAM.MSG.GET.SITE", FIRST),
            ("$JS.API.CONSUMER.INFO.SITE.reader", ANY),
            ("$JS.API.CONSUMER.MSG.NEXT.SITE.reader", NEXT),
        ],
    ),
    (
        User::Backup,
        &[
            ("$JS.API.STREAM.INFO.SITE", ANY),
            ("$JS.API.STREAM.LIST", ANY),
            ("$JS.API.STREAM.SNAPSHOT.SITE", SNAPSHOT),
        ],
    ),
    (
        User::Monitor,
        &[
            ("$SYS.REQ.SERVER.PING", ANY),
            ("$SYS.REQ.SERVER.PING.JSZ", ANY),
            ("$SYS.REQ.SERVER.PING.HEALTHZ", ANY),
        ],
    ),
];

/// Forbidden requests of the users `reader`, `backup` and `monitor`. Another test tries changes of streams.
const FORBIDDEN: [(User, Requests); 3] = [
    (
        User::Reader,
        &[
            ("$JS.API.CONSUMER.MSG.NEXT.SITE.contact-received-sales", NEXT),
            ("$JS.API.CONSUMER.DELETE.SITE.reader", ANY),
            ("$JS.API.CONSUMER.CREATE.SITE.reader", REDIRECTED),
            (
                "$JS.API.CONSUMER.DURABLE.CREATE.SITE.contact-received-sales",
                REDIRECTED,
            ),
            ("$JS.API.STREAM.MSG.GET.DEAD_LETTERS", FIRST),
            ("$KV.subscribers.x", ANY),
            ("site.contact.received.x", ANY),
            ("replay.contact-received-sales.x", ANY),
            ("dead.contact-received-sales.x", ANY),
        ],
    ),
    (
        User::Backup,
        &[
            ("$JS.API.STREAM.CREATE.MORE", r#"{ "name": "MORE" }"#),
            ("$JS.API.STREAM.MSG.GET.SITE", FIRST),
            ("$JS.API.DIRECT.GET.SITE", FIRST),
            ("$JS.API.CONSUMER.LIST.SITE", ANY),
            ("$JS.API.CONSUMER.INFO.SITE.contact-received-sales", ANY),
            ("$JS.API.CONSUMER.MSG.NEXT.SITE.contact-received-sales", NEXT),
            ("$JS.API.CONSUMER.DELETE.SITE.contact-received-sales", ANY),
            ("$JS.ACK.SITE.contact-received-sales.1.1.1.1.0", ANY),
            ("$KV.subscribers.x", ANY),
            (OWN_EVENT, ANY),
            ("dead.contact-received-sales.x", ANY),
            ("backup.rights", ANY),
        ],
    ),
    (
        User::Monitor,
        &[
            ("$SYS.REQ.SERVER.PING.PROFILEZ", ANY),
            ("$JS.API.SERVER.REMOVE", ANY),
            ("$JS.API.ACCOUNT.PURGE.SITE", ANY),
        ],
    ),
];

struct Question {
    user: User,
    subject: String,
    body: &'static str,
    is_allowed: bool,
}

impl Question {
    fn new(user: User, subject: impl Into<String>, body: &'static str, is_allowed: bool) -> Self {
        Self {
            user,
            subject: subject.into(),
            body,
            is_allowed,
        }
    }

    fn all(table: &[(User, Requests)], is_allowed: bool) -> impl Iterator<Item = Self> {
        let asked = table
            .iter()
            .flat_map(|(user, requests)| requests.iter().map(move |request| (*user, *request)));
        asked.map(move |(user, (subject, body))| Self::new(user, subject, body, is_allowed))
    }

    /// Whether the broker answers. It ignores denied requests, so their timeout is short.
    async fn is_answered(&self, nats: &Nats) -> anyhow::Result<bool> {
        let client = nats.client(self.user).await?;
        // `Client::request` would not return a delivered event.
        let inbox = client.new_inbox();
        let mut answers = client.subscribe(inbox.clone()).await?;
        client
            .publish_with_reply(self.subject.clone(), inbox, self.body.into())
            .await?;
        let patience = if self.is_allowed { SOON } else { NO_ANSWER };
        let answer = timeout(patience, answers.next()).await.ok().flatten();
        Ok(answer.is_some_and(|answer| answer.status != Some(StatusCode::NO_RESPONDERS)))
    }
}

async fn ensure_answered_if_allowed(nats: &Nats, questions: &[Question]) -> anyhow::Result<()> {
    let answers = questions.iter().map(|question| question.is_answered(nats));
    for (question, is_answered) in questions.iter().zip(try_join_all(answers).await?) {
        let name = question.user.name();
        assert_eq!(is_answered, question.is_allowed, "{name} {}", question.subject);
    }
    Ok(())
}

/// Reply subjects where an answer would be stored or obeyed.
fn destinations(asking: User) -> impl Iterator<Item = String> {
    let stored = [
        "site.other.event.x",
        "replay.contact-received-sales.x",
        "$KV.subscribers.x.y",
        "$KV.uploads.x",
        "$KV.endpoints.x.y",
        "$JS.API.STREAM.PURGE.SITE",
        "$JS.API.STREAM.DELETE.KV_endpoints",
    ];
    // The notifier may publish any dead letter.
    let dead_letter = (asking != User::Notifier).then_some("dead.contact-received-sales.x");
    let others = User::all().filter(move |user| *user != asking);
    let stored = stored.into_iter().chain(dead_letter).map(str::to_owned);
    stored.chain(others.map(stolen_inbox))
}

fn stolen_inbox(user: User) -> String {
    format!("_INBOX_{}.stolen", user.name())
}

/// Messages per stream and subject, except [`OWN_EVENT`].
pub async fn stored(nats: &Nats) -> anyhow::Result<BTreeMap<String, usize>> {
    let context = operator(nats).await?;
    let mut stored = BTreeMap::new();
    for name in stream_names() {
        let stream = context.get_stream(&name).await?;
        let subjects: Vec<_> = stream.info_with_subjects(">").await?.try_collect().await?;
        let named = subjects
            .into_iter()
            .map(|(subject, count)| (format!("{name} {subject}"), count));
        stored.extend(named.filter(|(subject, _)| !subject.ends_with(OWN_EVENT)));
        stored.insert(name, 0);
    }
    Ok(stored)
}

async fn ask_with_each_destination(client: &Client, question: &Question) -> anyhow::Result<()> {
    let Question { subject, body, .. } = question;
    for destination in destinations(question.user) {
        client
            .publish_with_reply(subject.clone(), destination.clone(), (*body).into())
            .await?;
        let mut headers = HeaderMap::new();
        headers.insert(TRACE_DESTINATION, destination);
        let inbox = client.new_inbox();
        client
            .publish_with_reply_and_headers(subject.clone(), inbox, headers, (*body).into())
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_reaches_only_the_requesting_user() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    create_the_consumer(&nats).await?;
    publish(&nats).await?;
    let mut inboxes = Vec::new();
    for user in User::all() {
        let client = nats.client(user).await?;
        let inbox = client.subscribe(stolen_inbox(user)).await?;
        client.flush().await?;
        inboxes.push((user, client, inbox));
    }
    let before = stored(&nats).await?;
    let questions = Question::all(&PERMITTED, true).filter(|question| question.user != User::Monitor);
    for question in questions {
        let (name, subject) = (question.user.name(), &question.subject);
        let client = nats.client(question.user).await?;
        ask_with_each_destination(&client, &question).await?;
        // The server answers in order, so earlier requests are done.
        client.request("$JS.API.STREAM.INFO.SITE", "".into()).await?;
        for (owner, watching, inbox) in &mut inboxes {
            watching.flush().await?;
            if *owner != question.user {
                let stolen = inbox.next().now_or_never();
                let owner = owner.name();
                assert!(
                    stolen.is_none(),
                    "{name} asked {subject}: {stolen:?} came to {owner}"
                );
            }
        }
        assert_eq!(stored(&nats).await?, before, "{name} asked {subject}");
    }
    Ok(())
}

/// Pulls a message. Then `user` tries to ack it directly, and by a request with the ack subject as its reply.
async fn ensure_it_cannot_acknowledge(
    nats: &Nats,
    consumer: &str,
    user: User,
    question: &'static str,
) -> anyhow::Result<()> {
    let operator = operator(nats).await?;
    let mut consumer: PullConsumer = operator.get_consumer_from_stream(consumer, SITE_STREAM).await?;
    let delivered = consumer.fetch().max_messages(1).messages().await?.next().await;
    let delivered = delivered.context("a delivery")?.map_err(anyhow::Error::msg)?;
    let ack = delivered.reply.clone().context("where it is acknowledged")?;
    let client = nats.client(user).await?;
    let asked = client.publish_with_reply(question, ack.clone(), "".into());
    asked.await?;
    client.publish(ack, "+TERM".into()).await?;
    client.request(question, "".into()).await?;
    assert_eq!(consumer.info().await?.num_ack_pending, 1, "{}", user.name());
    Ok(())
}

#[tokio::test]
async fn no_user_can_pull_or_ack_another_consumer() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    nats.provision(&["--webhooks", WEBHOOK]).await?;
    create_the_consumer(&nats).await?;
    publish(&nats).await?;
    let contact = jetstream::new(nats.client(User::Contact).await?);
    contact.publish(OWN_EVENT, "+TERM".into()).await?.await?;
    ensure_it_cannot_acknowledge(&nats, CHANNEL, User::Contact, LAST_OWN_EVENT).await?;
    ensure_it_cannot_acknowledge(&nats, "reader", User::Notifier, "$JS.API.STREAM.INFO.SITE").await?;

    let site = operator(&nats).await?.get_stream(SITE_STREAM).await?;
    let names: Vec<String> = site.consumer_names().try_collect().await?;
    let questions = names.iter().map(|name| {
        let is_channel = Channel::ALL.into_iter().any(|channel| channel.name() == name);
        let is_own = is_channel || name.starts_with(Endpoint::CONSUMER_PREFIX);
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.SITE.{name}");
        Question::new(User::Notifier, subject, NEXT, is_own)
    });
    ensure_answered_if_allowed(&nats, &questions.collect::<Vec<_>>()).await
}

fn streams_of(user: User) -> Vec<String> {
    let own: &[&str] = match user {
        User::Contact | User::Reader | User::Backup => &["SITE"],
        User::Newsletter => &["SITE", "SENDINGS", "KV_newsletter-issues", "KV_subscribers"],
        User::Careers => &["SITE", "KV_uploads"],
        User::Notifier | User::Operator => return stream_names().collect(),
        User::Monitor => &[],
    };
    own.iter().map(|&name| name.to_owned()).collect()
}

#[tokio::test]
async fn an_unreadable_bucket_is_not_opened() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    // The notifier may see the bucket, but not read it.
    let context = jetstream::new(nats.client(User::Notifier).await?);
    let opened = open_bucket(&context, UPLOADS_BUCKET).await;
    let refused = opened.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("cannot be read"), "{refused}");
    Ok(())
}

#[tokio::test]
async fn users_read_only_their_streams_and_change_none() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let mut questions = Vec::new();
    for (user, stream) in User::all().flat_map(|user| stream_names().map(move |stream| (user, stream))) {
        let mut ask = |request: &str, body, is_allowed| {
            let subject = format!("$JS.API.{request}.{stream}");
            questions.push(Question::new(user, subject, body, is_allowed));
        };
        ask("STREAM.INFO", ANY, streams_of(user).contains(&stream));
        if user != User::Operator {
            ask("STREAM.SNAPSHOT", SNAPSHOT, user == User::Backup);
            for change in [
                "STREAM.PURGE",
                "STREAM.DELETE",
                "STREAM.UPDATE",
                "STREAM.RESTORE",
                "STREAM.MSG.DELETE",
                "CONSUMER.CREATE",
            ] {
                ask(change, ANY, false);
            }
        }
    }
    ensure_answered_if_allowed(&nats, &questions).await
}

#[tokio::test]
async fn accounts_that_read_or_back_up_can_do_nothing_else() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    create_the_consumer(&nats).await?;
    publish(&nats).await?;
    let before = stored(&nats).await?;
    let questions = Question::all(&PERMITTED, true).chain(Question::all(&FORBIDDEN, false));
    let server = nats.client(User::Monitor).await?.server_info().server_id;
    let commands = ["RELOAD", "KICK", "LDM"].map(|command| {
        let subject = format!("$SYS.REQ.SERVER.{server}.{command}");
        Question::new(User::Monitor, subject, ANY, false)
    });
    let questions: Vec<Question> = questions.chain(commands).collect();
    ensure_answered_if_allowed(&nats, &questions).await?;
    assert_eq!(stored(&nats).await?, before);
    Ok(())
}

#[tokio::test]
async fn no_other_account_receives_a_snapshot() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish(&nats).await?;
    let mut ears = Vec::new();
    for user in User::all() {
        if !matches!(user, User::Backup | User::Operator) {
            let client = nats.client(user).await?;
            let heard = client.subscribe(">").await?;
            client.flush().await?;
            ears.push((user, client, heard));
        }
    }
    let backup = nats.client(User::Backup).await?;
    let mut chunks = backup.subscribe("backup.rights").await?;
    backup
        .request("$JS.API.STREAM.SNAPSHOT.SITE", SNAPSHOT.into())
        .await?;
    let chunk = timeout(SOON, chunks.next()).await?.context("a piece of it")?;
    assert!(!chunk.payload.is_empty());
    for (user, client, mut heard) in ears {
        client.flush().await?;
        assert!(heard.next().now_or_never().is_none(), "{}", user.name());
    }
    Ok(())
}

#[tokio::test]
async fn connections_without_a_login_are_refused() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    assert!(async_nats::connect(nats.url()).await.is_err());
    let login = async_nats::ConnectOptions::with_user_and_password(
        "route".to_owned(),
        nats.password_of(User::Operator).to_owned(),
    );
    assert!(login.connect(nats.url()).await.is_err());
    Ok(())
}
