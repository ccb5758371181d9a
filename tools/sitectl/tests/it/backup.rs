//! `sitectl backup` and `sitectl restore`.

use std::{collections::BTreeMap, fs, net::Ipv4Addr, path::Path, process::Command, time::Duration};

use anyhow::Context as _;
use async_nats::jetstream;
use futures_util::TryStreamExt as _;
use resumes::{ResumeKey, ResumeStore};
use serde_json::{Value, json};
use site_events::{
    Channel,
    event::{CareersApplied, Scan, StoredResume},
};
use site_proto::newsletter::v1::{SubscribeRequest, newsletter_service_client::NewsletterServiceClient};
use tempfile::TempDir;
use testkit::{Broker, MailServer, Nats, Ports, S3, ScriptedReply, User, eventually, pass_flags};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::{
    backup_bucket::{Backups, backup_file, keys, name_of, next_second},
    dead_letters::notifier_with,
    subscribers::newsletter,
    tool::{PERSON_KEY, command, message, person, publish, refused, told, told_json},
};

pub const SOON: Duration = Duration::from_secs(45);
const SALES: &str = "sales@oculant.example";
const RECRUITERS: &str = "recruiters@oculant.example";
/// Their mail was delivered before the backup.
pub const SERVED: &str = "served@example.org";
/// Their mail server defers the mail.
const LATER: &str = "later@example.org";
/// They wrote while no notifier ran.
const WAITING: &str = "waiting@example.org";
/// Their address does not exist.
const GONE: &str = "gone@example.org";
const RESUME: &[u8] = b"%PDF-1.7 this is what Asha can do";

pub struct Parts {
    pub nats: Nats,
    pub s3: S3,
    pub flags: Vec<String>,
    _disk: Option<TempDir>,
}

impl Parts {
    pub async fn set_up() -> anyhow::Result<Self> {
        Ok(Self::of(Nats::start().await?, S3::start().await?, None))
    }

    /// As before `sitectl setup`.
    pub async fn fresh() -> anyhow::Result<Self> {
        let disk = TempDir::new()?;
        let nats = Nats::start_as(Broker::One, None, Ports::free()?.nats, disk.path()).await?;
        Ok(Self::of(nats, S3::start().await?, Some(disk)))
    }

    fn of(nats: Nats, s3: S3, disk: Option<TempDir>) -> Self {
        Self {
            flags: nats.flags(User::Operator).into_iter().chain(s3.flags()).collect(),
            nats,
            s3,
            _disk: disk,
        }
    }

    fn flags_and_key(&self) -> Vec<String> {
        let key = format!("--person-key={PERSON_KEY}");
        self.nats.flags(User::Operator).into_iter().chain([key]).collect()
    }

    pub async fn streams(&self) -> anyhow::Result<Vec<String>> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
        Ok(context.stream_names().try_collect().await?)
    }

    pub async fn positions(&self) -> anyhow::Result<BTreeMap<String, Value>> {
        let context = jetstream::new(self.nats.client(User::Operator).await?);
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
        let folder = TempDir::new()?;
        let file = folder.path().join("cv.pdf");
        fs::write(&file, RESUME)?;
        let key = ResumeKey::new(&person(WAITING)?, Uuid::new_v4());
        let store = ResumeStore::new(&self.s3.settings()?);
        store.put(&key, &file, "application/pdf").await?;
        let application = CareersApplied {
            name: "Asha Rao".to_owned(),
            email: EmailAddress::parse(WAITING)?,
            phone: None,
            position: "Backend Intern".to_owned(),
            experience: None,
            cover_letter: "I would like to.".to_owned(),
            resume: Some(StoredResume {
                key: key.to_string(),
                file_name: "cv.pdf".to_owned(),
                content_type: "application/pdf".to_owned(),
                size_bytes: RESUME.len() as u64,
                sha256: String::new(),
                scan: Scan::default(),
                active_content: Vec::new(),
            }),
            attribution: None,
        };
        publish(&self.nats, WAITING, application).await?;
        Ok(key)
    }

    /// The notifier leaves bounces alone, and dead letters until the next hour.
    async fn until_acked(&self, within: Duration) -> anyhow::Result<()> {
        eventually("all that waited is delivered", within, async || {
            let positions = self.positions().await.ok()?;
            let mut channels = Channel::ALL
                .iter()
                .map(|channel| positions.get(&format!("SITE {}", channel.name())));
            channels
                .all(|position| position.is_some_and(|position| position["waiting"] == json!([0, 0])))
                .then_some(())
        })
        .await
    }

    async fn notifier(&self, mail_server: &MailServer) -> anyhow::Result<Running> {
        let more = self.s3.flags().into_iter();
        let more = more.chain([format!("--recruiters-to={RECRUITERS}")]);
        let service = notifier_with(&self.nats, mail_server.port, more).await?;
        let stop = CancellationToken::new();
        let task = tokio::spawn(service.run(stop.clone()));
        Ok(Running {
            stop: stop.drop_guard(),
            task,
        })
    }
}

struct Running {
    stop: DropGuard,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Running {
    async fn stop(self) -> anyhow::Result<()> {
        drop(self.stop);
        self.task.await?
    }
}

/// Has every outcome of events and subscribers. Its services are stopped.
pub async fn a_site_that_ran() -> anyhow::Result<(Parts, ResumeKey)> {
    let parts = Parts::set_up().await?;
    let server = MailServer::start(|to, _| match to {
        GONE => ScriptedReply::ToRecipient("550 5.1.1 <gone@example.org>: gone is no user here"),
        LATER => ScriptedReply::ToRecipient("451 4.7.1 come back later"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let notifier = parts.notifier(&server).await?;
    {
        let (port, _newsletter) = newsletter(&parts.nats).await?;
        let mut newsletter = NewsletterServiceClient::connect(format!("http://127.0.0.1:{port}")).await?;
        let request = SubscribeRequest {
            email: GONE.to_owned(),
            idempotency_key: Uuid::new_v4().to_string(),
            attribution: None,
        };
        newsletter.subscribe(request).await?;
        eventually("the address that does not exist is known", SOON, async || {
            let known = told(&["subscribers", "export"], &parts.nats.flags(User::Operator)).ok()?;
            known.contains("suppressed").then_some(())
        })
        .await?;
    }
    let folder = TempDir::new()?;
    let consents = folder.path().join("consents.csv");
    let lines = "email,confirmed,source\nasha@example.com,2026-03-01T09:30:00Z,the fair\n";
    fs::write(&consents, lines)?;
    let import = ["subscribers", "import", "--yes", &consents.to_string_lossy()];
    told(&import, &parts.flags_and_key())?;
    for email in [SERVED, LATER] {
        publish(&parts.nats, email, message("Zoë Müller", email)?).await?;
    }
    eventually("mails are delivered or put off", SOON, async || {
        let done = server.accepted(SERVED).len() == 1 && server.accepted(SALES).len() == 2;
        (done && server.attempts(LATER) > 0).then_some(())
    })
    .await?;
    notifier.stop().await?;
    publish(&parts.nats, WAITING, message("Asha Rao", WAITING)?).await?;
    let resume = parts.apply().await?;
    Ok((parts, resume))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_site_goes_on_where_the_backup_was_taken() -> anyhow::Result<()> {
    let (former, resume) = a_site_that_ran().await?;
    let backups = Backups::of(&former.nats, &former.s3)?;
    let before = former.positions().await?;
    let told_of_backup = backups.make()?;
    assert_eq!(told_of_backup["backedUp"]["objects"], 1, "{told_of_backup}");
    assert_eq!(told_of_backup["backedUp"]["streams"][0]["stream"], "SITE");
    assert_eq!(former.positions().await?, before, "a backup changes nothing");

    let site = Parts::fresh().await?;
    let flags = backups.restore_into(&site);
    let said = told(&["restore"], &flags)?;
    assert!(
        said.contains("--yes") && said.contains("stream SITE: 6 messages") && said.contains("1 objects"),
        "{said}"
    );
    assert!(site.streams().await?.is_empty() && site.s3.objects()?.is_empty());

    let restored = told_json(&["restore", "--yes"], &flags)?;
    assert_eq!(restored["restored"], told_of_backup["backedUp"]);
    assert_eq!(site.positions().await?, before);
    told(&["setup", &format!("--person-key={PERSON_KEY}")], &site.flags)?;
    assert_eq!(site.positions().await?, before, "the set-up has nothing to do");
    for what in [["subscribers", "export"], ["dead-letters", "list"]] {
        let flags = [&former, &site].map(|parts| parts.nats.flags(User::Operator));
        assert_eq!(told(&what, &flags[0])?, told(&what, &flags[1])?, "{what:?}");
    }
    assert_eq!(site.s3.objects()?, former.s3.objects()?);
    let store = ResumeStore::new(&site.s3.settings()?);
    assert_eq!(store.get(&resume).await?, RESUME);
    let (info, _) = store.object(resume.as_str()).await?.context("no résumé")?;
    assert_eq!(info.content_type.as_deref(), Some("application/pdf"));

    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _notifier = site.notifier(&server).await?;
    let replayed = told_json(
        &["dead-letters", "replay", "--all"],
        &site.nats.flags(User::Operator),
    )?;
    assert_eq!(replayed, json!({ "replayed": [1], "notReplayed": [] }));
    // The broker redelivers unacked events after the ack wait.
    site.nats.shorten_the_ack_wait(Duration::from_secs(2)).await?;
    site.until_acked(SOON).await?;
    let times = |to: &str| server.accepted(to).len();
    assert_eq!(times(SERVED), 0, "it had been delivered");
    assert_eq!(times(LATER), 1);
    assert_eq!(times(SALES), 1, "sales knew of the others");
    assert_eq!(
        times(WAITING),
        2,
        "an answer to the message, one to the application"
    );
    assert_eq!(times(GONE), 1, "the dead letter was replayed");
    assert_eq!(times(RECRUITERS), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_delivered_while_a_backup_is_taken_is_not_sent_again() -> anyhow::Result<()> {
    let former = Parts::set_up().await?;
    publish(&former.nats, SERVED, message("Zoë Müller", SERVED)?).await?;
    let backups = Backups::of(&former.nats, &former.s3)?;
    let early = name_of(&backups.make()?)?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let notifier = former.notifier(&server).await?;
    former.until_acked(SOON).await?;
    notifier.stop().await?;
    assert_eq!(server.accepted(SERVED).len(), 1);
    next_second().await;
    let late = name_of(&backups.make()?)?;

    // One backup of both: its events are from before the delivery, all else is from afterwards.
    let [early, late] = [early, late].map(|name| backup_file(&former, &name));
    let read = |backup: &Path| -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&fs::read(backup.join("manifest.json"))?)?)
    };
    let (early_manifest, mut manifest) = (read(&early)?, read(&late)?);
    let snapshot = |backup: &Path| backup.join("streams/SITE.snapshot.age");
    let bytes = fs::copy(snapshot(&early), snapshot(&late))?;
    manifest["streams"]["SITE"] = early_manifest["streams"]["SITE"].clone();
    for (name, of_file) in manifest["files"].as_object_mut().context("files")? {
        if name.ends_with("SITE.snapshot.age") {
            *of_file = bytes.into();
        }
    }
    fs::write(late.join("manifest.json"), manifest.to_string())?;

    let site = Parts::fresh().await?;
    told(&["restore", "--yes"], &backups.restore_into(&site))?;
    let position = &site.positions().await?["SITE contact-received-acknowledgement"]["waiting"];
    assert_eq!(position, &json!([1, 0]), "the broker hands it out once more");
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _notifier = site.notifier(&server).await?;
    site.until_acked(SOON).await?;
    assert_eq!(
        (server.accepted(SERVED).len(), server.accepted(SALES).len()),
        (0, 0)
    );
    Ok(())
}

/// A small site, backed up.
async fn a_backup() -> anyhow::Result<(Parts, Backups)> {
    let parts = Parts::set_up().await?;
    publish(&parts.nats, SERVED, message("Zoë Müller", SERVED)?).await?;
    parts.apply().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    backups.make()?;
    Ok((parts, backups))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_over() -> anyhow::Result<()> {
    let (former, backups) = a_backup().await?;
    let said = refused(&["restore", "--yes"], &backups.restore_into(&former))?;
    assert!(
        said.contains("SITE") && said.contains("KV_subscribers") && said.contains("empty broker"),
        "{said}"
    );

    let site = Parts::fresh().await?;
    let of_both = [site.nats.flags(User::Operator), former.s3.flags()].concat();
    let flags = backups.restore_with(&of_both);
    let said = refused(&["restore", "--yes"], &flags)?;
    assert!(said.contains("holds objects"), "{said}");
    assert!(site.streams().await?.is_empty());

    let kept = former.s3.objects()?;
    assert!(!kept.is_empty());
    told(&["restore", "--broker-only", "--yes"], &flags)?;
    assert_eq!(site.streams().await?.len(), 9);
    assert_eq!(former.s3.objects()?, kept);

    let site = Parts::fresh().await?;
    told(
        &["restore", "--yes"],
        &backups.restore_with(&with_bucket(&site, "another")),
    )?;
    assert!(site.s3.objects()?.is_empty());
    Ok(())
}

/// Flags of the site with another bucket of résumés.
fn with_bucket(site: &Parts, name: &str) -> Vec<String> {
    let mut flags = site.flags.clone();
    flags.retain(|flag| !flag.starts_with("--s3-bucket"));
    flags.push(format!("--s3-bucket={name}"));
    flags
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restore_that_breaks_off_says_how_to_go_on() -> anyhow::Result<()> {
    let (_former, backups) = a_backup().await?;
    let site = Parts::fresh().await?;
    let flags = backups.restore_into(&site);
    // A broker of one server makes no three copies, which it says when the objects are there already.
    let said = refused(&["restore", "--yes", "--replicas=3"], &flags)?;
    assert!(
        said.contains("a part") && said.contains("stream SENDINGS") && said.contains("replicas"),
        "{said}"
    );
    let said = refused(&["restore", "--yes"], &flags)?;
    assert!(said.contains("holds objects"), "{said}");
    told(
        &["restore", "--yes"],
        &backups.restore_with(&with_bucket(&site, "emptied")),
    )?;
    assert_eq!(site.streams().await?.len(), 9);
    Ok(())
}

/// Fills the stream of events with what does not get smaller by compression.
pub async fn fill(nats: &Nats, megabytes: usize) -> anyhow::Result<()> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    for _ in 0..megabytes * 2 {
        let noise: Vec<u8> = (0..32 * 1024).flat_map(|_| Uuid::new_v4().into_bytes()).collect();
        let event = "site.contact.received.0123456789abcdef0123456789abcdef";
        context.publish(event, noise.into()).await?.await?;
    }
    Ok(())
}

/// Proxy that closes after this many bytes from the broker. Returns its port.
pub async fn cut_line(nats: &Nats, after: usize) -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    let broker = nats.url().trim_start_matches("nats://").to_owned();
    tokio::spawn(async move {
        let (client, _) = listener.accept().await?;
        // No second connection gets through.
        drop(listener);
        let (mut from_client, mut to_client) = client.into_split();
        let (mut from_broker, mut to_broker) = TcpStream::connect(broker).await?.into_split();
        let there = tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_broker).await });
        let mut sent = 0;
        let mut buffer = vec![0; 16 * 1024];
        while sent < after {
            let length = from_broker.read(&mut buffer).await?;
            to_client.write_all(&buffer[..length]).await?;
            sent += length;
        }
        // A socket dropped with unread acks would be reset, and the client would lose data.
        to_client.shutdown().await?;
        there.await?
    });
    Ok(port)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_leaves_no_backup() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    fill(&parts.nats, 2).await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    // The limit of a file's size does what a full disk does: a write fails. It is 1,024 blocks of 512 bytes.
    let mut limited = Command::new("sh");
    limited
        .args(["-c", r#"trap "" XFSZ; ulimit -f 1024; exec "$@""#, "sh"])
        .arg(env!("CARGO_BIN_EXE_sitectl"));
    let output = pass_flags(&mut limited, &command(&["backup"], &backups.backup)).output()?;
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("there is no backup") && said.contains("stream SITE cannot be backed up"),
        "{said}"
    );
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    assert!(keys(&parts)?.is_empty());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_leaves_no_backup() -> anyhow::Result<()> {
    let mut parts = Parts::set_up().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    parts.s3.stop().await?;
    let said = refused(&["backup"], &backups.backup)?;
    assert!(said.contains("bucket") && said.contains("S3_ENDPOINT"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_without_a_site_is_not_backed_up() -> anyhow::Result<()> {
    let parts = Parts::fresh().await?;
    let backups = Backups::of(&parts.nats, &parts.s3)?;
    let said = refused(&["backup"], &backups.backup)?;
    assert!(said.contains("stream SITE cannot be opened"), "{said}");
    assert!(keys(&parts)?.is_empty());
    Ok(())
}
