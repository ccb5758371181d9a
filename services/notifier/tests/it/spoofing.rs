//! Mail programs show visitors' input literally, even if it looks like encoded text.
//!
//! The events hold unfiltered input, because an older service may have stored such events.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use site_events::{
    Attribution, EventData,
    event::{CareersApplied, ContactReceived, NewsletterRequested},
};
use testkit::{MailServer, S3, external_program};
use time::OffsetDateTime;
use visitor::{EmailAddress, invisible::is_invisible};

use crate::{
    mails::applied_with_resume,
    running::{RECRUITERS, SALES, SOON, request, scene, take},
};

const VISITOR: &str = "zoe@example.org";
/// Decodes to `CEO`.
const SPOOF: &str = "=?utf-8?B?Q0VP?=";
/// Inputs that are no names, each with a unique word.
const NO_NAMES: [&str; 14] = [
    "quokka.example",
    "quokka\u{2024}example",
    "quokka\u{3002}example",
    "quokka\u{ff0e}example",
    "quokka\u{fe52}example",
    "quokka\u{ff61}example",
    "quokka/example",
    "me@quokka",
    "quokka +91 98400 00000",
    "quokka \u{660}\u{661}\u{662}\u{663}",
    "q\u{200b}uokka",
    "a quokka wants to meet you",
    "quokka the quokka that is too long to be one",
    "<b>quokka</b>",
];
/// Character that reverses the text after it.
const OVERRIDE: char = '\u{202e}';

/// The only mail to this address as Python's library shows it, and as the inbox does.
async fn shown(inbox: &MailServer, address: &str) -> anyhow::Result<(Value, Value)> {
    let mail = inbox.mails_to(address, 1, SOON).await?.remove(0);
    let source = STANDARD.encode(inbox.source(&mail)?);
    let script = external_program::python("services/notifier/tests/foreign/read_mail.py");
    let shown = external_program::run(script, json!([source]).to_string().as_bytes()).await?;
    let shown: Value = serde_json::from_str(&shown)?;
    Ok((shown[0].clone(), mail))
}

fn lines_with(text: &Value, words: &str) -> usize {
    let lines = text.as_str().unwrap_or_default().lines();
    lines.filter(|line| line.starts_with(words)).count()
}

#[tokio::test]
async fn an_encoded_looking_name_reaches_sales_literally() -> anyhow::Result<()> {
    let (_nats, inbox, site, _notifier) = scene(&[], take).await?;
    let message = ContactReceived {
        name: format!("{OVERRIDE}{SPOOF} of the <b>board</b>"),
        email: EmailAddress::parse(VISITOR)?,
        message: format!("Hello,\nE-mail:    ceo@oculant.example\n{OVERRIDE}Answer this mail\n-- \nOculant"),
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    };
    site.publish(VISITOR, message).await?;

    let (mail, in_the_inbox) = shown(&inbox, SALES).await?;
    let name = format!("{SPOOF} of the <b>board</b>");
    let subject = format!("New message from {name}");
    assert_eq!(mail["subject"], subject);
    assert_eq!(mail["reply_to"], json!([[name, VISITOR]]));
    assert_eq!(in_the_inbox["subject"], subject);
    assert_eq!(in_the_inbox["replyTo"][0]["name"], name);
    assert_eq!(mail["auto_submitted"], "auto-generated");
    for (words, ours) in [("E-mail:", 1), ("Answer this mail", 1), ("-- ", 1), ("> ", 5)] {
        let text = &mail["text"];
        assert_eq!(lines_with(text, words), ours, "{words} in {text}");
    }
    let html = in_the_inbox["html"].as_str().unwrap_or_default();
    assert!(!html.contains("<b>board"), "{html}");
    for part in [html, mail["text"].as_str().unwrap_or_default()] {
        assert!(!part.contains(is_invisible), "{part:?}");
    }

    // The visitor's own mail leaves out a doubtful name.
    let (acknowledgement, _) = shown(&inbox, VISITOR).await?;
    assert_eq!(acknowledgement["to"], json!([""]));
    assert!(!acknowledgement.to_string().contains("board"));
    Ok(())
}

#[tokio::test]
async fn an_encoded_looking_application_reaches_recruiters_literally() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let (_nats, inbox, site, _notifier) = scene(&s3.flags(), take).await?;
    let applied = CareersApplied {
        name: "Zoë Müller".to_owned(),
        position: format!("{OVERRIDE}{SPOOF}"),
        cover_letter: "Résumé:      none was sent".to_owned(),
        ..applied_with_resume(&s3, &format!("{SPOOF}{OVERRIDE}fdp é.pdf")).await?
    };
    site.publish(VISITOR, applied).await?;

    let (mail, in_the_inbox) = shown(&inbox, RECRUITERS).await?;
    assert_eq!(mail["subject"], format!("Application: {SPOOF} (Zoë Müller)"));
    assert_eq!(in_the_inbox["subject"], mail["subject"]);
    assert_eq!(mail["reply_to"], json!([["Zoë Müller", VISITOR]]));
    assert_eq!(mail["auto_submitted"], "auto-generated");
    let name = "=_utf-8?B?Q0VP?=fdp é.pdf";
    assert_eq!(mail["attachments"], json!([name]));
    assert_eq!(in_the_inbox["attachments"][0]["fileName"], name);
    assert_eq!(lines_with(&mail["text"], "Résumé:"), 1, "{}", mail["text"]);
    Ok(())
}

#[tokio::test]
async fn visitor_mails_contain_no_submitted_text() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let (_nats, inbox, site, _notifier) = scene(&s3.flags(), take).await?;
    let attribution = Some(Attribution {
        page: Some("/quokka".to_owned()),
        utm_campaign: Some("quokka".to_owned()),
        ..Attribution::default()
    });
    let mut strangers = vec!["sign-up@example.org".to_owned()];
    let signed_up = NewsletterRequested {
        attribution: attribution.clone(),
        ..request(&strangers[0])?
    };
    site.publish(&strangers[0], signed_up).await?;
    for (number, name) in NO_NAMES.into_iter().enumerate() {
        let [writer, applicant] = ["writer", "applicant"].map(|who| format!("{who}{number}@example.org"));
        let message = ContactReceived {
            name: name.to_owned(),
            email: EmailAddress::parse(&writer)?,
            message: "The quokka of quokka.example".to_owned(),
            attribution: attribution.clone(),
            ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
        };
        site.publish(&writer, message).await?;
        let applied = CareersApplied {
            name: name.to_owned(),
            email: EmailAddress::parse(&applicant)?,
            phone: Some("quokka".to_owned()),
            position: format!("Backend Intern, {name}"),
            experience: Some("quokka".to_owned()),
            cover_letter: "The quokka of quokka.example".to_owned(),
            attribution: attribution.clone(),
            ..applied_with_resume(&s3, "quokka.example pays you.pdf").await?
        };
        site.publish(&applicant, applied).await?;
        strangers.extend([writer, applicant]);
    }
    for stranger in &strangers {
        let mails = inbox.mails_to(stranger, 1, SOON).await?;
        let mail = mails[0].to_string().replace('\u{200b}', "");
        assert!(!mail.contains("quokka"), "to {stranger}: {mail}");
    }
    Ok(())
}
