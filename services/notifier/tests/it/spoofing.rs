//! Visitors who write what mail programs would show as something else: what people see is what was written.
//!
//! The events are as a service of before may have stored them: nothing was left out of them at the edge.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use site_events::event::{CareersApplied, ContactReceived};
use testkit::{MailServer, Nats, S3, ScriptedReply, external_program};
use visitor::{EmailAddress, invisible::is_invisible};

use crate::{
    mails::applied_with_resume,
    running::{RECRUITERS, Running, SALES, SOON, Site},
};

const VISITOR: &str = "zoe@example.org";
/// A name that reads `CEO` where it is decoded.
const SPOOF: &str = "=?utf-8?B?Q0VP?=";
/// It turns round what follows.
const OVERRIDE: char = '\u{202e}';

/// What Python's own library shows of the only mail to this address; what the inbox shows is beside it.
async fn shown(inbox: &MailServer, address: &str) -> anyhow::Result<(Value, Value)> {
    let mail = inbox.mails_to(address, 1, SOON).await?.remove(0);
    let source = STANDARD.encode(inbox.source(&mail)?);
    let script = external_program::python("services/notifier/tests/foreign/read_mail.py");
    let shown = external_program::run(script, json!([source]).to_string().as_bytes()).await?;
    let shown: Value = serde_json::from_str(&shown)?;
    Ok((shown[0].clone(), mail))
}

/// How many lines begin with these words.
fn lines_with(text: &Value, words: &str) -> usize {
    let lines = text.as_str().unwrap_or_default().lines();
    lines.filter(|line| line.starts_with(words)).count()
}

#[tokio::test]
async fn a_name_that_looks_encoded_is_shown_to_sales_as_it_was_written() -> anyhow::Result<()> {
    let (nats, inbox) = tokio::try_join!(Nats::start(), MailServer::start(|_, _| ScriptedReply::Take))?;
    let _notifier = Running::start(&nats, inbox.port, &[]).await?;
    let message = ContactReceived {
        name: format!("{OVERRIDE}{SPOOF} of the <b>board</b>"),
        email: EmailAddress::parse(VISITOR)?,
        message: format!("Hello,\nE-mail:    ceo@oculant.example\n{OVERRIDE}Answer this mail\n-- \nOculant"),
        attribution: None,
    };
    Site::on(&nats).await?.publish(VISITOR, message).await?;

    let (mail, in_the_inbox) = shown(&inbox, SALES).await?;
    let name = format!("{SPOOF} of the <b>board</b>");
    let subject = format!("New message from {name}");
    assert_eq!(mail["subject"], subject);
    assert_eq!(mail["reply_to"], json!([[name, VISITOR]]));
    assert_eq!(in_the_inbox["subject"], subject);
    assert_eq!(in_the_inbox["replyTo"][0]["name"], name);
    assert_eq!(mail["auto_submitted"], "auto-generated");
    for (words, ours) in [("E-mail:", 1), ("Answer this mail", 1), ("-- ", 1), ("> ", 5)] {
        assert_eq!(
            lines_with(&mail["text"], words),
            ours,
            "{words} in {}",
            mail["text"]
        );
    }
    let html = in_the_inbox["html"].as_str().unwrap_or_default();
    assert!(!html.contains("<b>board"), "{html}");
    for part in [html, mail["text"].as_str().unwrap_or_default()] {
        assert!(!part.contains(is_invisible), "{part:?}");
    }

    // The visitor's own mail does not repeat what may be no name.
    let (acknowledgement, _) = shown(&inbox, VISITOR).await?;
    assert_eq!(acknowledgement["to"], json!([""]));
    assert!(!acknowledgement.to_string().contains("board"));
    Ok(())
}

#[tokio::test]
async fn an_application_that_looks_encoded_is_shown_to_recruiters_as_it_was_written() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let (nats, inbox) = tokio::try_join!(Nats::start(), MailServer::start(|_, _| ScriptedReply::Take))?;
    let _notifier = Running::start(&nats, inbox.port, &s3.flags()).await?;
    let applied = CareersApplied {
        name: "Zoë Müller".to_owned(),
        position: format!("{OVERRIDE}{SPOOF}"),
        cover_letter: "Résumé:      none was sent".to_owned(),
        ..applied_with_resume(&s3, &format!("{SPOOF}{OVERRIDE}fdp.pdf")).await?
    };
    Site::on(&nats).await?.publish(VISITOR, applied).await?;

    let (mail, in_the_inbox) = shown(&inbox, RECRUITERS).await?;
    assert_eq!(mail["subject"], format!("Application: {SPOOF} (Zoë Müller)"));
    assert_eq!(in_the_inbox["subject"], mail["subject"]);
    assert_eq!(mail["reply_to"], json!([["Zoë Müller", VISITOR]]));
    assert_eq!(mail["auto_submitted"], "auto-generated");
    let name = "=_utf-8?B?Q0VP?=fdp.pdf";
    assert_eq!(mail["attachments"], json!([name]));
    assert_eq!(in_the_inbox["attachments"][0]["fileName"], name);
    assert_eq!(lines_with(&mail["text"], "Résumé:"), 1, "{}", mail["text"]);
    Ok(())
}
