//! `sitectl subscribers`, and the suppression of addresses that do not exist.

use std::fs::{self, File};

use serde_json::{Value, json};
use site_broker::SUBSCRIBERS_BUCKET;
use site_proto::newsletter::v1::{ConfirmRequest, NewsletterForm, SubscribeRequest};
use tempfile::TempDir;
use testkit::{MailServer, ScriptedReply, eventually};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::token::{Purpose, TokenKey};

use crate::{
    site::{Newsletter, SOON, Site, TOKEN_KEY, person},
    tool::{assert_says, refused, told, told_json, tool},
};

const ZOE: &str = "zoe@example.org";

async fn sign_up(newsletter: &mut Newsletter) -> anyhow::Result<()> {
    let form = NewsletterForm {
        email: ZOE.to_owned(),
        ..NewsletterForm::default()
    };
    let request = SubscribeRequest {
        form: Some(form),
        idempotency_key: Uuid::new_v4().to_string(),
    };
    newsletter.subscribe(request).await?;
    Ok(())
}

async fn confirm(newsletter: &mut Newsletter) -> anyhow::Result<()> {
    let until = OffsetDateTime::now_utc() + time::Duration::HOUR;
    let token = TokenKey::new(TOKEN_KEY)?.sign(Purpose::Confirm, &person(ZOE)?, until);
    newsletter.confirm(ConfirmRequest { token }).await?;
    Ok(())
}

async fn until_suppressed(site: &Site) -> anyhow::Result<()> {
    eventually("the address is suppressed", SOON, async || {
        let suppressed = ["subscribers", "export", "--state=suppressed"];
        (told(&suppressed, &site.broker).ok()?.lines().count() == 2).then_some(())
    })
    .await
}

async fn bounces(site: &Site) -> anyhow::Result<Vec<Value>> {
    let mut events = site.nats.events().await?;
    events.retain(|event| event["type"] == "site.newsletter.bounced.v1");
    Ok(events)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nonexistent_address_gets_no_mail_until_it_is_lifted() -> anyhow::Result<()> {
    let server = MailServer::start(|to, attempt| match (to, attempt) {
        (ZOE, 1 | 2) => ScriptedReply::ToRecipient("550 5.1.1 <zoe@example.org>: zoe is no user here"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::start().await?;
    let _notifier = site.notifier(&server).await?;
    let (mut newsletter, _running) = site.newsletter().await?;
    sign_up(&mut newsletter).await?;
    until_suppressed(&site).await?;
    let bounced = bounces(&site).await?;
    assert_eq!(bounced.len(), 1);
    assert_eq!(bounced[0]["subject"], person(ZOE)?.as_str());
    let reason = bounced[0]["data"]["reason"].as_str().unwrap_or_default();
    assert_says(reason, &["550", "no user here"]);
    assert!(!reason.contains("zoe"), "{reason}");
    assert_eq!(site.nats.dead_letters().await?.len(), 1, "an operator sees it");

    sign_up(&mut newsletter).await?;
    site.until_acked().await?;
    assert_eq!(server.attempts(ZOE), 1, "no further mail was tried");
    told(&["dead-letters", "replay", "--all"], &site.broker)?;
    site.until_acked().await?;
    assert_eq!(server.attempts(ZOE), 2);
    assert_eq!(bounces(&site).await?.len(), 1, "a repeated bounce is stored once");

    let lift = ["subscribers", "lift", ZOE, "--yes"];
    let would = told_json(&lift[..3], &site.broker)?;
    assert_eq!(would, json!({ "lifted": false, "wouldForget": true }));
    assert_says(&told(&lift[..3], &site.broker)?, &["repeat it with --yes"]);
    until_suppressed(&site).await?;
    assert_says(&told(&lift, &site.broker)?, &["made anew"]);
    assert_says(&refused(&lift, &site.broker)?, &["no subscriber"]);
    sign_up(&mut newsletter).await?;
    confirm(&mut newsletter).await?;
    site.until_acked().await?;
    assert_eq!(server.accepted(ZOE).len(), 2, "confirmation and welcome");
    assert_says(&refused(&lift, &site.broker)?, &["it is confirmed"]);
    Ok(())
}

/// Site with a subscriber in each state.
struct Table {
    site: Site,
    folder: TempDir,
}

impl Table {
    async fn start() -> anyhow::Result<Self> {
        let site = Site::start().await?;
        let bucket = site.jetstream().await?.get_key_value(SUBSCRIBERS_BUCKET).await?;
        let [one, two, three] = [1, 2, 3].map(|day| format!("2026-11-0{day}T10:00:00Z"));
        let formula = "=HYPERLINK(\"https://evil.example\", \"a, b\")";
        let consent = json!({ "text": "Shall we?", "form": "double-opt-in" });
        for (email, more) in [
            (
                "pending@example.org",
                json!({ "state": "pending", "mailed": one }),
            ),
            (
                "+formula@example.org",
                json!({ "state": "confirmed", "since": two, "source": formula }),
            ),
            (
                "left@example.org",
                json!({ "state": "unsubscribed", "since": three, "confirmed": two, "source": "/blog", "consent": consent }),
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
        let erased = person("erased@example.org")?;
        bucket.put(erased.as_str(), "{}".into()).await?;
        bucket.delete(erased.as_str()).await?;
        Ok(Self {
            site,
            folder: TempDir::new()?,
        })
    }

    fn export(&self) -> anyhow::Result<String> {
        told(&["subscribers", "export"], &self.site.broker)
    }

    fn file(&self, table: &str) -> anyhow::Result<String> {
        let file = self.folder.path().join("table.csv");
        fs::write(&file, table)?;
        Ok(file.to_string_lossy().into_owned())
    }

    fn import(&self, table: &str) -> anyhow::Result<Value> {
        let import = ["subscribers", "import", &self.file(table)?, "--yes"];
        told_json(&import, &self.site.broker)
    }

    /// Output of a dry run, which must change nothing.
    fn dry_run(&self, table: &str) -> anyhow::Result<String> {
        let before = self.export()?;
        let said = told(&["subscribers", "import", &self.file(table)?], &self.site.broker)?;
        assert_says(&said, &["repeat it with --yes"]);
        assert_eq!(self.export()?, before);
        Ok(said)
    }
}

const EXPORTED: &str = "email,state,requested,confirmed,ended,source,consent,consent_form
pending@example.org,pending,2026-11-01T10:00:00Z,,,,,
'+formula@example.org,confirmed,2026-11-01T10:00:00Z,2026-11-02T10:00:00Z,,\"'=HYPERLINK(\"\"https://evil.example\"\", \"\"a, b\"\")\",,
left@example.org,unsubscribed,2026-11-01T10:00:00Z,2026-11-02T10:00:00Z,2026-11-03T10:00:00Z,/blog,Shall we?,double-opt-in
gone@example.org,suppressed,2026-11-01T10:00:00Z,2026-11-02T10:00:00Z,,,,
";

#[tokio::test(flavor = "multi_thread")]
async fn an_exported_table_is_formula_free_and_importable() -> anyhow::Result<()> {
    let table = Table::start().await?;
    assert_eq!(table.export()?, EXPORTED.replace('\n', "\r\n"));
    let two = ["subscribers", "export", "--state=confirmed", "--state=suppressed"];
    assert_eq!(told(&two, &table.site.broker)?.lines().count(), 3);
    let left = ["subscribers", "export", "--state=unsubscribed"];
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
    assert_eq!(told_json(&left, &table.site.broker)?["subscribers"], only);

    // An import at another site subscribes nobody who left.
    let elsewhere = Site::start().await?;
    let file = File::open(table.file(&table.export()?)?)?;
    let import = ["subscribers", "import", "/dev/stdin", "--yes", "--json"];
    let output = tool(&import, &elsewhere.broker).stdin(file).output()?;
    assert!(output.status.success(), "{output:?}");
    let done: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(done["imported"], json!([3]));
    let there = told_json(&["subscribers", "export"], &elsewhere.broker)?;
    assert_eq!(there["subscribers"].as_array().map(Vec::len), Some(1));
    assert_eq!(there["subscribers"][0]["email"], "+formula@example.org");
    Ok(())
}

const LEFT: &str = "email,state,ended
Pending@example.org,unsubscribed,
'+formula@example.org,unsubscribed,2026-11-05T10:00:00Z
left@example.org,unsubscribed,2026-11-05T10:00:00Z
gone@example.org,unsubscribed,2026-11-05T10:00:00Z
stranger@example.org,unsubscribed,2026-11-05T10:00:00Z
";

#[tokio::test(flavor = "multi_thread")]
async fn an_import_unsubscribes_people_who_unsubscribed_elsewhere() -> anyhow::Result<()> {
    let table = Table::start().await?;
    let lines = [
        "2  would be unsubscribed",
        "3  would be unsubscribed",
        "4  left alone: known already, as unsubscribed",
        "5  would be unsubscribed",
        "6  left alone: nobody with this address is known",
        "would be unsubscribed: 3 of 5",
    ];
    assert_says(&table.dry_run(LEFT)?, &lines);

    let done = table.import(LEFT)?;
    assert_eq!(
        (&done["imported"], &done["unsubscribed"]),
        (&json!([]), &json!([2, 3, 5]))
    );
    let after = told_json(&["subscribers", "export"], &table.site.broker)?;
    let after = after["subscribers"].as_array().cloned().unwrap_or_default();
    assert_eq!(after.len(), 4);
    // An import removes addresses of people whom it unsubscribes. Those of former subscribers await a sweep.
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
    let lifted = told_json(&["subscribers", "lift", "gone@example.org"], &table.site.broker)?;
    assert_eq!(lifted["state"], "unsubscribed");
    assert!(table.site.nats.events().await?.is_empty());
    assert_eq!(table.import(LEFT)?["unsubscribed"], json!([]));
    // The import accepts the export's lines of people who left.
    assert_eq!(table.import(&table.export()?)?["unsubscribed"], json!([]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_prefers_unsubscribing_unless_a_sign_up_is_later() -> anyhow::Result<()> {
    let table = Table::start().await?;
    let before = table.export()?;
    let old = "email,state,ended\n+formula@example.org,unsubscribed,2026-10-31T10:00:00Z\n";
    let done = table.import(old)?;
    assert_eq!(done["unsubscribed"], json!([]));
    assert_eq!(done["leftAlone"][0]["why"], "they signed up anew since");
    assert_eq!(table.export()?, before);

    let done = table.import(
        "email,state,confirmed,ended,source\n\
         one@example.org,confirmed,2026-11-01T10:00:00Z,,fair\n\
         ONE@example.org,unsubscribed,,2026-10-01T10:00:00Z,\n\
         two@example.org,unsubscribed,,,\n\
         two@example.org,confirmed,2026-11-01T10:00:00Z,,fair\n\
         three@example.org,confirmed,2026-11-01T10:00:00Z,,fair\n\
         +formula@example.org,unsubscribed,,2026-10-01T10:00:00Z,\n\
         +formula@example.org,unsubscribed,,2026-11-05T10:00:00Z,\n",
    )?;
    assert_eq!(
        (&done["imported"], &done["unsubscribed"]),
        (&json!([6]), &json!([8]))
    );
    assert_eq!(done["leftAlone"][0]["why"], "the same address as in line 3");
    assert!(table.site.nats.events().await?.is_empty());
    Ok(())
}

const CONSENTS: &str = "email,confirmed,source,consent,consent_form
New@Example.org,2026-10-01T09:00:00Z,fair in Berlin,Shall we?,paper
LEFT@example.org,2026-10-01T09:00:00Z,fair in Berlin,Shall we?,paper
gone@example.org,2026-10-01T09:00:00Z,fair in Berlin,,
new@example.org,2026-10-02T09:00:00Z,fair in Berlin,,
";

#[tokio::test(flavor = "multi_thread")]
async fn an_import_adds_new_people_only() -> anyhow::Result<()> {
    let table = Table::start().await?;
    let before = table.export()?;
    let wrong = table.file(&format!("{CONSENTS}nobody,2026-10-02T09:00:00Z,fair\n"))?;
    let said = refused(&["subscribers", "import", &wrong, "--yes"], &table.site.broker)?;
    assert_says(&said, &["Nothing was imported", "line 6"]);
    assert_eq!(table.export()?, before);
    let lines = [
        "2  would be imported",
        "3  left alone: known already, as unsubscribed",
        "4  left alone: known already, as suppressed",
        "5  left alone: the same address as in line 2",
        "no mail is sent",
    ];
    assert_says(&table.dry_run(CONSENTS)?, &lines);

    let done = table.import(CONSENTS)?;
    assert_eq!(done["imported"], json!([2]));
    assert_eq!(done["leftAlone"].as_array().map(Vec::len), Some(3));
    let after = table.export()?;
    let confirmed = "2026-10-01T09:00:00Z,2026-10-01T09:00:00Z";
    let added = format!("New@Example.org,confirmed,{confirmed},,fair in Berlin,Shall we?,paper\r\n");
    assert_eq!(after, before + &added);
    assert!(table.site.nats.events().await?.is_empty());
    assert_eq!(table.import(CONSENTS)?["imported"], json!([]));
    assert_eq!(table.export()?, after);
    Ok(())
}
