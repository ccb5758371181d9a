//! `sitectl subscribers`, and the suppression of addresses that do not exist.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_nats::jetstream;
use clap::Parser;
use serde_json::{Value, json};
use site_broker::SUBSCRIBERS_BUCKET;
use site_events::{Channel, SITE_STREAM, SUPPRESSION_CONSUMER};
use site_proto::newsletter::v1::{
    ConfirmRequest, SubscribeRequest, UnsubscribeRequest, newsletter_service_client::NewsletterServiceClient,
};
use testkit::{MailServer, Nats, ScriptedReply, User, eventually, pass_flags};
use time::OffsetDateTime;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;
use visitor::token::{Purpose, TokenKey};

use crate::{
    dead_letters::notifier,
    tool::{PERSON_KEY, command, person, refused, told, told_json},
};

const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";
const SOON: Duration = Duration::from_secs(45);
const ZOE: &str = "zoe@example.org";

/// The mail server refuses with these words until `relents` is set.
struct Site {
    nats: Nats,
    flags: Vec<String>,
    server: MailServer,
    relents: Arc<AtomicBool>,
    newsletter: NewsletterServiceClient<tonic::transport::Channel>,
    _running: [DropGuard; 2],
}

impl Site {
    async fn where_zoe_is_answered(words: &'static str) -> anyhow::Result<Self> {
        let nats = Nats::start().await?;
        let relents = Arc::new(AtomicBool::new(false));
        let relented = relents.clone();
        let server = MailServer::start(move |to, _| {
            if to == ZOE && !relented.load(Ordering::SeqCst) {
                ScriptedReply::ToRecipient(words)
            } else {
                ScriptedReply::Take
            }
        })
        .await?;
        let (port, newsletter) = newsletter(&nats).await?;
        let key = std::iter::once(format!("--person-key={PERSON_KEY}"));
        Ok(Self {
            _running: [newsletter, notifier(&nats, server.port).await?],
            newsletter: NewsletterServiceClient::connect(format!("http://127.0.0.1:{port}")).await?,
            flags: key.chain(nats.flags(User::Operator)).collect(),
            nats,
            server,
            relents,
        })
    }

    async fn sign_up(&mut self, email: &str) -> anyhow::Result<()> {
        let request = SubscribeRequest {
            email: email.to_owned(),
            idempotency_key: Uuid::new_v4().to_string(),
            attribution: None,
        };
        self.newsletter.subscribe(request).await?;
        Ok(())
    }

    async fn confirm(&mut self, email: &str) -> anyhow::Result<()> {
        let token = token(Purpose::Confirm, email)?;
        self.newsletter.confirm(ConfirmRequest { token }).await?;
        Ok(())
    }

    async fn unsubscribe(&mut self, email: &str) -> anyhow::Result<()> {
        let token = token(Purpose::Unsubscribe, email)?;
        self.newsletter.unsubscribe(UnsubscribeRequest { token }).await?;
        Ok(())
    }

    async fn state_of(&self, email: &str) -> anyhow::Result<Option<String>> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
        let Some(record) = bucket.get(person(email)?.as_str()).await? else {
            return Ok(None);
        };
        let record: Value = serde_json::from_slice(&record)?;
        Ok(record["state"].as_str().map(ToOwned::to_owned))
    }

    async fn is_forgotten_by_no_dry_run(&self, email: &str) -> anyhow::Result<()> {
        let would = told_json(&["subscribers", "lift", email], &self.flags)?;
        assert_eq!(would, json!({ "lifted": false, "wouldForget": true }));
        let said = told(&["subscribers", "lift", email], &self.flags)?;
        assert!(said.contains("repeat it with --yes"), "{said}");
        assert_eq!(self.state_of(email).await?.as_deref(), Some("suppressed"));
        Ok(())
    }

    async fn becomes(&self, email: &str, state: &str) -> anyhow::Result<()> {
        eventually(&format!("{email} is {state}"), SOON, async || {
            (self.state_of(email).await.ok()?.as_deref() == Some(state)).then_some(())
        })
        .await
    }

    async fn until_acked(&self) -> anyhow::Result<()> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        let stream = context.get_stream(SITE_STREAM).await?;
        let names = Channel::ALL
            .map(Channel::name)
            .into_iter()
            .chain([SUPPRESSION_CONSUMER]);
        for name in names {
            eventually(name, SOON, async || {
                let info = stream.consumer_info(name).await.ok()?;
                (info.num_pending == 0 && info.num_ack_pending == 0).then_some(())
            })
            .await?;
        }
        Ok(())
    }

    async fn events(&self, event_type: &str) -> anyhow::Result<Vec<Value>> {
        let events = self.nats.events().await?.into_iter();
        Ok(events.filter(|event| event["type"] == event_type).collect())
    }
}

pub async fn newsletter(nats: &Nats) -> anyhow::Result<(u16, DropGuard)> {
    let default_flags = [
        "newsletter".to_owned(),
        "--listen=127.0.0.1:0".to_owned(),
        format!("--person-key={PERSON_KEY}"),
        format!("--token-key={TOKEN_KEY}"),
    ];
    let flags = default_flags.into_iter().chain(nats.flags(User::Newsletter));
    let service = newsletter::Service::build(newsletter::Settings::try_parse_from(flags)?).await?;
    let (port, stop) = (service.port(), CancellationToken::new());
    tokio::spawn(service.run(stop.clone()));
    Ok((port, stop.drop_guard()))
}

fn token(purpose: Purpose, email: &str) -> anyhow::Result<String> {
    let until = OffsetDateTime::now_utc() + time::Duration::HOUR;
    Ok(TokenKey::new(TOKEN_KEY)?.sign(purpose, &person(email)?, until))
}

const BOUNCED: &str = "site.newsletter.bounced.v1";

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_does_not_exist_gets_no_mail_until_the_operator_lifts_it() -> anyhow::Result<()> {
    let mut site = Site::where_zoe_is_answered("550 5.1.1 <zoe@example.org>: zoe is no user here").await?;
    site.sign_up(ZOE).await?;
    site.becomes(ZOE, "suppressed").await?;
    let bounced = site.events(BOUNCED).await?;
    assert_eq!(bounced.len(), 1);
    assert_eq!(bounced[0]["source"], "/services/notifier");
    assert_eq!(bounced[0]["subject"], person(ZOE)?.as_str());
    let data = &bounced[0]["data"];
    assert_eq!(
        (&data["email"], &data["channel"]),
        (&json!(ZOE), &json!(Channel::NewsletterConfirmation.name()))
    );
    let reason = data["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("550") && reason.contains("no user here") && !reason.contains("zoe"),
        "{reason}"
    );
    assert_eq!(site.nats.dead_letters().await?.len(), 1, "an operator sees it");

    site.sign_up(ZOE).await?;
    site.until_acked().await?;
    assert_eq!(site.server.attempts(ZOE), 1, "no further mail was tried");
    told(
        &["dead-letters", "replay", "--all"],
        &site.nats.flags(User::Operator),
    )?;
    site.until_acked().await?;
    assert_eq!(site.server.attempts(ZOE), 2);
    assert_eq!(
        site.events(BOUNCED).await?.len(),
        1,
        "a repetition is stored once"
    );
    site.relents.store(true, Ordering::SeqCst);

    site.is_forgotten_by_no_dry_run(ZOE).await?;
    let said = told(&["subscribers", "lift", ZOE, "--yes"], &site.flags)?;
    assert!(said.contains("made anew"), "{said}");
    let said = refused(&["subscribers", "lift", ZOE], &site.flags)?;
    assert!(said.contains("no subscriber"), "{said}");
    site.sign_up(ZOE).await?;
    site.confirm(ZOE).await?;
    site.until_acked().await?;
    assert_eq!(site.server.accepted(ZOE).len(), 2, "the question and the welcome");
    let said = refused(&["subscribers", "lift", ZOE], &site.flags)?;
    assert!(said.contains("it is confirmed"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_welcome_that_comes_back_suppresses_and_lifting_gives_the_consent_its_due() -> anyhow::Result<()> {
    let mut site = Site::where_zoe_is_answered("550 No such user").await?;
    site.relents.store(true, Ordering::SeqCst);
    site.sign_up(ZOE).await?;
    site.until_acked().await?;
    site.relents.store(false, Ordering::SeqCst);
    site.confirm(ZOE).await?;
    site.becomes(ZOE, "suppressed").await?;
    let lifted = told_json(&["subscribers", "lift", ZOE], &site.flags)?;
    assert_eq!(lifted["state"], "confirmed");
    site.becomes(ZOE, "confirmed").await
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_while_suppressed_has_left_and_gets_no_goodbye() -> anyhow::Result<()> {
    let mut site = Site::where_zoe_is_answered("550 5.1.1 No such user").await?;
    site.relents.store(true, Ordering::SeqCst);
    site.sign_up(ZOE).await?;
    site.until_acked().await?;
    site.relents.store(false, Ordering::SeqCst);
    site.confirm(ZOE).await?;
    site.becomes(ZOE, "suppressed").await?;
    let attempts = site.server.attempts(ZOE);
    site.unsubscribe(ZOE).await?;
    site.until_acked().await?;
    assert_eq!(site.server.attempts(ZOE), attempts);
    assert!(site.events("site.newsletter.unsubscribed.v1").await?.is_empty());
    let lifted = told_json(&["subscribers", "lift", ZOE], &site.flags)?;
    assert_eq!(lifted["state"], "unsubscribed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_mailbox_and_a_policy_suppress_nobody() -> anyhow::Result<()> {
    for words in ["552 5.2.2 Mailbox full", "554 5.7.1 Message rejected as spam"] {
        let mut site = Site::where_zoe_is_answered(words).await?;
        site.sign_up(ZOE).await?;
        site.until_acked().await?;
        assert_eq!(site.nats.dead_letters().await?.len(), 1, "{words}");
        assert_eq!(site.state_of(ZOE).await?.as_deref(), Some("pending"), "{words}");
        assert!(site.events(BOUNCED).await?.is_empty(), "{words}");
    }
    Ok(())
}

async fn all_states() -> anyhow::Result<(Nats, Vec<String>)> {
    let nats = Nats::start().await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
    let (one, two, three) = (
        "2026-11-01T10:00:00Z",
        "2026-11-02T10:00:00Z",
        "2026-11-03T10:00:00Z",
    );
    for (email, more) in [
        (
            "pending@example.org",
            json!({ "state": "pending", "mailed": one }),
        ),
        (
            "+formula@example.org",
            json!({ "state": "confirmed", "since": two, "source": "=HYPERLINK(\"https://evil.example\", \"a, b\")" }),
        ),
        (
            "left@example.org",
            json!({
                "state": "unsubscribed", "since": three, "confirmed": two, "source": "/blog",
                "consent": { "text": "Shall we?", "form": "double-opt-in" },
            }),
        ),
        (
            "gone@example.org",
            json!({ "state": "suppressed", "since": three, "confirmed": two }),
        ),
    ] {
        let mut record = json!({ "email": email, "subscription": Uuid::new_v4(), "requested": one });
        for (name, value) in more.as_object().into_iter().flatten() {
            record[name] = value.clone();
        }
        bucket
            .put(person(email)?.as_str(), record.to_string().into())
            .await?;
    }
    // A manual deletion leaves a marker, which is no subscriber.
    bucket
        .put(person("erased@example.org")?.as_str(), "{}".into())
        .await?;
    bucket.delete(person("erased@example.org")?.as_str()).await?;
    let flags = nats.flags(User::Operator);
    Ok((nats, flags))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_a_table_that_no_spreadsheet_can_be_harmed_by() -> anyhow::Result<()> {
    let (_nats, flags) = all_states().await?;
    let table = told(&["subscribers", "export"], &flags)?;
    assert_eq!(
        table.split("\r\n").collect::<Vec<_>>(),
        [
            "email,state,requested,confirmed,ended,source,consent,consent_form",
            "pending@example.org,pending,2026-11-01T10:00:00Z,,,,,",
            "'+formula@example.org,confirmed,2026-11-01T10:00:00Z,2026-11-02T10:00:00Z,,\
             \"'=HYPERLINK(\"\"https://evil.example\"\", \"\"a, b\"\")\",,",
            "left@example.org,unsubscribed,2026-11-01T10:00:00Z,2026-11-02T10:00:00Z,2026-11-03T10:00:00Z,/blog,Shall we?,\
             double-opt-in",
            "gone@example.org,suppressed,2026-11-01T10:00:00Z,2026-11-02T10:00:00Z,,,,",
            "",
        ]
    );
    let two = told(
        &["subscribers", "export", "--state=confirmed", "--state=suppressed"],
        &flags,
    )?;
    assert_eq!(two.lines().count(), 3, "{two}");
    let machine = told_json(&["subscribers", "export", "--state=unsubscribed"], &flags)?;
    let only = json!([{
        "email": "left@example.org",
        "state": "unsubscribed",
        "requested": "2026-11-01T10:00:00Z",
        "confirmed": "2026-11-02T10:00:00Z",
        "ended": "2026-11-03T10:00:00Z",
        "source": "/blog",
        "consent": "Shall we?",
        "consentForm": "double-opt-in",
    }]);
    assert_eq!(machine["subscribers"], only);
    Ok(())
}

/// Imports this table; gives what was told.
fn import(table: &str, more: &str, flags: &[String]) -> anyhow::Result<Value> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("table.csv");
    fs::write(&file, table)?;
    told_json(
        &["subscribers", "import", &file.to_string_lossy()],
        &[flags, &[more.to_owned()]].concat(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_left_elsewhere_has_left_here() -> anyhow::Result<()> {
    const LEFT: &str = "email,state,ended\n\
        Pending@example.org,unsubscribed,\n\
        '+formula@example.org,unsubscribed,2026-11-05T10:00:00Z\n\
        left@example.org,unsubscribed,2026-11-05T10:00:00Z\n\
        gone@example.org,unsubscribed,2026-11-05T10:00:00Z\n\
        stranger@example.org,unsubscribed,2026-11-05T10:00:00Z\n";
    let (nats, export_flags) = all_states().await?;
    let flags = [&export_flags[..], &[format!("--person-key={PERSON_KEY}")]].concat();
    let before = told(&["subscribers", "export"], &export_flags)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("table.csv");
    fs::write(&file, LEFT)?;
    let said = told(&["subscribers", "import", &file.to_string_lossy()], &flags)?;
    for line in [
        "2  would be unsubscribed",
        "3  would be unsubscribed",
        "4  left alone: known already, as unsubscribed",
        "5  would be unsubscribed",
        "6  left alone: nobody with this address is known",
        "would be unsubscribed: 3 of 5",
        "repeat it with --yes",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(told(&["subscribers", "export"], &export_flags)?, before);

    let done = import(LEFT, "--yes", &flags)?;
    assert_eq!(
        (&done["imported"], &done["unsubscribed"]),
        (&json!([]), &json!([2, 3, 5]))
    );
    let after = told_json(&["subscribers", "export"], &export_flags)?;
    let after = after["subscribers"].as_array().cloned().unwrap_or_default();
    assert_eq!(after.len(), 4);
    // This import removes the addresses of people who leave. Addresses of earlier leavers wait for the sweep.
    let of = |state: &str, confirmed: Value| {
        let has =
            |row: &&Value| row["state"] == state && row["email"].is_null() && row["confirmed"] == confirmed;
        after.iter().find(has).cloned().unwrap_or_default()
    };
    assert!(of("unsubscribed", Value::Null)["ended"].is_string(), "{after:?}");
    for state in ["unsubscribed", "suppressed"] {
        let ended = of(state, json!("2026-11-02T10:00:00Z"));
        assert_eq!(ended["ended"], "2026-11-05T10:00:00Z", "{after:?}");
    }
    let lifted = told_json(&["subscribers", "lift", "gone@example.org"], &flags)?;
    assert_eq!(lifted["state"], "unsubscribed");
    assert!(nats.events().await?.is_empty());
    assert_eq!(import(LEFT, "--yes", &flags)?["unsubscribed"], json!([]));
    // The import accepts what the export now says of them.
    let exported = told(&["subscribers", "export"], &export_flags)?;
    assert_eq!(import(&exported, "--yes", &flags)?["unsubscribed"], json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn within_a_table_leaving_wins_whatever_the_order() -> anyhow::Result<()> {
    let (nats, export_flags) = all_states().await?;
    let flags = [&export_flags[..], &[format!("--person-key={PERSON_KEY}")]].concat();
    let done = import(
        "email,state,confirmed,ended,source\n\
         one@example.org,confirmed,2026-11-01T10:00:00Z,,fair\n\
         ONE@example.org,unsubscribed,,2026-10-01T10:00:00Z,\n\
         two@example.org,unsubscribed,,,\n\
         two@example.org,confirmed,2026-11-01T10:00:00Z,,fair\n\
         three@example.org,confirmed,2026-11-01T10:00:00Z,,fair\n\
         +formula@example.org,unsubscribed,,2026-10-01T10:00:00Z,\n\
         +formula@example.org,unsubscribed,,2026-11-05T10:00:00Z,\n",
        "--yes",
        &flags,
    )?;
    assert_eq!(
        (&done["imported"], &done["unsubscribed"]),
        (&json!([6]), &json!([8])),
        "{done}"
    );
    assert_eq!(done["leftAlone"][0]["why"], "the same address as in line 3");
    assert!(nats.events().await?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_list_of_those_who_left_ends_no_subscription_made_since() -> anyhow::Result<()> {
    let (_nats, export_flags) = all_states().await?;
    let flags = [&export_flags[..], &[format!("--person-key={PERSON_KEY}")]].concat();
    let before = told(&["subscribers", "export"], &export_flags)?;
    let done = import(
        "email,state,ended\n+formula@example.org,unsubscribed,2026-10-31T10:00:00Z\n",
        "--yes",
        &flags,
    )?;
    assert_eq!(done["unsubscribed"], json!([]));
    assert_eq!(done["leftAlone"][0]["why"], "they signed up anew since");
    assert_eq!(told(&["subscribers", "export"], &export_flags)?, before);
    Ok(())
}

const TABLE: &str = "email,confirmed,source,consent,consent_form\n\
    New@Example.org,2026-10-01T09:00:00Z,fair in Berlin,Shall we?,paper\n\
    LEFT@example.org,2026-10-01T09:00:00Z,fair in Berlin,Shall we?,paper\n\
    gone@example.org,2026-10-01T09:00:00Z,fair in Berlin,,\n\
    new@example.org,2026-10-02T09:00:00Z,fair in Berlin,,\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_import_adds_whom_nobody_knows_and_changes_nobody_else() -> anyhow::Result<()> {
    let (nats, mut flags) = all_states().await?;
    flags.push(format!("--person-key={PERSON_KEY}"));
    let export_flags = nats.flags(User::Operator);
    let before = told(&["subscribers", "export"], &export_flags)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("table.csv");
    fs::write(&file, TABLE)?;
    let path = file.to_string_lossy();

    let said = told(&["subscribers", "import", &path], &flags)?;
    for line in [
        "2  would be imported",
        "3  left alone: known already, as unsubscribed",
        "4  left alone: known already, as suppressed",
        "5  left alone: the same address as in line 2",
        "no mail is sent",
        "repeat it with --yes",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(told(&["subscribers", "export"], &export_flags)?, before);

    let done = told_json(&["subscribers", "import", &path, "--yes"], &flags)?;
    assert_eq!(done["imported"], json!([2]));
    assert_eq!(done["leftAlone"].as_array().map(Vec::len), Some(3));
    let after = told(&["subscribers", "export"], &export_flags)?;
    let added = after.strip_prefix(&before).unwrap_or_default();
    assert_eq!(
        added,
        "New@Example.org,confirmed,2026-10-01T09:00:00Z,2026-10-01T09:00:00Z,,fair in Berlin,Shall we?,paper\r\n"
    );
    assert!(nats.events().await?.is_empty());

    let again = told_json(&["subscribers", "import", &path, "--yes"], &flags)?;
    assert_eq!(again["imported"], json!([]));
    assert_eq!(told(&["subscribers", "export"], &export_flags)?, after);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_can_be_imported_elsewhere_and_brings_nobody_back_who_left() -> anyhow::Result<()> {
    let (_old, old_flags) = all_states().await?;
    let table = told(&["subscribers", "export"], &old_flags)?;
    let new = Nats::start().await?;
    let mut flags = new.flags(User::Operator);
    flags.extend([format!("--person-key={PERSON_KEY}"), "--json".to_owned()]);
    let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
    let mut tool = pass_flags(
        &mut tool,
        &command(&["subscribers", "import", "/dev/stdin", "--yes"], &flags),
    )
    .stdin(Stdio::piped())
    .stdout(Stdio::piped())
    .spawn()?;
    if let Some(mut stdin) = tool.stdin.take() {
        stdin.write_all(table.as_bytes())?;
    }
    let output = tool.wait_with_output()?;
    assert!(output.status.success());
    let done: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(done["imported"], json!([3]));
    let here = told_json(&["subscribers", "export"], &new.flags(User::Operator))?;
    assert_eq!(here["subscribers"].as_array().map(Vec::len), Some(1));
    assert_eq!(here["subscribers"][0]["email"], "+formula@example.org");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_wrong_line_refuses_the_whole_import() -> anyhow::Result<()> {
    let (nats, mut flags) = all_states().await?;
    flags.push(format!("--person-key={PERSON_KEY}"));
    let export_flags = nats.flags(User::Operator);
    let before = told(&["subscribers", "export"], &export_flags)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("table.csv");
    fs::write(&file, format!("{TABLE}nobody,2026-10-02T09:00:00Z,fair\n"))?;
    let said = refused(
        &["subscribers", "import", &file.to_string_lossy(), "--yes"],
        &flags,
    )?;
    assert!(
        said.contains("Nothing was imported") && said.contains("line 6"),
        "{said}"
    );
    assert_eq!(told(&["subscribers", "export"], &export_flags)?, before);
    Ok(())
}
