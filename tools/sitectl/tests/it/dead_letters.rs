//! `sitectl dead-letters`.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use async_nats::jetstream;
use clap::Parser;
use futures_util::future::try_join_all;
use serde_json::{Value, json};
use site_events::{Channel, SITE_STREAM, subjects};

use testkit::{MailServer, Nats, ScriptedReply, User, eventually, pass_flags};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::tool::{command, message, person, publish, refused, told, told_in_part, told_json, unread};

const VISITOR: &str = "gone@example.org";
const SALES: &str = "sales@oculant.example";
const CHANNEL: Channel = Channel::ContactAcknowledgement;
const SOON: Duration = Duration::from_secs(45);

/// The mail server refuses the visitor until `relents` is set.
struct Site {
    nats: Nats,
    flags: Vec<String>,
    server: MailServer,
    relents: Arc<AtomicBool>,
    _notifier: DropGuard,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        let nats = Nats::start().await?;
        let relents = Arc::new(AtomicBool::new(false));
        let relented = relents.clone();
        let server = MailServer::start(move |to, _| {
            if to == VISITOR && !relented.load(Ordering::SeqCst) {
                ScriptedReply::ToRecipient("550 5.1.1 <gone@example.org>: gone is no user here")
            } else {
                ScriptedReply::Take
            }
        })
        .await?;
        Ok(Self {
            _notifier: notifier(&nats, server.port).await?,
            flags: nats.flags(User::Operator),
            nats,
            server,
            relents,
        })
    }

    /// The mail server refuses the visitor's acknowledgement.
    async fn fail_once(&self) -> anyhow::Result<Uuid> {
        let id = publish(&self.nats, VISITOR, message("Zoë Müller", VISITOR)?).await?;
        self.dead_lettered(1).await?;
        self.accepted(SALES, 1).await?;
        Ok(id)
    }

    async fn dead_lettered(&self, count: usize) -> anyhow::Result<()> {
        eventually(&format!("{count} dead letters"), SOON, async || {
            (self.nats.dead_letters().await.ok()?.len() == count).then_some(())
        })
        .await
    }

    async fn accepted(&self, to: &str, count: usize) -> anyhow::Result<()> {
        eventually(&format!("{count} mails to {to}"), SOON, async || {
            (self.server.accepted(to).len() == count).then_some(())
        })
        .await
    }

    async fn until_acked(&self) -> anyhow::Result<()> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let stream = context.get_stream(SITE_STREAM).await?;
        for channel in Channel::ALL {
            eventually(channel.name(), SOON, async || {
                let info = stream.consumer_info(channel.name()).await.ok()?;
                (info.num_pending == 0 && info.num_ack_pending == 0).then_some(())
            })
            .await?;
        }
        Ok(())
    }

    fn numbers(&self) -> anyhow::Result<Vec<u64>> {
        let list = told_json(&["dead-letters", "list"], &self.flags)?;
        let letters = list["deadLetters"].as_array().into_iter().flatten();
        Ok(letters.filter_map(|letter| letter["number"].as_u64()).collect())
    }
}

pub async fn notifier(nats: &Nats, smtp_port: u16) -> anyhow::Result<DropGuard> {
    let nobody = [
        "--s3-access-key-id=nobody".to_owned(),
        "--s3-secret-access-key=nothing".to_owned(),
    ];
    let service = notifier_with(nats, smtp_port, nobody).await?;
    let stop = CancellationToken::new();
    tokio::spawn(service.run(stop.clone()));
    Ok(stop.drop_guard())
}

/// `more` has at least the credentials for the bucket.
pub async fn notifier_with(
    nats: &Nats,
    smtp_port: u16,
    more: impl IntoIterator<Item = String>,
) -> anyhow::Result<notifier::Service> {
    let default_flags = [
        "notifier".to_owned(),
        "--listen=127.0.0.1:0".to_owned(),
        format!("--brand-file={}", testkit::root().join("brand.json").display()),
        "--token-key=a token key of thirty-two bytes or more".to_owned(),
        format!("--sales-to={SALES}"),
        format!("--smtp-port={smtp_port}"),
    ];
    let flags = default_flags
        .into_iter()
        .chain(nats.flags(User::Notifier))
        .chain(more);
    let settings = notifier::Settings::try_parse_from(flags)?;
    notifier::Service::build(settings).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_reaches_the_channel_that_failed_once_and_no_other() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.fail_once().await?;
    site.relents.store(true, Ordering::SeqCst);

    let done = told_json(&["dead-letters", "replay", "1"], &site.flags)?;
    assert_eq!(done, json!({ "replayed": [1], "notReplayed": [] }));
    site.accepted(VISITOR, 1).await?;
    site.until_acked().await?;
    assert_eq!(site.server.accepted(VISITOR).len(), 1);
    assert_eq!(site.server.accepted(SALES).len(), 1, "sales were told again");
    assert!(site.nats.dead_letters().await?.is_empty());
    let events = site.nats.events().await?;
    assert_eq!(events[0], events[1], "the event is unchanged");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_fails_again_is_a_dead_letter_again() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.fail_once().await?;
    for number in 1..=2 {
        let number: u64 = number;
        told(&["dead-letters", "replay", &number.to_string()], &site.flags)?;
        eventually("it failed again", SOON, async || {
            (site.numbers().ok()? == [number + 1]).then_some(())
        })
        .await?;
    }
    site.relents.store(true, Ordering::SeqCst);
    told(&["dead-letters", "replay", "--all"], &site.flags)?;
    site.accepted(VISITOR, 1).await?;
    site.until_acked().await?;
    assert_eq!(site.server.accepted(VISITOR).len(), 1);
    assert!(site.nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_says_what_failed_and_nothing_of_the_person() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let id = site.fail_once().await?;
    let list = told_json(&["dead-letters", "list"], &site.flags)?;
    let letter = &list["deadLetters"][0];
    assert_eq!(letter["number"], 1);
    assert_eq!(letter["channel"], CHANNEL.name());
    assert_eq!(letter["eventType"], "site.contact.received.v1");
    assert_eq!(letter["eventId"], id.to_string());
    assert_eq!(letter["attempts"], "1");
    assert!(
        letter["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("550")),
        "{letter}"
    );

    let table = told(&["dead-letters", "list"], &site.flags)?;
    assert!(table.starts_with("NUMBER  GIVEN UP  "), "{table}");
    for told in [list.to_string(), table] {
        for secret in [VISITOR, "Zoë", "cameras", person(VISITOR)?.as_str()] {
            assert!(!told.contains(secret), "{told}");
        }
    }
    let shown = told_json(&["dead-letters", "show", "1"], &site.flags)?;
    assert_eq!(shown["event"], site.nats.events().await?[0]);
    assert_eq!(shown["eventId"], id.to_string());
    let shown = told(&["dead-letters", "show", "1"], &site.flags)?;
    assert!(
        shown.starts_with("NUMBER") && shown.contains(CHANNEL.name()) && shown.contains(VISITOR),
        "{shown}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_dropped_until_it_is_confirmed() -> anyhow::Result<()> {
    let (nats, flags) = with_letters(3).await?;
    let told_first = told_json(&["dead-letters", "drop", "--all"], &flags)?;
    assert_eq!(told_first, json!({ "wouldDrop": [1, 2, 3] }));
    assert_eq!(nats.dead_letters().await?.len(), 3);

    let done = told_json(&["dead-letters", "drop", "1", "3", "1", "--yes"], &flags)?;
    assert_eq!(done, json!({ "dropped": [1, 3] }));
    assert_eq!(nats.dead_letters().await?.len(), 1);
    told(&["dead-letters", "drop", "--all", "--yes"], &flags)?;
    let nothing = told(&["dead-letters", "list"], &flags)?;
    assert_eq!(nothing.trim(), "There are no dead letters.");
    assert!(nats.events().await?.is_empty(), "what is dropped is not replayed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_number_is_one_sentence_and_nothing_is_done() -> anyhow::Result<()> {
    let (nats, flags) = with_letters(1).await?;
    for words in [
        &["dead-letters", "show", "7"][..],
        &["dead-letters", "replay", "1", "7"],
        &["dead-letters", "drop", "1", "7", "--yes"],
    ] {
        let said = refused(words, &flags)?;
        assert!(said.contains("There is no dead letter 7"), "{said}");
    }
    let said = refused(&["dead-letters", "show", "0"], &flags)?;
    assert!(said.contains("There is no dead letter 0"), "{said}");
    assert_eq!(nats.dead_letters().await?.len(), 1);
    assert!(nats.events().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_of_a_channel_that_takes_no_replays_stays() -> anyhow::Result<()> {
    let (nats, flags) = with_letters(1).await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    context
        .delete_consumer_from_stream(CHANNEL.name(), SITE_STREAM)
        .await?;
    let (told, said) = told_in_part(&["dead-letters", "replay", "1"], &flags)?;
    assert!(told.contains("sitectl setup"), "{told}");
    assert!(said.contains("Not replayed: 1 of 1"), "{said}");
    assert_eq!(nats.dead_letters().await?.len(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_of_an_endpoint_that_is_gone_hold_up_no_others() -> anyhow::Result<()> {
    let (nats, mut flags) = with_letters(0).await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    for channel in ["webhook-crm", CHANNEL.name(), "webhook-crm", CHANNEL.name()] {
        dead_letter(&context, channel).await?;
    }
    let (told, _) = told_in_part(&["dead-letters", "replay", "1", "2"], &flags)?;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 2, "{told}");
    assert_eq!(lines[0], "replayed: [2]");
    assert!(
        lines[1].starts_with("not replayed: [1], of webhook-crm: "),
        "{told}"
    );
    assert!(lines[1].contains("drop them where an endpoint is gone"), "{told}");

    flags.push("--json".to_owned());
    let (told, said) = told_in_part(&["dead-letters", "replay", "--all"], &flags)?;
    assert!(said.contains("Not replayed: 2 of 3"), "{said}");
    let told: Value = serde_json::from_str(&told)?;
    assert_eq!(told["replayed"], json!([4]));
    let left = &told["notReplayed"];
    assert_eq!(left.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(
        (&left[0]["channel"], &left[0]["numbers"]),
        (&json!("webhook-crm"), &json!([1, 3]))
    );
    assert!(
        left[0]["why"]
            .as_str()
            .is_some_and(|why| why.contains("drop them")),
        "{told}"
    );
    assert_eq!(nats.dead_letters().await?.len(), 2);
    assert_eq!(nats.events().await?.len(), 2);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_away_is_named_with_its_setting() -> anyhow::Result<()> {
    let (mut nats, flags) = with_letters(0).await?;
    nats.stop().await?;
    let said = refused(&["dead-letters", "list"], &flags)?;
    assert!(said.contains("NATS_URL"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_may_stand_in_a_file() -> anyhow::Result<()> {
    let (nats, flags) = with_letters(0).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("password");
    std::fs::write(&file, nats.password_of(User::Operator))?;
    let flags = flags.into_iter();
    let flags: Vec<String> = flags
        .filter(|flag| !flag.starts_with("--nats-password"))
        .collect();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sitectl"))
        .args(["dead-letters", "list"])
        .args(flags)
        .env("NATS_PASSWORD_FILE", file)
        .output()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

async fn with_letters(count: usize) -> anyhow::Result<(Nats, Vec<String>)> {
    let nats = Nats::start().await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    for _ in 0..count {
        dead_letter(&context, CHANNEL.name()).await?;
    }
    let flags = nats.flags(User::Operator);
    Ok((nats, flags))
}

async fn dead_letter(context: &jetstream::Context, channel: &str) -> anyhow::Result<()> {
    let event = json!({ "id": Uuid::new_v4(), "type": "site.contact.received.v1" });
    let subject = subjects::dead_letter(channel, person(VISITOR)?.as_str());
    context.publish(subject, event.to_string().into()).await?.await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_is_printed_while_it_is_read_and_never_held() -> anyhow::Result<()> {
    const LETTERS: usize = 5_000;
    let nats = Nats::start().await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    let subject = subjects::dead_letter(CHANNEL.name(), person(VISITOR)?.as_str());
    let mut acks = Vec::new();
    for _ in 0..LETTERS {
        acks.push(context.publish(subject.clone(), "{}".into()).await?.into_future());
    }
    try_join_all(acks).await?;
    let before = nats.received().await?;
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
    let flags = command(&["dead-letters", "list"], &nats.flags(User::Operator));
    let mut tool = pass_flags(&mut tool, &flags).stdout(Stdio::piped()).spawn()?;
    let mut lines = BufReader::new(tool.stdout.take().context("its output")?).lines();
    assert!(lines.next().is_some(), "the headings");
    // A pipe holds less than a batch: the tool waits before it requests more.
    let asked = nats.received().await? - before;
    assert!(asked < 6, "{asked} requests for the first rows");
    assert_eq!(lines.count(), LETTERS);
    assert!(tool.wait()?.success());
    let asked = nats.received().await? - before;
    assert!(asked < 20, "{asked} requests in all");

    let unread = unread(&["dead-letters", "list"], &nats.flags(User::Operator))?;
    let ended = (unread.status.code(), String::from_utf8(unread.stderr)?);
    assert_eq!(ended, (Some(0), String::new()), "nobody reads on");
    Ok(())
}
