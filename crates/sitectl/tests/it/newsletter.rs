//! `sitectl newsletter`: an issue from a file to its readers' inboxes, by the services themselves.

use std::{fs, path::PathBuf, time::Duration};

use serde_json::Value;
use tempfile::TempDir;
use testkit::{Inbox, Nats, User, eventually, seed_subscribers};
use time::OffsetDateTime;
use tokio_util::sync::DropGuard;
use visitor::token::{Purpose, TokenKey};

use crate::{
    dead_letters::notifier,
    subscribers::{TOKEN_KEY, newsletter, token},
    tool::{PERSON_KEY, person, refused, told, told_json},
};

const SOON: Duration = Duration::from_secs(45);
const POST: &str = "---
id: smart-home
title: The smart home
excerpt: Cameras at home.
---

Hello *reader*, [write to us](/contact).
";

struct Site {
    nats: Nats,
    inbox: Inbox,
    flags: Vec<String>,
    folder: TempDir,
    running: Vec<DropGuard>,
}

impl Site {
    /// Three people who confirmed; nobody sends yet.
    async fn start() -> anyhow::Result<Self> {
        let (nats, inbox) = tokio::try_join!(Nats::start(), Inbox::start())?;
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
        self.running
            .push(notifier(&self.nats, self.inbox.smtp_port()).await?);
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

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_looked_at_and_tried() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let post = site.file("smart-home.md", POST)?;
    let preview = told(
        &[
            "newsletter",
            "preview",
            &post,
            "--site-url",
            "https://oculant.example",
        ],
        &[],
    )?;
    for part in [
        "Subject:  The smart home",
        "Preview:  Cameras at home.",
        "Hello reader, write to us\n(https://oculant.example/contact?utm_source=newsletter",
    ] {
        assert!(preview.contains(part), "{part} is not in {preview}");
    }

    site.start_the_notifier().await?;
    let mut flags = site.of_links();
    flags.push(format!("--person-key={PERSON_KEY}"));
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
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issue_is_sent_once_it_is_known_to_whom() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    let post = site.file("smart-home.md", POST)?;
    site.start_the_notifier().await?;
    // Nobody is there to be asked.
    let said = told(&["newsletter", "send", &post], &site.of_links())?;
    assert!(
        said.contains("It goes to 3 subscribers.") && said.contains("Nothing was sent"),
        "{said}"
    );
    assert_eq!(site.inbox.mails().await?.len(), 0, "nothing was sent unasked");

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
    assert_eq!((&status["queued"], &status["waiting"]), (&3.into(), &0.into()));
    assert!(told(&["newsletter", "status"], &site.flags)?.contains("smart-home: done"));
    let again = refused(&["newsletter", "send", &post, "--yes"], &site.of_links())?;
    assert!(again.contains("was sent before"), "{again}");
    assert_eq!(site.inbox.mails().await?.len(), 3);
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
    let other = site.file("other.md", "# Another\n\nHello.\n")?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(site.inbox.mails().await?.len(), 0, "it was sent while paused");
    assert!(told(&["newsletter", "status", "smart-home"], &site.flags)?.contains("paused"));
    told(&["newsletter", "resume", "smart-home"], &site.flags)?;
    site.status_once(|issue| issue["sent"] == 3).await?;

    site.running.pop();
    told(&["newsletter", "send", &other, "--yes"], &site.of_links())?;
    let canceled = eventually("all three wait", SOON, async || {
        let status = told_json(&["newsletter", "status", "other"], &site.flags).ok()?;
        (status["issues"][0]["handedOut"].is_string()).then_some(())
    });
    canceled.await?;
    told(&["newsletter", "cancel", "other"], &site.flags)?;
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

/// A report that a mail came back, in which our mail follows with this token.
fn report(kind: &str, machine: &str, token: &str) -> String {
    format!(
        "From: MAILER-DAEMON@mx.example.org\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type={kind}; boundary=\"b\"\r\n\r\n\
         --b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n\
         --b\r\nContent-Type: message/{kind}\r\n\r\n{machine}\r\n\
         --b\r\nContent-Type: text/rfc822-headers\r\n\r\n\
         Message-ID: <{}.newsletter-issue@oculant.example>\r\n\
         List-Unsubscribe: <https://oculant.example/api/newsletter/unsubscribe?token={token}>\r\n\r\n--b--\r\n",
        uuid::Uuid::new_v4()
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_to_the_mailbox_suppresses_whom_it_is_about_and_nobody_by_a_forgery()
-> anyhow::Result<()> {
    let site = Site::start().await?;
    for part in ["new", "cur", "tmp"] {
        fs::create_dir(site.folder.path().join(part))?;
    }
    let deliver = |name: &str, mail: &str| fs::write(site.folder.path().join("new").join(name), mail);
    let reader = |number| format!("reader-{number}@example.org");
    let hard = "Final-Recipient: rfc822; x@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\n";
    deliver(
        "1",
        &report("delivery-status", hard, &token(Purpose::Unsubscribe, &reader(0))?),
    )?;
    deliver(
        "2",
        &report(
            "feedback-report",
            "Feedback-Type: abuse\r\n",
            &token(Purpose::Unsubscribe, &reader(1))?,
        ),
    )?;
    let forged = TokenKey::new("somebody else's key, of 32 bytes or more")?;
    let until = OffsetDateTime::now_utc() + time::Duration::HOUR;
    let forged = forged.sign(Purpose::Unsubscribe, &person(&reader(2))?, until);
    deliver("3", &report("delivery-status", hard, &forged))?;
    deliver("4", "Subject: I am away\r\n\r\nUntil Monday.\r\n")?;

    let mut flags = site.flags.clone();
    flags.push(format!("--token-key={TOKEN_KEY}"));
    flags.push(format!("--maildir={}", site.folder.path().display()));
    let counts = told_json(&["newsletter", "bounces"], &flags)?;
    assert_eq!(
        (&counts["hard"], &counts["complaints"], &counts["others"]),
        (&1.into(), &1.into(), &2.into())
    );
    let states = eventually("both are suppressed", SOON, async || {
        let exported = told_json(&["subscribers", "export"], &site.flags).ok()?;
        let rows = exported["subscribers"].as_array()?.clone();
        let suppressed = rows.iter().filter(|row| row["state"] == "suppressed").count();
        (suppressed == 2).then_some(rows)
    })
    .await?;
    let third = states.iter().find(|row| row["email"] == reader(2).as_str());
    assert!(third.is_some_and(|row| row["state"] == "confirmed"), "{states:?}");
    let again = told_json(&["newsletter", "bounces"], &flags)?;
    assert_eq!(
        (&again["hard"], &again["others"]),
        (&0.into(), &0.into()),
        "it was read before"
    );
    Ok(())
}
