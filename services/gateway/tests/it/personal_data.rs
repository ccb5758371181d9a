//! Runs all flows with marked data, and searches for the marks where personal data is forbidden: logs, spans,
//! metrics, subjects, keys, headers, object metadata, the spool and temporary files.

mod flows;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use async_nats::jetstream;
use futures_util::TryStreamExt;
use reqwest::{Client, StatusCode};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM};
use testkit::{MailServer, Ports, ScriptedReply, Stack, User, eventually, measure::pdf};
use uuid::Uuid;

use crate::{collector::Collector, log_lines};

const SOON: Duration = Duration::from_secs(90);
/// Mark in all texts that the test's visitors enter.
const MARK: &str = "qzxmark";
const FILE_MARK: &str = "qzxfile";
/// IP address of a visitor (RFC 5737).
const NETWORK_ADDRESS: &str = "203.0.113.77";

const VISITOR: &str = "qzxmark-zoe@example.org";
const STRANGER: &str = "qzxmark-nobody@example.org";
const BUSY: &str = "qzxmark-busy@example.org";

/// Replies of the mail server. They repeat the address, as many servers do, and one contains a forged log line.
fn answer(recipient: &str, attempt: usize) -> ScriptedReply {
    match (recipient, attempt) {
        (STRANGER, _) => ScriptedReply::ToRecipient("550 5.1.1 <qzxmark-nobody@example.org> No such user"),
        (BUSY, 1) => ScriptedReply::ToContent(
            "451-4.3.0 <qzxmark-busy@example.org> \"Try again\r\n451 {\"level\":\"ERROR\",\"message\":\"all is lost\"}",
        ),
        _ => ScriptedReply::Take,
    }
}

/// Keys of the services. The test makes tokens with them.
const PERSON_KEY: &str = "a person key of thirty-two bytes or more";
const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";

struct Site {
    stack: Stack,
    collector: Collector,
    temporary: tempfile::TempDir,
    http: Client,
    _mail_server: MailServer,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        let (collector, address) = Collector::start().await?;
        let mail_server = MailServer::start(answer).await?;
        let temporary = tempfile::tempdir()?;
        let (port, folder) = (mail_server.port.to_string(), temporary.path().to_string_lossy());
        let settings = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1000"),
            ("SMTP_PORT", port.as_str()),
            ("TMPDIR", &folder),
            ("RATE_BURST", "100"),
            ("PERSON_KEY", PERSON_KEY),
            ("TOKEN_KEY", TOKEN_KEY),
        ];
        let stack = Stack::start(Ports::free()?, &settings).await?;
        Ok(Self {
            stack,
            collector,
            temporary,
            http: Client::builder().user_agent(format!("{MARK}-browser")).build()?,
            _mail_server: mail_server,
        })
    }

    async fn until_all_is_told(&self, dead_letters: usize) -> anyhow::Result<()> {
        eventually("every event has its outcome", SOON, async || {
            let waiting = self.stack.nats.backlog().await.ok()?;
            let dead = self.stack.nats.dead_letters().await.ok()?.len();
            (waiting == 0 && dead == dead_letters).then_some(())
        })
        .await
    }

    /// Returns all names and contents in the broker, except the content of events and of current subscribers.
    async fn names_and_records(&self) -> anyhow::Result<Vec<String>> {
        let context = jetstream::new(self.stack.nats.client(User::Operator).await?);
        let streams: Vec<String> = context.stream_names().try_collect().await?;
        let mut found = Vec::new();
        for stream in streams {
            for message in self.stack.nats.messages(&stream).await? {
                let mut told = format!("{stream}: {} {:?}", message.subject, message.headers);
                let payload = String::from_utf8_lossy(&message.payload);
                let may_hold_an_address = match stream.as_str() {
                    SITE_STREAM | DEAD_LETTERS_STREAM => true,
                    // After an unsubscription, a subscriber's record must contain no address.
                    "KV_subscribers" => !payload.contains("unsubscribed"),
                    _ => false,
                };
                if !may_hold_an_address {
                    told += &payload;
                }
                found.push(told);
            }
        }
        Ok(found)
    }
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

pub fn ensure_without(marks: &[&str], what: &str, text: &str) {
    let text = text.to_lowercase();
    for mark in marks {
        let found = text.find(&mark.to_lowercase());
        let before = found.map(|at| &text[text.floor_char_boundary(at.saturating_sub(300))..at]);
        assert_eq!(before, None, "{mark} stands in {what}, behind this");
    }
}

#[expect(clippy::too_many_lines, reason = "a test is told in one piece")]
#[tokio::test]
async fn logs_spans_metrics_and_keys_hold_no_personal_data() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let key = Uuid::new_v4();
    assert_eq!(site.contact(VISITOR, key, "hello").await?, StatusCode::OK);
    for visitor in [BUSY, VISITOR] {
        let sent = site.contact(visitor, Uuid::new_v4(), "hello").await?;
        assert_eq!(sent, StatusCode::OK);
    }
    let tokens = site.join_and_leave_the_newsletter().await?;
    assert_eq!(site.sign_up(STRANGER).await?, StatusCode::OK);
    let end = b"\nstartxref\n0\n%%EOF\n".to_vec();
    let resume = [pdf(50_000), MARK.as_bytes().to_vec(), end].concat();
    let applied = site.apply(resume, &format!("{FILE_MARK}.pdf")).await?;
    assert_eq!(applied, StatusCode::OK);
    site.apply_and_leave().await?;
    site.be_refused(key).await?;
    site.until_all_is_told(1).await?;
    site.stack.receiver.answer(StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        site.contact(VISITOR, Uuid::new_v4(), "again").await?,
        StatusCode::OK
    );
    site.until_all_is_told(2).await?;

    let marks: Vec<&str> = [MARK, FILE_MARK, NETWORK_ADDRESS]
        .into_iter()
        .chain(tokens.iter().map(String::as_str))
        .collect();
    for told in site.names_and_records().await? {
        ensure_without(&marks, "the broker", &told);
    }
    let objects = site.stack.s3.objects()?;
    assert_eq!(objects.len(), 1, "what was cut off and refused left nothing");
    ensure_without(&marks, "the key of an object", &objects[0].0);
    let beside_buckets = fs::read_dir(&site.stack.s3.folder)?.collect::<Result<Vec<_>, _>>()?;
    let metadata: Vec<String> = beside_buckets
        .iter()
        .filter_map(|file| fs::read_to_string(file.path()).ok())
        .collect();
    assert!(metadata.iter().any(|told| told.contains("application/pdf")));
    for told in metadata {
        ensure_without(&marks, "the metadata of an object", &told);
    }
    for folder in [site.stack.spool.as_path(), site.temporary.path()] {
        for file in files(folder)? {
            ensure_without(&marks, "a name", &file.to_string_lossy());
            let content = fs::read(&file)?;
            ensure_without(
                &marks,
                &file.to_string_lossy(),
                &String::from_utf8_lossy(&content),
            );
        }
    }

    // Services export their remaining telemetry when they stop.
    let run = site
        .stack
        .logs
        .parent()
        .context("logs lie in a run's folder")?
        .to_owned();
    let (logs, collector) = (site.stack.logs.clone(), site.collector.clone());
    site.stack.stop_keeping_files().await?;
    let of_services = files(&logs)?;
    assert!(of_services.len() >= 5, "{of_services:?}");
    for file in files(&run)?
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "log"))
    {
        let text = fs::read_to_string(file)?;
        ensure_without(&marks, &file.to_string_lossy(), &text);
    }
    // Fails if the forged log line became a line of its own.
    for file in &of_services {
        log_lines::read(file)?;
    }
    let (spans, told) = (collector.spans(), format!("{:?}", collector.logs()));
    for name in [
        "POST /api/contact",
        "POST /api/career-application",
        "send mail",
        "S3/PutObject",
    ] {
        assert!(spans.iter().any(|(_, span)| span.name == name), "no span {name}");
    }
    assert!(
        told.contains("event stored"),
        "nobody logged that an event is stored"
    );
    ensure_without(&marks, "spans", &format!("{spans:?}"));
    ensure_without(&marks, "log records", &told);
    ensure_without(&marks, "metrics", &format!("{:?}", collector.metrics()));
    Ok(())
}
