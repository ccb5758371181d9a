//! The key of person ids changes, as docs/operations.md says it is done: nobody is lost, and nobody is two.

use std::{fs, process::Command, time::Duration};

use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{self, kv::Store as Bucket},
};
use clap::Parser;
use serde_json::{Value, json};
use site_broker::SUBSCRIBERS_BUCKET;
use site_proto::newsletter::v1::{
    ConfirmRequest, SubscribeRequest, UnsubscribeRequest, newsletter_service_client::NewsletterServiceClient,
};
use subscribers::{Retention, Subscriber, Subscribers};
use testkit::{MailServer, Nats, S3, ScriptedReply, User, eventually, pass_flags};
use time::OffsetDateTime;
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::transport::Channel;
use uuid::Uuid;
use visitor::{
    EmailAddress, PersonId, PersonKey,
    token::{Purpose, TokenKey},
};

use crate::{
    dead_letters::notifier,
    tool::{PERSON_KEY, command, person, refused, told, told_json},
};

const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";
const NEW_KEY: &str = "the new person key of thirty-two bytes";
const ZOE: &str = "zoe@example.org";
const SOON: Duration = Duration::from_secs(45);

/// The keys that a part is told: the new one, and perhaps the one before it.
fn new_key() -> Vec<String> {
    vec![format!("--person-key={NEW_KEY}")]
}

fn both_keys() -> Vec<String> {
    [new_key(), vec![format!("--person-key-former={PERSON_KEY}")]].concat()
}

fn new_person(email: &str) -> anyhow::Result<PersonId> {
    Ok(PersonKey::new(NEW_KEY)?.person(&EmailAddress::parse(email)?))
}

/// A token of a mail that was sent before the key changed.
fn former_token(purpose: Purpose) -> anyhow::Result<String> {
    let until = OffsetDateTime::now_utc() + time::Duration::HOUR;
    Ok(TokenKey::new(TOKEN_KEY)?.sign(purpose, &person(ZOE)?, until))
}

/// A newsletter service that knows these keys of person ids.
struct Newsletter {
    client: NewsletterServiceClient<Channel>,
    _running: DropGuard,
}

impl Newsletter {
    async fn start(nats: &Nats, keys: Vec<String>) -> anyhow::Result<Self> {
        let default_flags = [
            "newsletter".to_owned(),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--token-key={TOKEN_KEY}"),
        ];
        let flags = default_flags
            .into_iter()
            .chain(keys)
            .chain(nats.flags(User::Newsletter));
        let service = newsletter::Service::build(newsletter::Settings::try_parse_from(flags)?).await?;
        let (address, stop) = (
            format!("http://127.0.0.1:{}", service.port()),
            CancellationToken::new(),
        );
        tokio::spawn(service.run(stop.clone()));
        Ok(Self {
            client: NewsletterServiceClient::connect(address).await?,
            _running: stop.drop_guard(),
        })
    }

    async fn sign_up(&mut self, email: &str) -> anyhow::Result<()> {
        let request = SubscribeRequest {
            email: email.to_owned(),
            idempotency_key: Uuid::new_v4().to_string(),
            attribution: None,
        };
        self.client.subscribe(request).await?;
        Ok(())
    }

    async fn confirm(&mut self, token: String) -> anyhow::Result<()> {
        self.client.confirm(ConfirmRequest { token }).await?;
        Ok(())
    }

    async fn unsubscribe(&mut self, token: String) -> anyhow::Result<()> {
        self.client.unsubscribe(UnsubscribeRequest { token }).await?;
        Ok(())
    }
}

async fn mails(server: &MailServer, count: usize) -> anyhow::Result<()> {
    eventually(&format!("{count} mails"), SOON, async || {
        (server.accepted(ZOE).len() == count).then_some(())
    })
    .await
}

async fn bucket(nats: &Nats) -> anyhow::Result<Bucket> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    Ok(context.get_key_value(SUBSCRIBERS_BUCKET).await?)
}

/// The export's rows: address and state.
fn exported(nats: &Nats) -> anyhow::Result<Vec<(String, String)>> {
    let told = told_json(&["subscribers", "export"], &nats.flags(User::Operator))?;
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let rows = told["subscribers"].as_array().cloned().unwrap_or_default();
    Ok(rows
        .iter()
        .map(|row| (text(row, "email"), text(row, "state")))
        .collect())
}

/// The former key is gone, and what lies under its ids is found by where the record moved from.
async fn nothing_is_left_once_erased(nats: &Nats, flags: &[String]) -> anyhow::Result<()> {
    let erased = told_json(&["person", "erase", ZOE, "--yes"], flags)?;
    assert_eq!(
        (&erased["erased"]["events"], &erased["erased"]["subscriber"]),
        (&json!(3), &json!(3)),
        "the record, what leads to it, and the note of where it moved from"
    );
    // What says so is all that is left, under each id that the person had.
    let left = nats.events().await?;
    assert!(!left.is_empty() && left.iter().all(|event| event["type"] == "site.person.erased.v1"));
    assert_eq!(bucket(nats).await?.stream.get_info().await?.state.messages, 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn through_the_change_a_subscriber_stays_one_and_every_link_works() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _notifier = notifier(&nats, server.port()).await?;
    let operator = |keys: Vec<String>| [keys, nats.flags(User::Operator)].concat();
    let with_store = |keys: Vec<String>| [operator(keys), s3.flags()].concat();

    let mut before = Newsletter::start(&nats, vec![format!("--person-key={PERSON_KEY}")]).await?;
    before.sign_up(ZOE).await?;
    mails(&server, 1).await?;
    drop(before);

    let mut meanwhile = Newsletter::start(&nats, both_keys()).await?;
    meanwhile.sign_up(ZOE).await?;
    meanwhile.confirm(former_token(Purpose::Confirm)?).await?;
    mails(&server, 2).await?;
    let folder = tempfile::tempdir()?;
    let to = folder.path().join("zoe").to_string_lossy().into_owned();
    let told_of = told_json(&["person", "export", ZOE, &to], &with_store(both_keys()))?;
    assert_eq!(
        (&told_of["exported"]["events"], &told_of["exported"]["subscriber"]),
        (&json!(2), &json!(1))
    );

    let would = told_json(&["person-key", "move"], &operator(both_keys()))?;
    assert_eq!(would["wouldMove"], 1);
    let moved_already = bucket(&nats).await?.get(new_person(ZOE)?.as_str()).await?;
    assert_eq!(moved_already, None);
    let done = told_json(&["person-key", "move", "--yes"], &operator(both_keys()))?;
    assert_eq!((&done["moved"], &done["left"]["events"]), (&json!(1), &json!(2)));
    let again = told_json(&["person-key", "move", "--yes"], &operator(both_keys()))?;
    assert_eq!(again["moved"], 0);
    drop(meanwhile);

    let mut after = Newsletter::start(&nats, new_key()).await?;
    after.sign_up(ZOE).await?;
    assert_eq!(exported(&nats)?, [(ZOE.to_owned(), "confirmed".to_owned())]);
    after.unsubscribe(former_token(Purpose::Unsubscribe)?).await?;
    mails(&server, 3).await?;
    let events = nats.events().await?;
    let people: Vec<_> = events.iter().map(|event| event["subject"].as_str()).collect();
    let (former, current) = (person(ZOE)?, new_person(ZOE)?);
    assert_eq!(people, [&former, &former, &current].map(|id| Some(id.as_str())));

    nothing_is_left_once_erased(&nats, &with_store(new_key())).await?;
    assert_eq!(server.accepted(ZOE).len(), 3);
    Ok(())
}

/// Confirmed subscribers under the ids of the former key.
async fn subscribe_many(subscribers: &Subscribers, count: usize) -> anyhow::Result<()> {
    for number in 0..count {
        let email = format!("reader-{number}@example.org");
        let record = Subscriber::imported(
            EmailAddress::parse(&email)?,
            None,
            OffsetDateTime::now_utc(),
            Uuid::new_v4(),
        );
        subscribers
            .write(&person(&email)?, &record, 0, Retention::Forever)
            .await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_move_that_is_killed_loses_nobody_and_is_finished_by_the_next() -> anyhow::Result<()> {
    const READERS: usize = 400;
    let nats = Nats::start().await?;
    let subscribers = Subscribers::open(nats.client(User::Operator).await?).await?;
    subscribe_many(&subscribers, READERS).await?;
    let flags = [both_keys(), nats.flags(User::Operator)].concat();
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
    let mut tool = pass_flags(&mut tool, &command(&["person-key", "move", "--yes"], &flags)).spawn()?;
    let first = new_person("reader-3@example.org")?;
    eventually("some are moved", SOON, async || {
        subscribers.read(&first).await.ok()?.subscriber
    })
    .await?;
    tool.kill()?;
    assert!(!tool.wait()?.success(), "it was killed before its end");
    assert_eq!(
        exported(&nats)?.len(),
        READERS,
        "each is there once, wherever it stopped"
    );

    let done = told_json(&["person-key", "move", "--yes"], &flags)?;
    let moved = done["moved"].as_u64().unwrap_or_default();
    assert!((1..=400).contains(&moved), "{done}");
    let rows = exported(&nats)?;
    assert_eq!(rows.len(), READERS);
    assert!(rows.iter().all(|(_, state)| state == "confirmed"));
    for number in 0..READERS {
        let current = new_person(&format!("reader-{number}@example.org"))?;
        let record = subscribers.read(&current).await?.subscriber;
        assert!(record.is_some_and(|record| record.email.is_some()), "{number}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_expires_does_so_under_its_new_id_too() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let subscribers = Subscribers::open(nats.client(User::Operator).await?).await?;
    let (email, key) = (EmailAddress::parse(ZOE)?, Uuid::new_v4());
    let now = OffsetDateTime::now_utc();
    let pending = Subscriber::signed_up(None, email, None, now, key, key).expect("a first sign-up");
    let hour = Retention::Expires(Duration::from_secs(3600));
    subscribers.write(&person(ZOE)?, &pending, 0, hour).await?;
    let flags = [both_keys(), nats.flags(User::Operator)].concat();
    told(&["person-key", "move", "--yes"], &flags)?;
    let bucket = bucket(&nats).await?;
    for id in [person(ZOE)?, new_person(ZOE)?] {
        let subject = format!("{}{id}", bucket.prefix);
        let message = bucket.stream.get_last_raw_message_by_subject(&subject).await?;
        let lifetime = message.headers.get(NATS_MESSAGE_TTL).map(ToString::to_string);
        let seconds: u64 = lifetime.unwrap_or_default().trim_end_matches('s').parse()?;
        assert!((3000..=3600).contains(&seconds), "{seconds}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn who_left_under_the_former_key_stays_there_and_is_brought_back_by_nobody() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let subscribers = Subscribers::open(nats.client(User::Operator).await?).await?;
    let (email, now) = (EmailAddress::parse(ZOE)?, OffsetDateTime::now_utc());
    let left = Subscriber::imported(email, None, now, Uuid::new_v4())
        .unsubscribed(now)
        .forgotten();
    subscribers
        .write(&person(ZOE)?, &left, 0, Retention::Forever)
        .await?;
    let flags = [both_keys(), nats.flags(User::Operator)].concat();
    let told_of = told(&["person-key", "move", "--yes"], &flags)?;
    assert!(
        told_of.contains("left alone: 1 records of people who left"),
        "{told_of}"
    );

    let folder = tempfile::tempdir()?;
    let table = folder.path().join("table.csv");
    fs::write(
        &table,
        format!("email,confirmed,source\n{ZOE},2026-11-01T10:00:00Z,fair\n"),
    )?;
    let table = table.to_string_lossy().into_owned();
    let said = told(&["subscribers", "import", &table, "--yes"], &flags)?;
    assert!(
        said.contains("left alone: known already, as unsubscribed"),
        "{said}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lift_finds_whoever_is_known_under_the_former_key() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let subscribers = Subscribers::open(nats.client(User::Operator).await?).await?;
    let (email, now) = (EmailAddress::parse(ZOE)?, OffsetDateTime::now_utc());
    let suppressed = Subscriber::imported(email, None, now, Uuid::new_v4()).suppressed(now);
    subscribers
        .write(&person(ZOE)?, &suppressed, 0, Retention::Forever)
        .await?;
    let nobody = [new_key(), nats.flags(User::Operator)].concat();
    assert!(refused(&["subscribers", "lift", ZOE], &nobody)?.contains("no subscriber"));
    let flags = [both_keys(), nats.flags(User::Operator)].concat();
    told(&["subscribers", "lift", ZOE], &flags)?;
    assert_eq!(exported(&nats)?, [(ZOE.to_owned(), "confirmed".to_owned())]);
    Ok(())
}
