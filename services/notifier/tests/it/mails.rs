//! Each event and its mails.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use serde_json::Value;
use site_events::{
    Channel,
    event::{CareersApplied, NewsletterRequested},
};
use testkit::{MailServer, Nats, S3, ScriptedReply, User, eventually};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::running::{
    self, HURRY, RECRUITERS, REQUEST, Running, SALES, SOON, Site, application, application_with, parts,
    person, scene, settings, take,
};

const VISITOR: &str = "zoe@example.org";

async fn only_mail(inbox: &MailServer, address: &str) -> anyhow::Result<Value> {
    let mut mails = inbox.mails_to(address, 1, SOON).await?;
    anyhow::ensure!(mails.len() == 1, "one mail to {address}, not {}", mails.len());
    Ok(mails.remove(0))
}

fn header<'a>(mail: &'a Value, name: &str) -> Option<&'a str> {
    mail["headers"][name].as_str()
}

#[tokio::test]
async fn each_event_becomes_its_mails() -> anyhow::Result<()> {
    let (_nats, inbox, site, _notifier) = scene(&[], take).await?;
    let events = site.publish_every_type(VISITOR).await?;
    for channel in Channel::ALL {
        let event = events[&channel.event_type()];
        let id = format!("<{event}.{}@oculant.example>", channel.name());
        let mail = eventually(&format!("the mail {id}"), SOON, async || {
            let mut mails = inbox.mails().into_iter();
            mails.find(|mail| header(mail, "message-id") == Some(id.as_str()))
        })
        .await?;
        let is_to_visitor = mail["to"][0]["address"] == VISITOR;
        assert_eq!(is_to_visitor, channel.is_to_visitor(), "{id}");
        assert_eq!(header(&mail, "x-event-id"), Some(event.to_string().as_str()));
        assert_eq!(header(&mail, "x-request-id"), Some(REQUEST), "{id}");
        assert_eq!(header(&mail, "auto-submitted"), Some("auto-generated"), "{id}");
        assert_eq!(mail["from"][0]["address"], "hello@oculant.example", "{id}");
        let both = ["text", "html"].map(|part| mail[part].as_str().is_some_and(|part| !part.is_empty()));
        assert_eq!(both, [true, true], "text and HTML of {id}");
    }
    assert_eq!(inbox.mails().len(), Channel::ALL.len());
    Ok(())
}

#[tokio::test]
async fn a_second_message_lands_in_the_same_conversation() -> anyhow::Result<()> {
    let (_nats, inbox, site, _notifier) = scene(&[], take).await?;
    for email in [VISITOR, VISITOR, "other@example.org"] {
        site.contact(email).await?;
    }
    let leads = inbox.mails_to(SALES, 3, SOON).await?;
    let of = |email: &str| -> Vec<&str> {
        let from = leads.iter().filter(|lead| lead["replyTo"][0]["address"] == email);
        from.filter_map(|lead| header(lead, "references")).collect()
    };
    let (first, other) = (of(VISITOR), of("other@example.org"));
    assert_eq!(first.len(), 2);
    assert_eq!(first[0], first[1]);
    assert_ne!(first[0], other[0]);
    Ok(())
}

const RESUME: &[u8] = b"%PDF-1.7 a life in one page";

pub async fn applied_with_resume(s3: &S3, file_name: &str) -> anyhow::Result<CareersApplied> {
    application_with(s3, file_name, RESUME).await
}

#[tokio::test]
async fn a_recruiters_mail_links_and_attaches_the_resume() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let (_nats, inbox, site, _notifier) = scene(&s3.flags(), take).await?;
    let applied = applied_with_resume(&s3, "Résumé Zoë.pdf").await?;
    site.publish(VISITOR, applied).await?;

    let mail = only_mail(&inbox, RECRUITERS).await?;
    let text = mail["text"].as_str().unwrap_or_default();
    for said in ["no earlier application", "It is attached, too.", "not scanned"] {
        assert!(text.contains(said), "no \"{said}\" in:\n{text}");
    }
    let link = text.lines().find(|line| line.starts_with(&s3.url()));
    let answer = reqwest::get(link.context("no link to the résumé")?).await?;
    let answer = answer.error_for_status()?;
    let disposition = answer.headers().get("content-disposition");
    let disposition = disposition.context("no Content-Disposition")?.to_str()?;
    assert_eq!(
        disposition,
        "attachment; filename=\"R_sum__Zo_.pdf\"; filename*=UTF-8''R%C3%A9sum%C3%A9%20Zo%C3%AB%2Epdf"
    );
    assert_eq!(&answer.bytes().await?[..], RESUME);
    let attachment = &mail["attachments"][0];
    assert_eq!(attachment["fileName"], "Résumé Zoë.pdf", "{attachment}");
    assert_eq!(attachment["contentType"], "application/pdf");
    assert_eq!(attachment["length"], RESUME.len());
    let source = inbox.source(&mail)?;
    for plain in [" name=\"R_sum__Zo_.pdf\"", " filename=\"R_sum__Zo_.pdf\""] {
        assert!(
            source.contains(plain),
            "no \"{plain}\" for old mail programs in:\n{source}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn large_and_unavailable_resumes_are_only_linked() -> anyhow::Result<()> {
    for is_available in [true, false] {
        let mut s3 = S3::start().await?;
        let bytes = if is_available { 5_000_001 } else { 1 };
        let applied = application_with(&s3, "Résumé Zoë.pdf", &vec![b'x'; bytes]).await?;
        let flags = s3.flags();
        if !is_available {
            s3.stop().await?;
        }
        let (_nats, inbox, site, _notifier) = scene(&flags, take).await?;
        site.publish(VISITOR, applied).await?;
        let mail = only_mail(&inbox, RECRUITERS).await?;
        let attachments = mail["attachments"].as_array();
        assert_eq!(attachments.map(Vec::len).unwrap_or_default(), 0);
        let text = mail["text"].as_str().unwrap_or_default();
        assert!(
            text.contains(&s3.url()) && text.contains("Résumé Zoë.pdf"),
            "{text}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn recruiters_see_earlier_applications() -> anyhow::Result<()> {
    let (_nats, inbox, site, _notifier) = scene(&[], take).await?;
    let mut references = Vec::new();
    for (position, before) in [
        ("Backend Intern", "Before:      no earlier application"),
        ("Marketing Intern", "Before:      Backend Intern ("),
    ] {
        let applied = CareersApplied {
            position: position.to_owned(),
            ..application(VISITOR)?
        };
        site.publish(VISITOR, applied).await?;
        site.until_acked(Channel::RecruiterApplication, SOON).await?;
        let mail = inbox.mail(RECRUITERS, position, SOON).await?;
        let text = mail["text"].as_str().unwrap_or_default();
        assert!(text.contains(before), "{text}");
        references.push(header(&mail, "references").context("no conversation")?.to_owned());
    }
    assert_eq!(references[0], references[1]);
    Ok(())
}

const OPERATOR: &str = "admin@oculant.example";

/// The event holds an address, which no dead letter's reason may repeat.
fn unreadable() -> anyhow::Result<(String, Value)> {
    let person = person(VISITOR)?;
    let event = serde_json::json!({
        "specversion": "1.0",
        "id": Uuid::new_v4(),
        "source": "/services/newsletter",
        "type": "site.newsletter.requested.v1",
        "subject": person,
        "time": "2026-11-20T12:00:00Z",
        "datacontenttype": "application/json",
        "requestid": "visit-0001",
        "data": "Zoë, zoe@example.org, wants the newsletter",
    });
    Ok((format!("site.newsletter.requested.{person}"), event))
}

async fn give_up(nats: &Nats, site: &Site, count: usize) -> anyhow::Result<Value> {
    let (subject, event) = unreadable()?;
    site.publish_raw(&subject, event.to_string()).await?;
    eventually("a dead letter", SOON, async || {
        let letters = nats.dead_letters().await.ok()?;
        (letters.len() == count).then_some(())
    })
    .await?;
    Ok(event)
}

#[tokio::test]
async fn the_digest_reports_dead_letters_once_without_personal_data() -> anyhow::Result<()> {
    let (nats, inbox, site, mut notifier) = scene(&[], take).await?;
    let event = give_up(&nats, &site, 1).await?;
    let letter = nats.dead_letters().await?.remove(0);
    assert_eq!(serde_json::from_slice::<Value>(&letter.payload)?, event);
    // Each notifier sends a digest when it starts, then hourly.
    for _ in 0..2 {
        notifier.tell_to_stop();
        notifier.stopped().await?;
        notifier = Running::start(&nats, inbox.port, &[]).await?;
        only_mail(&inbox, OPERATOR).await?;
    }
    let mail = only_mail(&inbox, OPERATOR).await?;
    assert_eq!(mail["subject"], "1 event could not be delivered");
    let id = header(&mail, "message-id");
    assert_eq!(id, Some("<dead-letters.1-1@oculant.example>"));
    let text = mail["text"].as_str().unwrap_or_default();
    for said in [
        "newsletter-requested-confirmation (1)",
        "the event does not match its type",
    ] {
        assert!(text.contains(said), "no \"{said}\" in:\n{text}");
    }
    assert!(!mail.to_string().contains("example.org"));
    Ok(())
}

#[tokio::test]
async fn a_digest_that_failed_is_sent_later_without_dropped_letters() -> anyhow::Result<()> {
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = refusing.clone();
    let (nats, server, site, notifier) = scene(&[], move |_, _| match refuses.load(Ordering::Relaxed) {
        true => ScriptedReply::ToContent("451 4.3.0 Try again later"),
        false => ScriptedReply::Take,
    })
    .await?;
    for number in 1..=3 {
        give_up(&nats, &site, number).await?;
    }
    drop(notifier);

    let _notifier = telling(&nats, &server).await?;
    running::until("its mail fails twice", || server.attempts(OPERATOR) >= 2).await?;
    // Removes a dead letter, as the operator's drop or replay does.
    let context = async_nats::jetstream::new(nats.client(User::Operator).await?);
    let dead_letters = context.get_stream(site_events::DEAD_LETTERS_STREAM).await?;
    dead_letters.delete_message(2).await?;
    refusing.store(false, Ordering::Relaxed);
    running::accepted(&server, OPERATOR, 1).await?;
    let told = server.accepted(OPERATOR).concat();
    assert!(told.contains("<dead-letters.1-3@oculant.example>"), "{told}");
    assert!(told.contains("2 events could not be delivered"), "{told}");

    // The next digest repeats nothing.
    give_up(&nats, &site, 3).await?;
    running::accepted(&server, OPERATOR, 2).await?;
    let told = server.accepted(OPERATOR);
    assert_eq!(told.len(), 2);
    let id = "<dead-letters.4-4@oculant.example>";
    assert!(told[1].contains(id), "{}", told[1]);
    Ok(())
}

async fn telling(nats: &Nats, server: &MailServer) -> anyhow::Result<Running> {
    let mut settings = settings(nats, server.port, &[])?;
    settings.digest_every = HURRY;
    Running::start_with(settings).await
}

#[tokio::test]
async fn a_slow_mail_to_the_operator_is_sent_once() -> anyhow::Result<()> {
    const ACK_WAIT: Duration = Duration::from_secs(2);
    let (nats, server, site) = parts(running::holding(OPERATOR)).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let (_one, _other) = (telling(&nats, &server).await?, telling(&nats, &server).await?);
    give_up(&nats, &site, 1).await?;
    running::held(&server).await?;
    tokio::time::sleep(3 * ACK_WAIT).await;
    assert_eq!(server.attempts(OPERATOR), 1, "the other notifier told it as well");

    server.release_held();
    tokio::time::sleep(3 * ACK_WAIT).await;
    assert_eq!(server.attempts(OPERATOR), 1, "it was told again");
    assert_eq!(server.accepted(OPERATOR).len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_link_that_has_expired_is_not_mailed() -> anyhow::Result<()> {
    let (nats, inbox, site, _notifier) = scene(&[], take).await?;
    let late = NewsletterRequested {
        email: EmailAddress::parse(VISITOR)?,
        expires: OffsetDateTime::now_utc() - time::Duration::SECOND,
        attribution: None,
    };
    site.publish(VISITOR, late).await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    let dead = nats.dead_letters().await?;
    assert_eq!(
        running::header(&dead[0], "Dead-Letter-Error"),
        "the sign-up expired before its mail could be sent"
    );
    assert_eq!(inbox.mails().len(), 0);
    Ok(())
}
