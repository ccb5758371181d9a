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
    event::{CareersApplied, NewsletterConfirmed, NewsletterRequested, NewsletterUnsubscribed},
};
use testkit::{MailServer, Nats, S3, ScriptedReply, User, eventually};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{
    EmailAddress,
    token::{Purpose, TokenKey},
};

use crate::running::{
    self, HURRY, RECRUITERS, REQUEST, Running, SALES, SOON, Site, TOKEN_KEY, application, application_with,
    message, person, settings,
};

const VISITOR: &str = "zoe@example.org";

struct Scene {
    nats: Nats,
    inbox: MailServer,
    site: Site,
    notifier: Running,
}

async fn scene(more: &[String]) -> anyhow::Result<Scene> {
    let (nats, inbox) = tokio::try_join!(Nats::start(), MailServer::start(|_, _| ScriptedReply::Take))?;
    Ok(Scene {
        notifier: Running::start(&nats, inbox.port, more).await?,
        site: Site::on(&nats).await?,
        nats,
        inbox,
    })
}

impl Scene {
    async fn mail(&self, address: &str) -> anyhow::Result<Value> {
        let mails = self.inbox.mails_to(address, 1, SOON).await?;
        let [mail] = &mails[..] else {
            anyhow::bail!("one mail to {address}, not {}", mails.len());
        };
        Ok(mail.clone())
    }
}

fn header<'a>(mail: &'a Value, name: &str) -> Option<&'a str> {
    mail["headers"][name].as_str()
}

fn token(text: &str) -> anyhow::Result<&str> {
    let (_, rest) = text.split_once("token=").context("no link with a token")?;
    let end = rest.find(|c: char| c.is_whitespace() || c == '>' || c == '"');
    Ok(&rest[..end.unwrap_or(rest.len())])
}

fn ensure_token_is_for(token: &str, purpose: Purpose) -> anyhow::Result<()> {
    let key = TokenKey::new(TOKEN_KEY)?;
    let holder = key.verify(token, purpose, OffsetDateTime::now_utc())?;
    anyhow::ensure!(holder == person(VISITOR)?, "the token is somebody else's");
    Ok(())
}

fn ensure_it_tells_its_event(mail: &Value, event: Uuid, channel: Channel) {
    let id = format!("<{event}.{}@oculant.example>", channel.name());
    assert_eq!(header(mail, "message-id"), Some(id.as_str()));
    assert_eq!(header(mail, "x-event-id"), Some(event.to_string().as_str()));
    assert_eq!(header(mail, "x-request-id"), Some(REQUEST));
    assert_eq!(mail["from"][0]["address"], "hello@oculant.example");
    let both = ["text", "html"].map(|part| mail[part].as_str().is_some_and(|part| !part.is_empty()));
    assert_eq!(both, [true, true], "text and HTML");
}

#[tokio::test]
async fn a_contact_message_reaches_sales_and_is_acknowledged() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    let event = scene.site.publish(VISITOR, message(VISITOR)?).await?;

    let lead = scene.mail(SALES).await?;
    ensure_it_tells_its_event(&lead, event, Channel::SalesLead);
    assert_eq!(lead["replyTo"][0]["address"], VISITOR);
    assert_eq!(lead["replyTo"][0]["name"], "Zoë Müller");
    assert_eq!(header(&lead, "auto-submitted"), Some("auto-generated"));
    let text = lead["text"].as_str().unwrap_or_default();
    assert!(text.contains("\n> Two cameras,\n> one question.\n"), "{text}");

    let acknowledgement = scene.mail(VISITOR).await?;
    ensure_it_tells_its_event(&acknowledgement, event, Channel::ContactAcknowledgement);
    assert_eq!(acknowledgement["to"][0]["name"], "Zoë Müller");
    assert_eq!(acknowledgement["replyTo"][0]["address"], "hello@oculant.example");
    assert_eq!(header(&acknowledgement, "auto-submitted"), Some("auto-generated"));
    assert!(!acknowledgement.to_string().contains("Two cameras"));
    Ok(())
}

#[tokio::test]
async fn a_newsletter_sign_up_is_asked_to_confirm_and_nothing_else() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    let event = scene.site.request_newsletter(VISITOR).await?;

    let mail = scene.mail(VISITOR).await?;
    ensure_it_tells_its_event(&mail, event, Channel::NewsletterConfirmation);
    assert_eq!(header(&mail, "auto-submitted"), Some("auto-generated"));
    assert_eq!(
        header(&mail, "list-unsubscribe"),
        None,
        "they are no subscriber yet"
    );
    let text = mail["text"].as_str().unwrap_or_default();
    assert!(
        text.contains("https://oculant.example/?newsletter=confirm&token="),
        "{text}"
    );
    ensure_token_is_for(token(text)?, Purpose::Confirm)
}

#[tokio::test]
async fn whoever_leaves_the_newsletter_gets_one_last_word() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    let email = EmailAddress::parse(VISITOR)?;
    let event = scene
        .site
        .publish(VISITOR, NewsletterUnsubscribed { email })
        .await?;
    let mail = scene.mail(VISITOR).await?;
    ensure_it_tells_its_event(&mail, event, Channel::NewsletterGoodbye);
    assert_eq!(header(&mail, "auto-submitted"), Some("auto-generated"));
    assert_eq!(
        header(&mail, "list-unsubscribe"),
        None,
        "there is nothing left to leave"
    );
    Ok(())
}

#[tokio::test]
async fn a_second_message_lands_in_the_same_conversation() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    for (email, mails) in [(VISITOR, 1), (VISITOR, 2), ("other@example.org", 3)] {
        scene.site.contact(email).await?;
        scene.inbox.mails_to(SALES, mails, SOON).await?;
    }
    let leads = scene.inbox.mails_to(SALES, 3, SOON).await?;
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

#[tokio::test]
async fn a_subscriber_is_welcomed_with_a_way_out_in_one_click() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    let email = EmailAddress::parse(VISITOR)?;
    let event = scene.site.publish(VISITOR, NewsletterConfirmed { email }).await?;

    let mail = scene.mail(VISITOR).await?;
    ensure_it_tells_its_event(&mail, event, Channel::NewsletterWelcome);
    // As sent, because the inbox splits list headers.
    let source = scene.inbox.source(&mail)?.replace("\r\n ", " ");
    let out = source
        .lines()
        .find_map(|line| line.strip_prefix("List-Unsubscribe: "));
    let out = out.context("no List-Unsubscribe")?;
    assert!(
        out.starts_with("<https://oculant.example/api/newsletter/unsubscribe?token="),
        "{out}"
    );
    ensure_token_is_for(token(out)?, Purpose::Unsubscribe)?;
    assert!(source.contains("\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"));
    let text = mail["text"].as_str().unwrap_or_default();
    ensure_token_is_for(token(text)?, Purpose::Unsubscribe)
}

#[tokio::test]
async fn an_application_reaches_the_recruiters_with_a_link_to_its_resume() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let scene = scene(&s3.flags()).await?;
    let applied = applied_with_resume(&s3, "Résumé Zoë.pdf").await?;
    let event = scene.site.publish(VISITOR, applied).await?;

    let mail = scene.mail(RECRUITERS).await?;
    ensure_it_tells_its_event(&mail, event, Channel::RecruiterApplication);
    assert_eq!(mail["replyTo"][0]["address"], VISITOR);
    assert_eq!(header(&mail, "auto-submitted"), Some("auto-generated"));
    let text = mail["text"].as_str().unwrap_or_default();
    for field in [
        "Zoë Müller",
        VISITOR,
        "+91 98400 00000",
        "Backend Intern",
        "not given",
        "I would like to.",
    ] {
        assert!(text.contains(field), "no \"{field}\" in:\n{text}");
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
    let source = scene.inbox.source(&mail)?;
    for plain in [" name=\"R_sum__Zo_.pdf\"", " filename=\"R_sum__Zo_.pdf\""] {
        assert!(
            source.contains(plain),
            "no \"{plain}\" for old mail programs in:\n{source}"
        );
    }
    for said in ["no earlier application", "It is attached, too.", "not scanned"] {
        assert!(text.contains(said), "no \"{said}\" in:\n{text}");
    }
    Ok(())
}

#[tokio::test]
async fn an_applicant_hears_which_position_they_applied_for() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let scene = scene(&s3.flags()).await?;
    let applied = applied_with_resume(&s3, "Résumé Zoë.pdf").await?;
    let event = scene.site.publish(VISITOR, applied).await?;

    let acknowledgement = scene.mail(VISITOR).await?;
    ensure_it_tells_its_event(&acknowledgement, event, Channel::ApplicationAcknowledgement);
    assert_eq!(
        acknowledgement["replyTo"][0]["address"],
        "careers@oculant.example"
    );
    assert_eq!(header(&acknowledgement, "auto-submitted"), Some("auto-generated"));
    assert_eq!(
        acknowledgement["subject"],
        "We have your application: Backend Intern"
    );
    let text = acknowledgement["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("Hello Zoë Müller,"), "{text}");
    for typed in ["I would like to.", "Résumé Zoë"] {
        assert!(
            !acknowledgement.to_string().contains(typed),
            "it repeats \"{typed}\""
        );
    }
    Ok(())
}

const RESUME: &[u8] = b"%PDF-1.7 a life in one page";

pub async fn applied_with_resume(s3: &S3, file_name: &str) -> anyhow::Result<CareersApplied> {
    application_with(s3, file_name, RESUME).await
}

#[tokio::test]
async fn a_resume_larger_than_the_setting_is_a_link_only() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let flags = [s3.flags(), vec!["--resume-attachment-kb=0".to_owned()]].concat();
    let scene = scene(&flags).await?;
    let applied = applied_with_resume(&s3, "Résumé Zoë.pdf").await?;
    scene.site.publish(VISITOR, applied).await?;
    let mail = scene.mail(RECRUITERS).await?;
    assert_eq!(
        mail["attachments"].as_array().map(Vec::len).unwrap_or_default(),
        0
    );
    assert!(mail["text"].as_str().is_some_and(|text| text.contains(&s3.url())));
    Ok(())
}

#[tokio::test]
async fn recruiters_hear_of_an_application_while_the_store_is_away() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let applied = applied_with_resume(&s3, "Résumé Zoë.pdf").await?;
    let flags = s3.flags();
    drop(s3);
    let scene = scene(&flags).await?;
    scene.site.publish(VISITOR, applied).await?;
    let mail = scene.mail(RECRUITERS).await?;
    assert_eq!(
        mail["attachments"].as_array().map(Vec::len).unwrap_or_default(),
        0
    );
    assert!(
        mail["text"]
            .as_str()
            .is_some_and(|text| text.contains("Résumé Zoë.pdf"))
    );
    Ok(())
}

#[tokio::test]
async fn recruiters_learn_what_the_same_person_applied_for_before() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    scene.site.publish(VISITOR, application(VISITOR)?).await?;
    scene
        .site
        .until_acked(Channel::RecruiterApplication, SOON)
        .await?;
    let again = CareersApplied {
        position: "Marketing Intern".to_owned(),
        ..application(VISITOR)?
    };
    scene.site.publish(VISITOR, again).await?;
    let said = async |subject: &str| -> anyhow::Result<String> {
        let mail = scene.inbox.mail(RECRUITERS, subject, SOON).await?;
        Ok(mail["text"].as_str().unwrap_or_default().to_owned())
    };
    let references = async |subject: &str| -> anyhow::Result<Option<String>> {
        let mail = scene.inbox.mail(RECRUITERS, subject, SOON).await?;
        Ok(header(&mail, "references").map(str::to_owned))
    };
    assert!(references("Backend Intern").await?.is_some());
    assert_eq!(
        references("Backend Intern").await?,
        references("Marketing Intern").await?
    );
    let first = said("Backend Intern").await?;
    assert!(first.contains("Before:      no earlier application"), "{first}");
    let second = said("Marketing Intern").await?;
    assert!(second.contains("Before:      Backend Intern ("), "{second}");
    Ok(())
}

#[tokio::test]
async fn the_operator_is_told_of_dead_letters_once_and_without_anybodys_data() -> anyhow::Result<()> {
    const OPERATOR: &str = "operator@oculant.example";
    let flags = [format!("--operator-to={OPERATOR}")];
    let mut scene = scene(&flags).await?;
    let subject = format!("site.contact.received.{}", person(VISITOR)?);
    let unreadable = format!(r#"{{ "id": "7", "data": "{VISITOR}" }}"#);
    scene.site.publish_raw(&subject, unreadable).await?;
    for channel in [Channel::SalesLead, Channel::ContactAcknowledgement] {
        scene.site.until_acked(channel, SOON).await?;
    }
    // Each notifier sends a digest when it starts, then hourly.
    for _ in 0..2 {
        scene.notifier.tell_to_stop();
        scene.notifier.stopped().await?;
        scene.notifier = Running::start(&scene.nats, scene.inbox.port, &flags).await?;
        scene.mail(OPERATOR).await?;
    }
    let mail = scene.mail(OPERATOR).await?;
    assert_eq!(mail["subject"], "2 events could not be delivered");
    assert_eq!(
        header(&mail, "message-id"),
        Some("<dead-letters.1-2@oculant.example>")
    );
    let text = mail["text"].as_str().unwrap_or_default();
    for said in [
        "contact-received-sales (1)",
        "contact-received-acknowledgement (1)",
        "not an event",
    ] {
        assert!(text.contains(said), "no \"{said}\" in:\n{text}");
    }
    assert!(!mail.to_string().contains(VISITOR));
    Ok(())
}

async fn give_up(nats: &Nats, site: &Site, count: usize) -> anyhow::Result<()> {
    let subject = format!("site.newsletter.confirmed.{}", person(VISITOR)?);
    let unreadable = format!("not an event {}", Uuid::new_v4());
    site.publish_raw(&subject, unreadable).await?;
    eventually("a dead letter", SOON, async || {
        let letters = nats.dead_letters().await.ok()?;
        (letters.len() == count).then_some(())
    })
    .await
}

#[tokio::test]
async fn a_dead_letter_that_was_dropped_after_its_mail_failed_is_told_no_more_and_others_are()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = refusing.clone();
    let server = MailServer::start(move |_, _| match refuses.load(Ordering::Relaxed) {
        true => ScriptedReply::ToContent("451 4.3.0 Try again later"),
        false => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let notifier = Running::start(&nats, server.port, &[]).await?;
    for number in 1..=3 {
        give_up(&nats, &site, number).await?;
    }
    drop(notifier);

    let mut settings = settings(&nats, server.port, &[])?;
    settings.digest_every = HURRY;
    let _notifier = Running::start_with(settings).await?;
    eventually("its mail fails twice", SOON, async || {
        (server.attempts(OPERATOR) >= 2).then_some(())
    })
    .await?;
    // As if the operator dropped or replayed it.
    let context = async_nats::jetstream::new(nats.client(User::Operator).await?);
    let dead_letters = context.get_stream(site_events::DEAD_LETTERS_STREAM).await?;
    dead_letters.delete_message(2).await?;
    refusing.store(false, Ordering::Relaxed);
    let mails = async |count: usize| {
        eventually("the operator is told", SOON, async || {
            let mails = server.accepted(OPERATOR);
            (mails.len() >= count).then_some(mails)
        })
        .await
    };
    let told = mails(1).await?.concat();
    assert!(told.contains("<dead-letters.1-3@oculant.example>"), "{told}");
    assert!(told.contains("2 events could not be delivered"), "{told}");

    // The next digest repeats nothing.
    give_up(&nats, &site, 3).await?;
    let told = mails(2).await?;
    assert_eq!(told.len(), 2);
    assert!(
        told[1].contains("<dead-letters.4-4@oculant.example>"),
        "{}",
        told[1]
    );
    Ok(())
}

const OPERATOR: &str = "admin@oculant.example";

async fn telling(nats: &Nats, server: &MailServer) -> anyhow::Result<Running> {
    let mut settings = settings(nats, server.port, &[])?;
    settings.digest_every = HURRY;
    Running::start_with(settings).await
}

#[tokio::test]
async fn a_mail_to_the_operator_is_sent_once_however_long_it_takes() -> anyhow::Result<()> {
    const ACK_WAIT: Duration = Duration::from_secs(2);
    let nats = Nats::start().await?;
    let server = running::holding(OPERATOR).await?;
    let site = Site::on(&nats).await?;
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
async fn a_broker_that_is_killed_before_it_gives_the_dead_letters_is_asked_again() -> anyhow::Result<()> {
    let mut nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _notifier = telling(&nats, &server).await?;
    nats.servers[0].freeze().await?;
    // Meanwhile the broker gets a request and never answers it.
    tokio::time::sleep(3 * HURRY).await;
    nats.servers[0].kill().await?;
    nats.resume_from_disk().await?;
    let site = Site::on(&nats).await?;
    give_up(&nats, &site, 1).await?;
    eventually("the operator is told", SOON, async || {
        (!server.accepted(OPERATOR).is_empty()).then_some(())
    })
    .await
}

#[tokio::test]
async fn a_link_that_has_expired_is_not_mailed() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    let late = NewsletterRequested {
        email: EmailAddress::parse(VISITOR)?,
        expires: OffsetDateTime::now_utc() - time::Duration::SECOND,
        attribution: None,
    };
    scene.site.publish(VISITOR, late).await?;
    scene
        .site
        .until_acked(Channel::NewsletterConfirmation, SOON)
        .await?;
    let dead = scene.nats.dead_letters().await?;
    assert_eq!(
        running::header(&dead[0], "Dead-Letter-Error"),
        "the sign-up expired before its mail could be sent"
    );
    assert_eq!(scene.inbox.mails().len(), 0);
    Ok(())
}

#[tokio::test]
async fn an_event_that_comes_again_is_mailed_once() -> anyhow::Result<()> {
    let scene = scene(&[]).await?;
    let event = scene.site.contact(VISITOR).await?;
    let channels = [Channel::SalesLead, Channel::ContactAcknowledgement];
    for channel in channels {
        scene.site.until_acked(channel, SOON).await?;
        let delivered = scene.site.delivered_at(event, channel).await?;
        assert!(delivered.is_some(), "{channel:?} left no record");
    }

    scene.site.publish_again(&scene.nats, event).await?;
    assert_eq!(scene.nats.events().await?.len(), 2, "the broker took it for new");
    for channel in channels {
        scene.site.until_acked(channel, SOON).await?;
    }
    // The inbox lists a mail with a delay, so wait for a later one.
    scene.site.contact("later@example.org").await?;
    scene.inbox.mails_to("later@example.org", 1, SOON).await?;
    scene.inbox.mails_to(SALES, 2, SOON).await?;
    assert_eq!(scene.inbox.mails().len(), 4);
    Ok(())
}
