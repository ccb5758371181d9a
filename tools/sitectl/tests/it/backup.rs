//! `sitectl backup` and `sitectl restore`.

use std::{collections::BTreeMap, fs, process::Command, time::Duration};

use anyhow::Context as _;
use futures_util::TryStreamExt as _;
use resumes::ResumeKey;
use serde_json::{Value, json};
use site_proto::newsletter::v1::{NewsletterForm, SubscribeRequest};
use tempfile::TempDir;
use testkit::{MailServer, ScriptedReply, eventually, pass_flags};
use uuid::Uuid;

use crate::{
    backup_bucket::{Backups, keys},
    site::{CONTACT, RECRUITERS, SALES, SOON, Site, application, message, new_resume_key},
    tool::{assert_says, refused, told, told_json, with},
};

/// Visitor whose mail was delivered before the backup.
pub const SERVED: &str = "served@example.org";
/// Visitor whose mail server defers the mail.
const LATER: &str = "later@example.org";
/// Visitor who wrote while no notifier ran.
const WAITING: &str = "waiting@example.org";
/// Visitor whose address does not exist.
const GONE: &str = "gone@example.org";
pub const RESUME: &str = "%PDF-1.7 this is what Asha can do";

impl Site {
    pub async fn streams(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.jetstream().await?.stream_names().try_collect().await?)
    }

    async fn positions(&self) -> anyhow::Result<BTreeMap<String, Value>> {
        let context = self.jetstream().await?;
        let mut positions = BTreeMap::new();
        for name in self.streams().await? {
            let stream = context.get_stream(&name).await?;
            let state = &stream.cached_info().state;
            // An empty stream's first sequence is 0 or 1.
            let first = (state.messages > 0).then_some(state.first_sequence);
            let numbers = json!([state.messages, first, state.last_sequence]);
            positions.insert(name.clone(), numbers);
            let mut consumers = stream.consumers();
            while let Some(consumer) = consumers.try_next().await? {
                let position = json!({
                    "delivered": [consumer.delivered.stream_sequence, consumer.delivered.consumer_sequence],
                    "done": [consumer.ack_floor.stream_sequence, consumer.ack_floor.consumer_sequence],
                    "waiting": [consumer.num_pending, consumer.num_ack_pending as u64],
                });
                positions.insert(format!("{name} {}", consumer.name), position);
            }
        }
        Ok(positions)
    }

    pub async fn apply(&self) -> anyhow::Result<ResumeKey> {
        let key = new_resume_key(WAITING)?;
        let resume = self.store_resume(&key, RESUME).await?;
        let application = application("Asha Rao", WAITING, Some(resume))?;
        self.publish(WAITING, application).await?;
        Ok(key)
    }
}

/// Stopped site with every outcome of events and subscribers.
async fn a_site_that_ran() -> anyhow::Result<(Site, ResumeKey)> {
    let site = Site::start().await?;
    let server = MailServer::start(|to, _| match to {
        GONE => ScriptedReply::ToRecipient("550 5.1.1 <gone@example.org>: gone is no user here"),
        LATER => ScriptedReply::ToRecipient("451 4.7.1 come back later"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let notifier = site.notifier(&server).await?;
    let (mut newsletter, running) = site.newsletter().await?;
    let form = NewsletterForm {
        email: GONE.to_owned(),
        ..NewsletterForm::default()
    };
    let request = SubscribeRequest {
        form: Some(form),
        idempotency_key: Uuid::new_v4().to_string(),
    };
    newsletter.subscribe(request).await?;
    eventually("the address that does not exist is known", SOON, async || {
        let known = told(&["subscribers", "export"], &site.broker).ok()?;
        known.contains("suppressed").then_some(())
    })
    .await?;
    running.stop().await?;
    let folder = TempDir::new()?;
    let consents = folder.path().join("consents.csv");
    let lines = "email,confirmed,source\nasha@example.com,2026-03-01T09:30:00Z,the fair\n";
    fs::write(&consents, lines)?;
    let import = ["subscribers", "import", "--yes", &consents.to_string_lossy()];
    told(&import, &site.broker)?;
    for email in [SERVED, LATER] {
        site.publish(email, message("Zoë Müller", email)?).await?;
    }
    eventually("mails are delivered or deferred", SOON, async || {
        let done = server.accepted(SERVED).len() == 1 && server.accepted(SALES).len() == 2;
        (done && server.attempts(LATER) > 0).then_some(())
    })
    .await?;
    notifier.stop().await?;
    site.publish(WAITING, message("Asha Rao", WAITING)?).await?;
    let resume = site.apply().await?;
    Ok((site, resume))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_site_resumes_at_the_backup() -> anyhow::Result<()> {
    let (former, resume) = a_site_that_ran().await?;
    let backups = Backups::of(&former);
    let before = former.positions().await?;
    let made = backups.make()?;
    assert_eq!(made["backedUp"]["objects"], 1, "{made}");
    // Delivery records are newer than the events, so that no mail is repeated.
    assert_eq!(made["backedUp"]["streams"][0]["stream"], "SITE", "{made}");
    assert_eq!(former.positions().await?, before, "a backup changes nothing");

    let site = Site::empty().await?;
    let flags = backups.restore_into(&site);
    let said = told(&["restore"], &flags)?;
    assert_says(&said, &["--yes", "stream SITE: 6 messages", "1 objects"]);
    assert!(site.streams().await?.is_empty() && site.s3.objects()?.is_empty());

    let restored = told_json(&["restore", "--yes"], &flags)?;
    assert_eq!(restored["restored"], made["backedUp"]);
    assert_eq!(site.positions().await?, before);
    told(&["setup"], &site.flags)?;
    assert_eq!(site.positions().await?, before, "setup has nothing to do");
    for what in [["subscribers", "export"], ["dead-letters", "list"]] {
        let [before, after] = [&former, &site].map(|site| told(&what, &site.broker));
        assert_eq!(before?, after?, "{what:?}");
    }
    assert_eq!(site.s3.objects()?, former.s3.objects()?);
    let found = site.resumes()?.object(resume.as_str()).await?;
    let (info, content) = found.context("no résumé")?;
    assert_eq!(content, RESUME.as_bytes());
    assert_eq!(info.content_type.as_deref(), Some("application/pdf"));

    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _notifier = site.notifier(&server).await?;
    let replayed = told_json(&["dead-letters", "replay", "--all"], &site.broker)?;
    assert_eq!(replayed, json!({ "replayed": [1], "notReplayed": [] }));
    // The broker redelivers unacked events after the ack wait.
    site.nats.shorten_the_ack_wait(Duration::from_secs(2)).await?;
    site.until_acked().await?;
    // `WAITING` gets an acknowledgement of the message, and one of the application.
    let mails = [SERVED, LATER, SALES, WAITING, GONE, RECRUITERS].map(|to| server.accepted(to).len());
    assert_eq!(mails, [0, 1, 1, 2, 1, 1]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_overwrites_nothing_and_can_be_repeated() -> anyhow::Result<()> {
    let former = Site::start().await?;
    former.publish(SERVED, message("Zoë Müller", SERVED)?).await?;
    former.apply().await?;
    let backups = Backups::of(&former);
    backups.make()?;
    let said = refused(&["restore", "--yes"], &backups.restore_into(&former))?;
    assert_says(&said, &["SITE", "KV_subscribers", "empty broker"]);

    let site = Site::empty().await?;
    let kept = former.s3.objects()?;
    assert!(!kept.is_empty());
    let flags = backups.restore_with(&[site.broker.clone(), former.s3.flags()].concat());
    let said = refused(&["restore", "--yes"], &flags)?;
    assert!(said.contains("holds objects"), "{said}");
    assert!(site.streams().await?.is_empty());
    told(&["restore", "--broker-only", "--yes"], &flags)?;
    assert_eq!(site.streams().await?.len(), 9);
    assert_eq!(former.s3.objects()?, kept);

    let site = Site::empty().await?;
    let flags = backups.restore_into(&site);
    // One server cannot hold three replicas. The restore fails after the objects are restored.
    let said = refused(&["restore", "--yes", "--replicas=3"], &flags)?;
    assert_says(&said, &["a part", "stream SENDINGS", "replicas"]);
    let said = refused(&["restore", "--yes"], &flags)?;
    assert!(said.contains("holds objects"), "{said}");
    let kept = site.s3.objects()?;
    told(&["restore", "--yes"], &with(&flags, "--s3-bucket=another"))?;
    assert_eq!(site.streams().await?.len(), 9);
    assert_eq!(site.s3.objects()?, kept);
    Ok(())
}

/// Fills the stream of events with incompressible data.
pub async fn fill(site: &Site, megabytes: usize) -> anyhow::Result<()> {
    let context = site.jetstream().await?;
    for _ in 0..megabytes * 2 {
        let noise: Vec<u8> = (0..32 * 1024).flat_map(|_| Uuid::new_v4().into_bytes()).collect();
        context.publish(CONTACT, noise.into()).await?.await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_backup_leaves_no_files() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    fill(&site, 4).await?;
    let backups = Backups::of(&site);
    // A limit of 1,024 blocks of 512 bytes per file makes a write fail, as a full disk does.
    let mut limited = Command::new("sh");
    limited.args(["-c", r#"trap "" XFSZ; ulimit -f 1024; exec "$@""#, "sh"]);
    limited.args([env!("CARGO_BIN_EXE_sitectl"), "backup"]);
    let output = pass_flags(&mut limited, &backups.backup).output()?;
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert_says(&said, &["there is no backup", "stream SITE cannot be backed up"]);
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    assert!(keys(&site)?.is_empty());

    site.s3.stop().await?;
    let said = refused(&["backup"], &backups.backup)?;
    assert_says(&said, &["bucket", "S3_ENDPOINT"]);

    let empty = Site::empty().await?;
    let said = refused(&["backup"], &Backups::of(&empty).backup)?;
    assert!(said.contains("stream SITE cannot be opened"), "{said}");
    assert!(keys(&empty)?.is_empty());
    Ok(())
}
