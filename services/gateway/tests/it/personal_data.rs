//! All flows with marked data, and a search for the marks wherever nobody's data may be: logs, spans, metrics, subjects, keys,
//! headers, the spool and temporary files.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use async_nats::jetstream;
use futures_util::TryStreamExt;
use reqwest::{Client, RequestBuilder, StatusCode, multipart};
use serde_json::json;
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM};
use testkit::{Mail, MailServer, Ports, ScriptedReply, Shape, Stack, User, eventually, measure::pdf};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};
use uuid::Uuid;

use crate::collector::Collector;

const SOON: Duration = Duration::from_secs(90);
/// Stands in all that a visitor enters or brings.
const MARK: &str = "qzxmark";
/// Stands in the names of files.
const FILE_MARK: &str = "qzxfile";
/// A visitor's network address (RFC 5737).
const NETWORK_ADDRESS: &str = "203.0.113.77";

const VISITOR: &str = "qzxmark-zoe@example.org";
const STRANGER: &str = "qzxmark-nobody@example.org";
const BUSY: &str = "qzxmark-busy@example.org";

/// Servers answer with the address, as many do.
fn answer(recipient: &str, attempt: usize) -> ScriptedReply {
    match (recipient, attempt) {
        (STRANGER, _) => ScriptedReply::ToRecipient("550 5.1.1 <qzxmark-nobody@example.org> No such user"),
        (BUSY, 1) => ScriptedReply::ToContent("451 4.3.0 <qzxmark-busy@example.org> Try again later"),
        _ => ScriptedReply::Take,
    }
}

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
        let (port, folder) = (mail_server.port().to_string(), temporary.path().to_string_lossy());
        let settings = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1000"),
            ("SMTP_PORT", port.as_str()),
            ("TMPDIR", &folder),
            ("RATE_BURST", "100"),
        ];
        let shape = Shape {
            mail: Mail::Scripted,
            ..Shape::USUAL
        };
        let stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
        Ok(Self {
            stack,
            collector,
            temporary,
            http: Client::builder().user_agent(format!("{MARK}-browser")).build()?,
            _mail_server: mail_server,
        })
    }

    fn post(&self, path: &str) -> RequestBuilder {
        let url = format!("{}/api/{path}?{MARK}=query", self.stack.site());
        self.http.post(url).header("x-forwarded-for", NETWORK_ADDRESS)
    }

    async fn contact(&self, email: &str, key: Uuid, message: &str) -> anyhow::Result<StatusCode> {
        let form = json!({
            "name": format!("{MARK} Zoë"),
            "email": email,
            "message": format!("{MARK} {message}"),
            "attribution": { "page": format!("/{MARK}"), "utmSource": format!("{MARK}-source") },
        });
        let answer = self
            .post("contact")
            .header("idempotency-key", key.to_string())
            .json(&form);
        Ok(answer.send().await?.status())
    }

    async fn sign_up(&self, email: &str) -> anyhow::Result<StatusCode> {
        Ok(self
            .post("newsletter")
            .json(&json!({ "email": email }))
            .send()
            .await?
            .status())
    }

    async fn apply(&self, resume: Vec<u8>, file_name: &str) -> anyhow::Result<StatusCode> {
        let marked = |what: &str| format!("{MARK} {what}");
        let form = multipart::Form::new()
            .text("name", marked("Zoë"))
            .text("email", VISITOR)
            .text("phone", marked("123"))
            .text("position", marked("intern"))
            .text("experience", marked("1 year"))
            .text("coverLetter", marked("letter"))
            .part(
                "resume",
                multipart::Part::bytes(resume).file_name(file_name.to_owned()),
            );
        Ok(self
            .post("career-application")
            .multipart(form)
            .send()
            .await?
            .status())
    }

    /// An application whose visitor leaves in the middle of the file.
    async fn apply_and_leave(&self) -> anyhow::Result<()> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.stack.ports().site)).await?;
        let head = format!(
            "POST /api/career-application HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {NETWORK_ADDRESS}\r\n\
             Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n\
             --b\r\nContent-Disposition: form-data; name=\"email\"\r\n\r\n{VISITOR}\r\n\
             --b\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"{FILE_MARK}.pdf\"\r\n\r\n%PDF-1.7 {MARK} "
        );
        connection.write_all(head.as_bytes()).await?;
        connection.write_all(MARK.repeat(20_000).as_bytes()).await?;
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }

    /// The newsletter from the sign-up to the goodbye, by links that are tokens; gives these.
    async fn join_and_leave_the_newsletter(&self) -> anyhow::Result<[String; 2]> {
        let links = self.stack.link_keys()?;
        let (confirm, unsubscribe) = (links.confirmation(VISITOR)?, links.unsubscribing(VISITOR)?);
        assert_eq!(self.sign_up(VISITOR).await?, StatusCode::OK);
        let confirmed = self.post("newsletter/confirm").json(&json!({ "token": confirm }));
        assert_eq!(confirmed.send().await?.status(), StatusCode::OK);
        // As mail programs do it (RFC 8058): the token stands in the address.
        let one_click = format!(
            "{}/api/newsletter/unsubscribe?token={unsubscribe}",
            self.stack.site()
        );
        let left = self
            .http
            .post(one_click)
            .form(&[("List-Unsubscribe", "One-Click")]);
        assert_eq!(left.send().await?.status(), StatusCode::OK);
        Ok([confirm, unsubscribe])
    }

    /// What is refused, in every way that repeats what was entered.
    async fn be_refused(&self, known_key: Uuid) -> anyhow::Result<()> {
        let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
        assert_eq!(self.contact(MARK, Uuid::new_v4(), "hello").await?, unprocessable);
        assert_eq!(self.contact(VISITOR, known_key, "another").await?, unprocessable);
        assert_eq!(self.sign_up(&format!("{MARK} at example")).await?, unprocessable);
        let broken = format!("{{ \"name\": \"{MARK}\", \"email\": {MARK} }}");
        let json = self.post("contact").header("content-type", "application/json");
        assert_eq!(json.body(broken).send().await?.status(), StatusCode::BAD_REQUEST);
        let no_resume = format!("{MARK} is no file of that kind").into_bytes();
        let refused = self.apply(no_resume, &format!("{FILE_MARK}.pdf")).await?;
        assert_eq!(refused, unprocessable);
        let report = json!({ "remote": MARK, "reason": MARK });
        assert!(
            !self
                .post("remote-failure")
                .json(&report)
                .send()
                .await?
                .status()
                .is_success()
        );
        let token = json!({ "token": format!("{MARK}.token") });
        assert_eq!(
            self.post("newsletter/confirm")
                .json(&token)
                .send()
                .await?
                .status(),
            unprocessable
        );
        for path in ["contact", "api/nothing"] {
            let url = format!("{}/{path}?{MARK}=query&email={VISITOR}", self.stack.site());
            self.http
                .get(url)
                .header("referer", format!("https://{MARK}.example/"))
                .send()
                .await?;
        }
        Ok(())
    }

    async fn until_all_is_told(&self, dead_letters: usize) -> anyhow::Result<()> {
        eventually("every event has its outcome", SOON, async || {
            let waiting = self.stack.nats.backlog().await.ok()?;
            let dead = self.stack.nats.dead_letters().await.ok()?.len();
            (waiting == 0 && dead == dead_letters).then_some(())
        })
        .await
    }

    /// What the broker holds besides events and subscribers: subjects and keys, headers, and the other records of buckets.
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
                    // Whoever left has none there any more.
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

/// The files below a folder, those of its folders, too.
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

fn ensure_without(marks: &[&str], what: &str, text: &str) {
    let text = text.to_lowercase();
    for mark in marks {
        let Some(at) = text.find(&mark.to_lowercase()) else {
            continue;
        };
        let around: String = text
            .chars()
            .skip(text[..at].chars().count().saturating_sub(300))
            .take(600)
            .collect();
        panic!("{mark} stands in {what}: …{around}…");
    }
}

#[expect(clippy::too_many_lines, reason = "a test is told in one piece")]
#[tokio::test]
async fn nothing_of_a_visitor_stands_where_nobodys_data_may_be() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let key = Uuid::new_v4();
    assert_eq!(site.contact(VISITOR, key, "hello").await?, StatusCode::OK);
    assert_eq!(site.contact(BUSY, Uuid::new_v4(), "hello").await?, StatusCode::OK);
    let tokens = site.join_and_leave_the_newsletter().await?;
    assert_eq!(site.sign_up(STRANGER).await?, StatusCode::OK);
    let resume = [pdf(50_000), MARK.as_bytes().to_vec()].concat();
    let applied = site.apply(resume, &format!("{FILE_MARK}.pdf")).await?;
    assert_eq!(applied, StatusCode::OK);
    site.apply_and_leave().await?;
    site.be_refused(key).await?;
    site.until_all_is_told(1).await?;
    // The webhook's receiver refuses one more message.
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
    ensure_without(&[MARK, NETWORK_ADDRESS], "the key of an object", &objects[0].0);
    for folder in [site.stack.spool(), site.temporary.path()] {
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

    // At the end all that is left of telemetry is sent.
    let run = site
        .stack
        .logs()
        .parent()
        .context("logs lie in a run's folder")?
        .to_owned();
    let (logs, collector) = (site.stack.logs().to_owned(), site.collector.clone());
    site.stack.stop().await?;
    let of_services = files(&logs)?;
    assert!(of_services.len() >= 5, "{of_services:?}");
    for file in files(&run)?
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "log"))
    {
        let text = fs::read_to_string(file)?;
        // A key ends with the name of its file, and the store's log names the keys.
        let is_of_ours = of_services.contains(file);
        let searched: Vec<&str> = marks
            .iter()
            .copied()
            .filter(|mark| is_of_ours || *mark != FILE_MARK)
            .collect();
        ensure_without(&searched, &file.to_string_lossy(), &text);
    }
    let (spans, told) = (collector.spans(), collector.logs());
    for name in [
        "POST /api/contact",
        "POST /api/career-application",
        "send mail",
        "S3/PutObject",
    ] {
        assert!(spans.iter().any(|(_, span)| span.name == name), "no span {name}");
    }
    assert!(format!("{told:?}").contains("event stored"));
    ensure_without(&marks, "spans", &format!("{spans:?}"));
    ensure_without(&marks, "log records", &format!("{told:?}"));
    ensure_without(&marks, "metrics", &format!("{:?}", collector.metrics()));
    Ok(())
}
