//! An issue of the newsletter from the operator's tool to an inbox, and out again by a foreign client; and what a mail provider posts of it.

use std::{fs, process::Command, time::Duration};

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Ports, Stack, User, eventually, external_program, pass_flags};
use tokio::task::spawn_blocking;

use crate::without_services::Gateway;

const SOON: Duration = Duration::from_secs(60);
const READER: &str = "zoe@example.org";
const PASSWORD: &str = "a password of a test, long enough";
const POSTMARK: &str = "/api/newsletter/mail-reports/postmark";

/// Signs the reader up, and follows the link that they get.
async fn subscribe(stack: &Stack) -> anyhow::Result<()> {
    let post = async |path: &str, body: Value| {
        let request = Client::new().post(format!("{}{path}", stack.site())).json(&body);
        anyhow::Ok(request.send().await?.error_for_status()?)
    };
    post("/api/newsletter", json!({ "email": READER })).await?;
    let token = eventually("the mail to confirm", SOON, async || {
        let mails = stack.mail_server().ok()?.mails();
        let mut texts = mails.iter().filter_map(|mail| mail["text"].as_str());
        let found = texts.find_map(|text| text.split_once("newsletter=confirm&token="))?;
        Some(found.1.split_whitespace().next()?.to_owned())
    })
    .await?;
    post("/api/newsletter/confirm", json!({ "token": token })).await?;
    Ok(())
}

/// How often an event of this type was published.
async fn published(stack: &Stack, event_type: &str) -> anyhow::Result<usize> {
    let events = stack.nats.events().await?;
    Ok(events.iter().filter(|event| event["type"] == event_type).count())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_leaves_in_one_click_by_a_foreign_client() -> anyhow::Result<()> {
    let stack = Stack::start(Ports::free()?, &[]).await?;
    subscribe(&stack).await?;
    let folder = TempDir::new()?;
    let post = folder.path().join("smart-home.md");
    fs::write(&post, "# The smart home\n\nCameras at home.\n")?;
    let mut flags = stack.nats.flags(User::Operator);
    flags.push(format!("--site-url={}", stack.site()));
    let mut tool = Command::new(stack.programs().join("sitectl"));
    pass_flags(tool.args(["newsletter", "send", "--yes"]).arg(&post), &flags);
    let sent = spawn_blocking(move || tool.output()).await??;
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let inbox = stack.mail_server()?;
    let mail = inbox.mail(READER, "The smart home", SOON).await?;
    let source = inbox.source(&mail)?;
    // Providers may ask more than once.
    for _ in 0..2 {
        let client = external_program::python("services/gateway/tests/foreign/one_click.py")?;
        let answered = external_program::run(client, source.as_bytes()).await?;
        assert_eq!(answered.trim(), "200");
    }
    assert_eq!(published(&stack, "site.newsletter.unsubscribed.v1").await?, 1);
    Ok(())
}

#[tokio::test]
async fn what_a_provider_posts_of_a_reader_is_taken_from_it_alone() -> anyhow::Result<()> {
    let stack = Stack::start(Ports::free()?, &[("POSTMARK_WEBHOOK_PASSWORD", PASSWORD)]).await?;
    subscribe(&stack).await?;
    let report = json!({
        "RecordType": "SpamComplaint", "MessageStream": "broadcast", "ID": 42, "Type": "SpamComplaint", "TypeCode": 100_001,
        "Email": READER, "From": "hello@oculant.example", "BouncedAt": "2026-11-05T16:33:54.9070259Z",
    });
    let post = async |path: &str, password: &str, report: String| {
        let request = Client::new().post(format!("{}{path}", stack.site()));
        let answer = request
            .basic_auth("postmark", Some(password))
            .body(report)
            .send()
            .await?;
        let status = answer.status();
        let body: Value = answer.json().await?;
        assert_eq!(body["success"], status.is_success(), "{body}");
        anyhow::Ok(status)
    };
    let good = report.to_string();
    assert_eq!(
        post(POSTMARK, "guessed", good.clone()).await?,
        StatusCode::FORBIDDEN
    );
    let elsewhere = "/api/newsletter/mail-reports/mailgun";
    assert_eq!(
        post(elsewhere, PASSWORD, good.clone()).await?,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        post(POSTMARK, PASSWORD, "{".to_owned()).await?,
        StatusCode::BAD_REQUEST
    );
    assert_eq!(published(&stack, "site.newsletter.bounced.v1").await?, 0);
    for _ in 0..2 {
        assert_eq!(post(POSTMARK, PASSWORD, good.clone()).await?, StatusCode::OK);
    }
    assert_eq!(published(&stack, "site.newsletter.bounced.v1").await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_report_that_is_too_large_or_one_too_many_is_refused_before_anybody_reads_it() -> anyhow::Result<()>
{
    let gateway = Gateway::start(&["--link-rate-per-minute", "2"]).await?;
    let post = async |bytes: usize| {
        anyhow::Ok(
            gateway
                .post(POSTMARK)
                .body("x".repeat(bytes))
                .send()
                .await?
                .status(),
        )
    };
    assert_eq!(post(257 * 1024).await?, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(post(1).await?, StatusCode::SERVICE_UNAVAILABLE, "nobody is there");
    assert_eq!(post(1).await?, StatusCode::TOO_MANY_REQUESTS);
    Ok(())
}
