//! An issue from `sitectl` to an inbox, and a foreign client that unsubscribes.

use std::{fs, process::Command, time::Duration};

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Ports, Stack, User, eventually, external_program, pass_flags};
use tokio::task::spawn_blocking;

const SOON: Duration = Duration::from_secs(60);
const READER: &str = "zoe@example.org";

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
    let issue = "---\ntitle: The smart home\nexcerpt: Cameras at home.\n---\n\nHello.\n";
    fs::write(&post, issue)?;
    let mut flags = stack.nats.flags(User::Operator);
    flags.push(format!("--site-url={}", stack.site()));
    let mut tool = Command::new(stack.programs.join("sitectl"));
    pass_flags(tool.args(["newsletter", "send", "--yes"]).arg(&post), &flags);
    let sent = spawn_blocking(move || tool.output()).await??;
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let inbox = stack.mail_server()?;
    let mail = inbox.mail(READER, "The smart home", SOON).await?;
    let source = inbox.source(&mail)?;
    // Providers may send the request more than once.
    for _ in 0..2 {
        let client = external_program::python("services/gateway/tests/foreign/one_click.py");
        let answered = external_program::run(client, source.as_bytes()).await?;
        assert_eq!(answered.trim(), "200");
    }
    assert_eq!(published(&stack, "site.newsletter.unsubscribed.v1").await?, 1);
    Ok(())
}
