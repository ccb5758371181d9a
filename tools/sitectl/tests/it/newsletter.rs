//! `sitectl newsletter`: an issue from a file to its readers' inboxes, through the real services.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{
    HttpStandIn, MailServer, ScriptedReply, eventually, http_stand_in::Reply, root, seed_subscribers,
};

use crate::{
    site::{PERSON_KEY, Running, SOON, Site},
    tool::{assert_says, refused, sitectl, told, told_json, told_rows},
};

const POST: &str = "---
id: smart-home
title: The smart home
excerpt: Cameras at home.
---

Hello *reader*, [write to us](/contact).
";

/// Site with three subscribers.
struct Issues {
    site: Site,
    inbox: MailServer,
    folder: TempDir,
    post: String,
    running: Vec<Running>,
}

impl Issues {
    async fn start() -> anyhow::Result<Self> {
        Self::start_with(MailServer::start(|_, _| ScriptedReply::Take).await?).await
    }

    async fn start_with(inbox: MailServer) -> anyhow::Result<Self> {
        let site = Site::start().await?;
        let readers = (0..3).map(|number| format!("reader-{number}@example.org"));
        seed_subscribers(&site.nats, PERSON_KEY, readers).await?;
        let (_, newsletter) = site.newsletter().await?;
        let mut issues = Self {
            site,
            inbox,
            folder: TempDir::new()?,
            post: String::new(),
            running: vec![newsletter],
        };
        issues.post = issues.file("smart-home.md", POST)?;
        Ok(issues)
    }

    async fn start_the_notifier(&mut self) -> anyhow::Result<()> {
        self.running.push(self.site.notifier(&self.inbox).await?);
        Ok(())
    }

    fn file(&self, name: &str, content: &str) -> anyhow::Result<String> {
        let file = self.folder.path().join(name);
        fs::write(&file, content)?;
        Ok(file.to_string_lossy().into_owned())
    }

    fn with(&self, more: &[&str]) -> Vec<String> {
        let more: Vec<String> = more.iter().map(|&flag| flag.to_owned()).collect();
        [&self.site.broker[..], &more].concat()
    }

    fn sending(&self) -> Vec<String> {
        self.with(&["--site-url=https://oculant.example"])
    }

    fn send(&self, post: &str) -> anyhow::Result<Value> {
        told_json(&["newsletter", "send", post, "--yes"], &self.sending())
    }

    /// Waits until the status of an issue matches.
    async fn until(&self, issue: &str, is: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        eventually("the issue is as far as that", SOON, async || {
            let status = told_json(&["newsletter", "status", issue], &self.site.broker).ok()?;
            let issue = status["issues"][0].clone();
            is(&issue).then_some(issue)
        })
        .await
    }
}

fn lines_of(mail: &str) -> Vec<String> {
    let lines = mail.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty() && !line.contains("newsletter=unsubscribe"))
        // The inbox closes void elements with a slash.
        .map(|line| line.replace("\"/>", "\">"))
        .collect()
}

fn brand() -> String {
    format!("--brand-file={}", root().join("brand.json").display())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_and_a_test_mail_show_the_issue() -> anyhow::Result<()> {
    const SITE_URL: &str = "--site-url=http://localhost:8080";
    let mut issues = Issues::start().await?;
    let file = issues.folder.path().join("mail.html");
    let html = format!("--html={}", file.display());
    let preview = told(
        &["newsletter", "preview", &issues.post],
        &[SITE_URL.to_owned(), brand(), html],
    )?;
    let parts = [
        "Subject:  The smart home",
        "Preview:  Cameras at home.",
        "Hello reader, [write to us][1].\n\n[1]: http://localhost:8080/contact?utm_source=newsletter",
        "Unsubscribe: http://localhost:8080/?newsletter=unsubscribe",
    ];
    assert_says(&preview, &parts);
    let (_, text) = preview.split_once("\n\n").unwrap_or_default();
    let previewed = [fs::read_to_string(file)?, text.to_owned()];

    issues.start_the_notifier().await?;
    let editor = "editor@example.com";
    let test = ["newsletter", "test", &issues.post, "--to", editor];
    told(&test, &issues.with(&[SITE_URL]))?;
    let mail = issues.inbox.mail(editor, "[Test] The smart home", SOON).await?;
    let mailed = ["html", "text"].map(|part| mail[part].as_str().unwrap_or_default());
    assert_says(mailed[0], &["Hello <em>reader</em>"]);
    // Preview and mail differ only in the test notice and each subscriber's links.
    for (mailed, previewed) in mailed.into_iter().zip(previewed) {
        assert_eq!(lines_of(mailed), lines_of(&previewed));
    }
    Ok(())
}

const WRONG: &str = "# Hello

Dear {{ name }}, ![a house](/house.png)
[here](/contcat), [gone](/gone#x), [there](/contact), [away](/away) and [nobody](http://localhost:1/).

See[^1].
";
const NAMED: [&str; 6] = [
    "the placeholder {{ name }}",
    "/house.png is missing: it answers 404",
    "/contcat leads nowhere: it answers 404",
    "/gone#x leads nowhere: it answers 410",
    "the footnote [^1] has no text",
    "--force",
];

#[tokio::test(flavor = "multi_thread")]
async fn mistakes_in_an_issue_are_named_and_refused() -> anyhow::Result<()> {
    let issues = Issues::start().await?;
    let web = HttpStandIn::start(|request| match request.url.path() {
        "/contact" => Reply::Answer(200, json!({})),
        "/away" => Reply::Answer(503, json!({})),
        "/gone" => Reply::Answer(410, json!({})),
        _ => Reply::Answer(404, json!({})),
    })
    .await?;
    let url = format!("--site-url={}", web.url);
    let sending = issues.with(&[&url]);
    let previewing = vec![url, brand()];
    let wrong = issues.file("wrong.md", WRONG)?;
    for (words, flags) in [
        (&["newsletter", "preview", &wrong][..], &previewing),
        (
            &["newsletter", "test", &wrong, "--to=editor@example.com"],
            &sending,
        ),
        (&["newsletter", "send", &wrong], &sending),
        (&["newsletter", "send", &wrong, "--yes"], &sending),
    ] {
        let refusal = refused(words, flags)?;
        assert_says(&refusal, &NAMED);
        for fine in ["/contact", "/away", "localhost:1/"] {
            assert!(!refusal.contains(fine), "{refusal}");
        }
        let forced = sitectl(&[words, &["--force"]].concat(), flags)?;
        assert!(forced.status.success(), "{forced:?}");
        assert_says(&String::from_utf8(forced.stderr)?, &["/house.png is missing"]);
    }
    told(&["newsletter", "status", "wrong"], &issues.site.broker)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_sent_only_with_yes_and_once() -> anyhow::Result<()> {
    let mut issues = Issues::start().await?;
    issues.start_the_notifier().await?;
    let said = told(&["newsletter", "send", &issues.post], &issues.sending())?;
    let parts = [
        "lead to https://oculant.example.",
        "Recipients: 3.",
        "Nothing was sent",
    ];
    assert_says(&said, &parts);
    assert_eq!(issues.inbox.mails().len(), 0);

    assert_eq!(issues.send(&issues.post)?["reach"]["reached"], 3);
    for number in 0..3 {
        let reader = format!("reader-{number}@example.org");
        let mail = issues.inbox.mail(&reader, "The smart home", SOON).await?;
        assert_says(
            &mail["text"].to_string(),
            &["https://oculant.example/blog/smart-home"],
        );
    }
    let status = issues.until("smart-home", |issue| issue["sent"] == 3).await?;
    let numbers = ["state", "handedOut", "waiting"].map(|name| &status[name]);
    assert_eq!(numbers, [&json!("done"), &json!(3), &json!(0)]);
    assert!(status["handedOutAt"].is_string(), "{status}");
    let rows = told_rows(&["newsletter", "status"], &issues.site.broker)?;
    assert_eq!(rows[0][..2], ["smart-home", "done"]);
    assert_eq!(rows[0][3], "3");
    let one = told(&["newsletter", "status", "smart-home"], &issues.site.broker)?;
    assert_says(&one, &["NAME ", "smart-home  done "]);

    for words in [
        &["newsletter", "pause", "smart-home"][..],
        &["newsletter", "resume", "smart-home"],
        &["newsletter", "cancel", "smart-home"],
        &["newsletter", "cancel", "smart-home", "--yes"],
    ] {
        assert_says(&refused(words, &issues.site.broker)?, &["smart-home is done"]);
    }
    let again = refused(&["newsletter", "send", &issues.post, "--yes"], &issues.sending())?;
    assert_says(&again, &["was sent before"]);
    let status = issues.until("smart-home", |issue| issue["sent"] == 3).await?;
    assert_eq!(status["state"], "done");
    assert_eq!(issues.inbox.mails().len(), 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_mail_is_repeated_once_for_its_reader_alone() -> anyhow::Result<()> {
    let inbox = MailServer::start(|to, attempt| match (to, attempt) {
        ("reader-1@example.org", 1) => ScriptedReply::ToContent("554 5.7.1 Message content rejected"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let mut issues = Issues::start_with(inbox).await?;
    issues.start_the_notifier().await?;
    let repeat = ["newsletter", "send", &issues.post, "--refused", "--yes"];
    let early = refused(&repeat[..4], &issues.sending())?;
    assert_says(&early, &["There is no issue named smart-home"]);
    issues.send(&issues.post)?;
    let is_refused = |issue: &Value| issue["refused"] == 1 && issue["sent"] == 2;
    issues.until("smart-home", is_refused).await?;
    let would = told(&repeat[..4], &issues.sending())?;
    assert_says(&would, &["to 1 whose mail", "Nothing was sent"]);
    assert_eq!(told_json(&repeat, &issues.sending())?["sent"], 1);
    let is_sent = |issue: &Value| issue["refused"] == 0 && issue["sent"] == 3;
    issues.until("smart-home", is_sent).await?;
    issues
        .inbox
        .mail("reader-1@example.org", "The smart home", SOON)
        .await?;
    assert_eq!(told_json(&repeat, &issues.sending())?["sent"], 0);
    assert_eq!(issues.inbox.mails().len(), 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_paused_resumed_and_canceled() -> anyhow::Result<()> {
    let mut issues = Issues::start().await?;
    issues.send(&issues.post)?;
    issues.until("smart-home", |issue| issue["waiting"] == 3).await?;
    told(&["newsletter", "pause", "smart-home"], &issues.site.broker)?;
    issues.start_the_notifier().await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(issues.inbox.mails().len(), 0, "it was sent while paused");
    let status = told(&["newsletter", "status", "smart-home"], &issues.site.broker)?;
    assert_says(&status, &["paused"]);
    told(&["newsletter", "resume", "smart-home"], &issues.site.broker)?;
    issues.until("smart-home", |issue| issue["sent"] == 3).await?;

    issues.running.pop();
    issues.send(&issues.file("other.md", POST)?)?;
    issues.until("other", |issue| issue["handedOut"] == 3).await?;
    let cancel = ["newsletter", "cancel", "other", "--yes"];
    let would = told(&cancel[..3], &issues.site.broker)?;
    assert_says(&would, &["other; 3 wait", "repeat it with --yes"]);
    let is = |state: &'static str, waiting: u32| {
        move |issue: &Value| issue["state"] == state && issue["waiting"] == waiting
    };
    issues.until("other", is("running", 3)).await?;
    assert_eq!(told_json(&cancel, &issues.site.broker)?["removed"], 3);
    issues.until("other", is("canceled", 0)).await?;
    for (verb, issue, said) in [
        ("resume", "other", "is canceled"),
        ("cancel", "nothing", "There is no issue named nothing"),
        ("pause", "nothing", "There is no issue named nothing"),
    ] {
        let refusal = refused(&["newsletter", verb, issue], &issues.site.broker)?;
        assert_says(&refusal, &[said]);
    }
    Ok(())
}
