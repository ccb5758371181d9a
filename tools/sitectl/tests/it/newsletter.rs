//! `sitectl newsletter`: an issue from a file to its readers' inboxes, through the real services.

use std::{fs, path::PathBuf, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{
    HttpStandIn, MailServer, Nats, ScriptedReply, User, eventually, http_stand_in::Reply, seed_subscribers,
};
use tokio_util::sync::DropGuard;

use crate::{
    dead_letters::notifier,
    subscribers::newsletter,
    tool::{PERSON_KEY, command, refused, sitectl, told, told_json, told_rows},
};

const SOON: Duration = Duration::from_secs(45);
const SITE_URL: &str = "--site-url=http://localhost:8080";
const POST: &str = "---
id: smart-home
title: The smart home
excerpt: Cameras at home.
---

Hello *reader*, [write to us](/contact).
";

struct Site {
    nats: Nats,
    inbox: MailServer,
    flags: Vec<String>,
    folder: TempDir,
    running: Vec<DropGuard>,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        let (nats, inbox) = tokio::try_join!(Nats::start(), MailServer::start(|_, _| ScriptedReply::Take))?;
        let readers = (0..3).map(|number| format!("reader-{number}@example.org"));
        seed_subscribers(&nats, PERSON_KEY, readers).await?;
        let (_, newsletter) = newsletter(&nats).await?;
        Ok(Self {
            flags: nats.flags(User::Operator),
            folder: TempDir::new()?,
            running: vec![newsletter],
            inbox,
            nats,
        })
    }

    async fn start_the_notifier(&mut self) -> anyhow::Result<()> {
        self.running.push(notifier(&self.nats, self.inbox.port).await?);
        Ok(())
    }

    fn file(&self, name: &str, content: &str) -> anyhow::Result<String> {
        let file: PathBuf = self.folder.path().join(name);
        fs::write(&file, content)?;
        Ok(file.to_string_lossy().into_owned())
    }

    fn of_links(&self) -> Vec<String> {
        let mut flags = self.flags.clone();
        flags.push("--site-url=https://oculant.example".to_owned());
        flags
    }

    async fn status_once(&self, is: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
        eventually("the issue is as far as that", SOON, async || {
            let status = told_json(&["newsletter", "status", "smart-home"], &self.flags).ok()?;
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
        // The inbox closes void elements.
        .map(|line| line.replace("\"/>", "\">"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_looked_at_and_tried() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let post = site.file("smart-home.md", POST)?;
    let file = site.folder.path().join("mail.html");
    let brand = testkit::root().join("brand.json");
    let flags = [
        SITE_URL.to_owned(),
        format!("--brand-file={}", brand.display()),
        format!("--html={}", file.display()),
    ];
    let preview = told(&["newsletter", "preview", &post], &flags)?;
    for part in [
        "Subject:  The smart home",
        "Preview:  Cameras at home.",
        "Hello reader, [write to us][1].\n\n[1]: http://localhost:8080/contact?utm_source=newsletter",
        "Unsubscribe: http://localhost:8080/?newsletter=unsubscribe",
    ] {
        assert!(preview.contains(part), "{part} is not in {preview}");
    }
    let (_, text) = preview.split_once("\n\n").unwrap_or_default();
    let previewed = [fs::read_to_string(file)?, text.to_owned()];

    site.start_the_notifier().await?;
    let mut flags = site.flags.clone();
    flags.extend([SITE_URL.to_owned(), format!("--person-key={PERSON_KEY}")]);
    told(
        &["newsletter", "test", &post, "--to", "editor@example.com"],
        &flags,
    )?;
    let test = site
        .inbox
        .mail("editor@example.com", "[Test] The smart home", SOON)
        .await?;
    assert!(
        test["html"]
            .as_str()
            .is_some_and(|html| html.contains("Hello <em>reader</em>"))
    );
    // Preview and mail differ only in the test notice and each subscriber's links.
    for (part, previewed) in ["html", "text"].into_iter().zip(previewed) {
        let mailed = test[part].as_str().unwrap_or_default();
        assert_eq!(lines_of(mailed), lines_of(&previewed), "{part}");
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
async fn what_readers_would_stumble_over_is_named_and_refused() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let web = HttpStandIn::start(|request| match request.url.path() {
        "/contact" => Reply::Answer(200, json!({})),
        "/away" => Reply::Answer(503, json!({})),
        "/gone" => Reply::Answer(410, json!({})),
        _ => Reply::Answer(404, json!({})),
    })
    .await?;
    let of_links = format!("--site-url={}", web.url);
    let brand = format!("--brand-file={}", testkit::root().join("brand.json").display());
    let previewing = [of_links.clone(), brand];
    let sending = [&site.flags[..], &[of_links]].concat();
    let testing = [&sending[..], &[format!("--person-key={PERSON_KEY}")]].concat();
    let wrong = site.file("wrong.md", WRONG)?;
    let to = "--to=editor@example.com";
    for (words, flags) in [
        (&["newsletter", "preview", &wrong][..], &previewing[..]),
        (&["newsletter", "test", &wrong, to], &testing),
        (&["newsletter", "send", &wrong], &sending),
        (&["newsletter", "send", &wrong, "--yes"], &sending),
    ] {
        let refusal = refused(words, flags)?;
        for named in NAMED {
            assert!(refusal.contains(named), "{named} is not in {refusal}");
        }
        for fine in ["/contact", "/away", "localhost:1/"] {
            assert!(!refusal.contains(fine), "{refusal}");
        }
        let forced = sitectl(&command(&[words, &["--force"]].concat(), flags))?;
        let complaint = String::from_utf8_lossy(&forced.stderr);
        assert!(
            forced.status.success() && complaint.contains("/house.png is missing"),
            "{complaint}"
        );
    }
    told(&["newsletter", "status", "wrong"], &site.flags)?;
    Ok(())
}

async fn assert_stays_done(site: &Site) -> anyhow::Result<()> {
    for (verb, yes) in [
        ("pause", None),
        ("resume", None),
        ("cancel", None),
        ("cancel", Some("--yes")),
    ] {
        let words: Vec<&str> = ["newsletter", verb, "smart-home"]
            .into_iter()
            .chain(yes)
            .collect();
        let refusal = refused(&words, &site.flags)?;
        assert!(refusal.contains("smart-home is done"), "{refusal}");
    }
    let status = site.status_once(|issue| issue["sent"] == 3).await?;
    assert_eq!(status["state"], "done");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_sent_once_it_is_known_to_whom() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let post = site.file("smart-home.md", POST)?;
    site.start_the_notifier().await?;
    let said = told(&["newsletter", "send", &post], &site.of_links())?;
    assert!(said.contains("lead to https://oculant.example."), "{said}");
    assert!(
        said.contains("Subscribers that it goes to: 3.") && said.contains("Nothing was sent"),
        "{said}"
    );
    assert_eq!(site.inbox.mails().len(), 0, "nothing was sent unasked");

    let sent = told_json(&["newsletter", "send", &post, "--yes"], &site.of_links())?;
    assert_eq!(sent["reach"]["reached"], 3);
    for number in 0..3 {
        let mail = site
            .inbox
            .mail(&format!("reader-{number}@example.org"), "The smart home", SOON)
            .await?;
        assert!(
            mail["text"]
                .as_str()
                .is_some_and(|text| text.contains("https://oculant.example/blog/smart-home"))
        );
    }
    let status = site.status_once(|issue| issue["sent"] == 3).await?;
    assert_eq!((&status["handedOut"], &status["waiting"]), (&3.into(), &0.into()));
    assert!(status["handedOutAt"].is_string(), "{status}");
    let rows = told_rows(&["newsletter", "status"], &site.flags)?;
    assert_eq!(rows[0][..2], ["smart-home", "done"]);
    assert_eq!((&status["state"], rows[0][3].as_str()), (&"done".into(), "3"));
    assert_stays_done(&site).await?;
    let one = told(&["newsletter", "status", "smart-home"], &site.flags)?;
    assert!(
        one.starts_with("NAME ") && one.contains("smart-home  done "),
        "{one}"
    );
    let again = refused(&["newsletter", "send", &post, "--yes"], &site.of_links())?;
    assert!(again.contains("was sent before"), "{again}");
    assert_eq!(site.inbox.mails().len(), 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_mail_was_refused_gets_it_once_more_and_nobody_else_does() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    site.inbox = MailServer::start(|to, attempt| match (to, attempt) {
        ("reader-1@example.org", 1) => ScriptedReply::ToContent("554 5.7.1 Message content rejected"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let post = site.file("smart-home.md", POST)?;
    site.start_the_notifier().await?;
    let early = refused(&["newsletter", "send", &post, "--refused"], &site.of_links())?;
    assert!(early.contains("There is no issue named smart-home"), "{early}");
    told(&["newsletter", "send", &post, "--yes"], &site.of_links())?;
    site.status_once(|issue| issue["refused"] == 1 && issue["sent"] == 2)
        .await?;
    let would = told(&["newsletter", "send", &post, "--refused"], &site.of_links())?;
    assert!(
        would.contains("to 1 whose mail") && would.contains("Nothing was sent"),
        "{would}"
    );
    let again = ["newsletter", "send", &post, "--refused", "--yes"];
    assert_eq!(told_json(&again, &site.of_links())?["sent"], 1);
    site.status_once(|issue| issue["refused"] == 0 && issue["sent"] == 3)
        .await?;
    site.inbox
        .mail("reader-1@example.org", "The smart home", SOON)
        .await?;
    assert_eq!(told_json(&again, &site.of_links())?["sent"], 0);
    assert_eq!(site.inbox.mails().len(), 3);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_paused_resumed_and_canceled() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let post = site.file("smart-home.md", POST)?;
    told(&["newsletter", "send", &post, "--yes"], &site.of_links())?;
    site.status_once(|issue| issue["waiting"] == 3).await?;
    told(&["newsletter", "pause", "smart-home"], &site.flags)?;
    site.start_the_notifier().await?;
    let other = site.file("other.md", POST)?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(site.inbox.mails().len(), 0, "it was sent while paused");
    assert!(told(&["newsletter", "status", "smart-home"], &site.flags)?.contains("paused"));
    told(&["newsletter", "resume", "smart-home"], &site.flags)?;
    site.status_once(|issue| issue["sent"] == 3).await?;

    site.running.pop();
    told(&["newsletter", "send", &other, "--yes"], &site.of_links())?;
    let canceled = eventually("all three wait", SOON, async || {
        let status = told_json(&["newsletter", "status", "other"], &site.flags).ok()?;
        (status["issues"][0]["handedOut"] == 3).then_some(())
    });
    canceled.await?;
    let would = told(&["newsletter", "cancel", "other"], &site.flags)?;
    assert!(
        would.contains("other; 3 wait") && would.contains("repeat it with --yes"),
        "{would}"
    );
    let status = told_json(&["newsletter", "status", "other"], &site.flags)?;
    assert_eq!(
        (&status["issues"][0]["state"], &status["issues"][0]["waiting"]),
        (&"running".into(), &3.into())
    );
    let unknown = refused(&["newsletter", "cancel", "nothing"], &site.flags)?;
    assert!(unknown.contains("There is no issue named nothing"), "{unknown}");
    let done = told_json(&["newsletter", "cancel", "other", "--yes"], &site.flags)?;
    assert_eq!(done["removed"], 3);
    let status = told_json(&["newsletter", "status", "other"], &site.flags)?;
    assert_eq!(
        (&status["issues"][0]["state"], &status["issues"][0]["waiting"]),
        (&"canceled".into(), &0.into())
    );
    let refusal = refused(&["newsletter", "resume", "other"], &site.flags)?;
    assert!(refusal.contains("is canceled"), "{refusal}");
    let unknown = refused(&["newsletter", "pause", "nothing"], &site.flags)?;
    assert!(unknown.contains("There is no issue named nothing"), "{unknown}");
    Ok(())
}
