//! What a broker user can cause by its requests and their reply subjects.

use std::{collections::BTreeMap, time::Duration};

use anyhow::Context as _;
use async_nats::{
    Client, HeaderMap, Subject,
    jetstream::{self, consumer::PullConsumer},
};
use futures_util::{FutureExt, StreamExt, TryStreamExt, future::try_join_all};
use serde_json::{Value, json};
use site_broker::{Endpoint, UPLOADS_BUCKET, buckets::open_bucket, provision::stream_names};
use site_events::{Channel, SITE_STREAM, event::ContactReceived};
use testkit::{Nats, User, eventually};
use tokio::time::timeout;
use visitor::EmailAddress;

use crate::readers::{create_the_consumer, is_answered, publish_data};

const SOON: Duration = Duration::from_secs(30);
const CHANNEL: &str = "contact-received-sales";
const WEBHOOK: &str =
    r#"[{"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"}]"#;
/// Header that names the subject for a message's trace.
const TRACE_DESTINATION: &str = "Nats-Trace-Dest";
const OWN_EVENT: &str = "site.contact.received.0123456789abcdef0123456789abcdef";

fn permitted() -> Vec<(User, String, Value)> {
    let info = |user| (user, "$JS.API.STREAM.INFO.SITE".to_owned(), json!({}));
    let next = |user, consumer: &str| {
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.SITE.{consumer}");
        (user, subject, json!({ "batch": 1, "no_wait": true }))
    };
    let get = |user, stream: &str| {
        let subject = format!("$JS.API.STREAM.MSG.GET.{stream}");
        (user, subject, json!({ "seq": 1 }))
    };
    let last = format!("$JS.API.DIRECT.GET.SITE.{OWN_EVENT}");
    vec![
        info(User::Contact),
        (User::Contact, OWN_EVENT.to_owned(), json!({ "id": "own" })),
        (User::Contact, last, json!(null)),
        info(User::Newsletter),
        get(User::Newsletter, "KV_subscribers"),
        next(User::Newsletter, "newsletter-bounced-suppression"),
        info(User::Careers),
        get(User::Careers, "KV_uploads"),
        info(User::Notifier),
        get(User::Notifier, SITE_STREAM),
        next(User::Notifier, CHANNEL),
        info(User::Reader),
        get(User::Reader, SITE_STREAM),
        next(User::Reader, "reader"),
        info(User::Backup),
        (User::Backup, "$JS.API.STREAM.LIST".to_owned(), json!({})),
        (
            User::Backup,
            "$JS.API.STREAM.SNAPSHOT.SITE".to_owned(),
            json!({ "deliver_subject": "backup.rights" }),
        ),
    ]
}

/// Reply subjects that would store, forge or command something. No asking user may publish there.
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

/// Messages per stream and subject, without the contact service's own.
pub async fn stored(nats: &Nats) -> anyhow::Result<BTreeMap<String, usize>> {
    let context = jetstream::new(nats.client(User::Operator).await?);
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

async fn publish_an_event(nats: &Nats) -> anyhow::Result<()> {
    let event = ContactReceived {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse("zoe@example.org")?,
        message: "Two cameras.".to_owned(),
        attribution: None,
    };
    publish_data(nats, event).await.map(drop)
}

async fn ask_with_each_destination(
    client: &Client,
    user: User,
    subject: &str,
    body: &Value,
) -> anyhow::Result<()> {
    for destination in destinations(user) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        client
            .publish_with_reply(subject.to_owned(), destination.clone(), body.clone().into())
            .await?;
        let mut headers = HeaderMap::new();
        headers.insert(TRACE_DESTINATION, destination);
        let inbox = client.new_inbox();
        client
            .publish_with_reply_and_headers(subject.to_owned(), inbox, headers, body.into())
            .await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_reaches_nothing_but_whoever_asked_whatever_subject_it_is_asked_for_under()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    create_the_consumer(&nats).await?;
    publish_an_event(&nats).await?;
    let mut inboxes = Vec::new();
    for user in User::all() {
        let client = nats.client(user).await?;
        let inbox = client.subscribe(stolen_inbox(user)).await?;
        client.flush().await?;
        inboxes.push((user, client, inbox));
    }
    let before = stored(&nats).await?;
    for (user, subject, body) in permitted() {
        let client = nats.client(user).await?;
        ask_with_each_destination(&client, user, &subject, &body).await?;
        // The server answers in order, so earlier requests are done.
        client.request("$JS.API.STREAM.INFO.SITE", "".into()).await?;
        for (owner, watching, inbox) in inboxes.iter_mut().filter(|(owner, ..)| *owner != user) {
            watching.flush().await?;
            let stolen = inbox.next().now_or_never();
            assert!(
                stolen.is_none(),
                "{} asked {subject}: {stolen:?} came to {}",
                user.name(),
                owner.name()
            );
        }
        assert_eq!(stored(&nats).await?, before, "{} asked {subject}", user.name());
    }
    Ok(())
}

#[tokio::test]
async fn nobody_has_another_service_s_delivery_acknowledged_by_an_answer() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish_an_event(&nats).await?;
    let notifier = jetstream::new(nats.client(User::Notifier).await?);
    let mut consumer: PullConsumer = notifier.get_consumer_from_stream(CHANNEL, SITE_STREAM).await?;
    let ack = take_and_leave_unacknowledged(&consumer).await?;

    let contact = nats.client(User::Contact).await?;
    let context = jetstream::new(contact.clone());
    context.publish(OWN_EVENT, "+TERM".into()).await?.await?;
    let last = format!("$JS.API.DIRECT.GET.SITE.{OWN_EVENT}");
    contact
        .publish_with_reply(last.clone(), ack.clone(), "".into())
        .await?;
    contact.publish(ack, "+TERM".into()).await?;
    contact.request(last, "".into()).await?;
    assert_eq!(consumer.info().await?.num_ack_pending, 1);
    Ok(())
}

/// Leaves a delivery unacked and returns its ack subject.
async fn take_and_leave_unacknowledged(consumer: &PullConsumer) -> anyhow::Result<Subject> {
    let delivered = consumer.fetch().max_messages(1).messages().await?.next().await;
    let delivered = delivered.context("a delivery")?.map_err(anyhow::Error::msg)?;
    delivered.reply.clone().context("where it is acknowledged")
}

#[tokio::test]
async fn the_notifier_takes_and_acknowledges_nothing_of_another_s_consumer() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    nats.provision(&["--webhooks", WEBHOOK]).await?;
    create_the_consumer(&nats).await?;
    publish_an_event(&nats).await?;
    let operator = jetstream::new(nats.client(User::Operator).await?);
    let mut reader: PullConsumer = operator.get_consumer_from_stream("reader", SITE_STREAM).await?;
    let ack = take_and_leave_unacknowledged(&reader).await?;
    let notifier = nats.client(User::Notifier).await?;
    let question = "$JS.API.STREAM.INFO.SITE";
    notifier
        .publish_with_reply(question, ack.clone(), "".into())
        .await?;
    notifier.publish(ack, "+TERM".into()).await?;
    notifier.request(question, "".into()).await?;
    assert_eq!(reader.info().await?.num_ack_pending, 1);

    let site = operator.get_stream(SITE_STREAM).await?;
    let names: Vec<String> = site.consumer_names().try_collect().await?;
    let next = json!({ "batch": 1, "no_wait": true });
    for name in names {
        let is_channel = Channel::ALL.into_iter().any(|channel| channel.name() == name);
        let is_own = is_channel || name.starts_with(Endpoint::CONSUMER_PREFIX);
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.SITE.{name}");
        let is_answered = is_answered(&nats, User::Notifier, (&subject, &next), is_own).await?;
        assert_eq!(is_answered, is_own, "{name}");
    }
    Ok(())
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
async fn without_the_right_to_read_it_a_bucket_is_not_opened() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    // The notifier may see that the bucket exists.
    let context = jetstream::new(nats.client(User::Notifier).await?);
    let opened = open_bucket(&context, UPLOADS_BUCKET).await;
    let refused = opened.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("it is there, and not to be read"), "{refused}");
    Ok(())
}

#[tokio::test]
async fn each_user_is_answered_about_its_own_streams_and_may_change_none() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let mut asked = Vec::new();
    for (user, stream) in User::all().flat_map(|user| stream_names().map(move |stream| (user, stream))) {
        let is_own = streams_of(user).contains(&stream);
        asked.push((user, format!("$JS.API.STREAM.INFO.{stream}"), is_own));
        if user != User::Operator {
            let changes = [
                "STREAM.PURGE",
                "STREAM.DELETE",
                "STREAM.UPDATE",
                "STREAM.MSG.DELETE",
                "CONSUMER.CREATE",
            ];
            let changes = changes.map(|change| (user, format!("$JS.API.{change}.{stream}"), false));
            asked.extend(changes);
        }
    }
    let none = json!({});
    let answers = asked
        .iter()
        .map(|(user, subject, is_allowed)| is_answered(&nats, *user, (subject, &none), *is_allowed));
    for ((user, subject, is_allowed), is_answered) in asked.iter().zip(try_join_all(answers).await?) {
        assert_eq!(is_answered, *is_allowed, "{} {subject}", user.name());
    }
    Ok(())
}

#[tokio::test]
async fn whoever_makes_backups_takes_snapshots_and_asks_for_nothing_else() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish_an_event(&nats).await?;
    let before = stored(&nats).await?;
    let snapshot = json!({ "deliver_subject": "backup.rights" });
    for stream in stream_names() {
        let subject = format!("$JS.API.STREAM.SNAPSHOT.{stream}");
        let is_answered = is_answered(&nats, User::Backup, (&subject, &snapshot), true).await?;
        assert!(is_answered, "{stream}");
    }
    let next = json!({ "batch": 1, "no_wait": true });
    let forbidden = [
        ("$JS.API.STREAM.RESTORE.SITE", json!({})),
        ("$JS.API.STREAM.CREATE.MORE", json!({ "name": "MORE" })),
        ("$JS.API.STREAM.MSG.GET.SITE", json!({ "seq": 1 })),
        ("$JS.API.DIRECT.GET.SITE", json!({ "seq": 1 })),
        ("$JS.API.CONSUMER.LIST.SITE", json!({})),
        ("$JS.API.CONSUMER.INFO.SITE.contact-received-sales", json!({})),
        ("$JS.API.CONSUMER.MSG.NEXT.SITE.contact-received-sales", next),
        ("$JS.API.CONSUMER.DELETE.SITE.contact-received-sales", json!({})),
        ("$JS.ACK.SITE.contact-received-sales.1.1.1.1.0", json!({})),
        ("$KV.subscribers.x", json!({})),
        (OWN_EVENT, json!({})),
        ("dead.contact-received-sales.x", json!({})),
        ("backup.rights", json!({})),
    ];
    let asked = forbidden
        .iter()
        .map(|(subject, body)| is_answered(&nats, User::Backup, (subject, body), false));
    for ((subject, _), is_answered) in forbidden.iter().zip(try_join_all(asked).await?) {
        assert!(!is_answered, "{subject}");
    }
    assert_eq!(stored(&nats).await?, before);
    Ok(())
}

/// The broker sends a snapshot to any subject its request names. If this test fails,
/// docs/decisions/0035-a-snapshot-is-more-than-reading.md is obsolete.
#[tokio::test]
async fn a_snapshot_can_be_sent_where_it_is_stored_or_obeyed() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish_an_event(&nats).await?;
    let before = stored(&nats).await?;
    let forged = "site.other.event.x";
    for destination in [forged, "$JS.API.STREAM.DELETE.KV_endpoints"] {
        let snapshot = json!({ "deliver_subject": destination });
        let subject = ("$JS.API.STREAM.SNAPSHOT.SITE", &snapshot);
        assert!(is_answered(&nats, User::Backup, subject, true).await?);
    }
    let operator = jetstream::new(nats.client(User::Operator).await?);
    eventually("the snapshot has come", SOON, async || {
        operator.get_stream("KV_endpoints").await.is_err().then_some(())
    })
    .await?;
    operator
        .create_key_value(jetstream::kv::Config {
            bucket: "endpoints".to_owned(),
            ..jetstream::kv::Config::default()
        })
        .await?;
    let after = stored(&nats).await?;
    let more: Vec<&String> = after
        .keys()
        .filter(|subject| !before.contains_key(*subject))
        .collect();
    assert_eq!(more, [&format!("SITE {forged}")]);
    Ok(())
}

#[tokio::test]
async fn nobody_else_hears_a_snapshot() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish_an_event(&nats).await?;
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
    let snapshot = json!({ "deliver_subject": "backup.rights" });
    backup
        .request("$JS.API.STREAM.SNAPSHOT.SITE", snapshot.to_string().into())
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
async fn nobody_is_let_in_without_a_login() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    assert!(async_nats::connect(nats.url()).await.is_err());
    let login = async_nats::ConnectOptions::with_user_and_password(
        "route".to_owned(),
        nats.password_of(User::Operator).to_owned(),
    );
    assert!(login.connect(nats.url()).await.is_err());
    Ok(())
}

#[tokio::test]
async fn whoever_monitors_the_servers_may_look_and_command_nothing() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = nats.client(User::Monitor).await?.server_info().server_id;
    let of_server = |what: &str| format!("$SYS.REQ.SERVER.{server}.{what}");
    let none = json!({});
    for (subject, is_allowed) in [
        ("$SYS.REQ.SERVER.PING".to_owned(), true),
        ("$SYS.REQ.SERVER.PING.JSZ".to_owned(), true),
        ("$SYS.REQ.SERVER.PING.HEALTHZ".to_owned(), true),
        ("$SYS.REQ.SERVER.PING.PROFILEZ".to_owned(), false),
        (of_server("RELOAD"), false),
        (of_server("KICK"), false),
        (of_server("LDM"), false),
        ("$JS.API.SERVER.REMOVE".to_owned(), false),
        ("$JS.API.ACCOUNT.PURGE.SITE".to_owned(), false),
    ] {
        let is_answered = is_answered(&nats, User::Monitor, (&subject, &none), is_allowed).await?;
        assert_eq!(is_answered, is_allowed, "{subject}");
    }
    Ok(())
}
