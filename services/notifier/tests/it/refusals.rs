//! Mail servers that refuse, defer, hang or disconnect.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use site_broker::RetryPolicy;
use site_events::Channel;
use testkit::{
    MailFault, MailServer, Nats, S3, ScriptedReply,
    mail_server::{Behaviour, Login},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::running::{
    HURRY, NEVER, RECRUITERS, Running, SALES, SOON, Site, accepted, application, application_with, header,
    parts, person, scene, settings, take, taking_at, until,
};

#[tokio::test]
async fn a_refused_mail_is_dead_lettered_and_blocks_no_others() -> anyhow::Result<()> {
    let (nats, server, site, _notifier) = scene(&[], |to, _| match to {
        "gone@example.org" => {
            ScriptedReply::ToRecipient("550 5.1.1 <gone@example.org>: gone is no user here")
        }
        "crowded@example.org" => ScriptedReply::ToContent("552 5.2.2 Mailbox full"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let before = OffsetDateTime::now_utc();
    site.contact("gone@example.org").await?;
    site.request_newsletter("crowded@example.org").await?;
    site.contact("zoe@example.org").await?;

    accepted(&server, "zoe@example.org", 1).await?;
    accepted(&server, SALES, 2).await?;
    let (answer, confirmation) = (Channel::ContactAcknowledgement, Channel::NewsletterConfirmation);
    site.until_acked(answer, SOON).await?;
    site.until_acked(confirmation, SOON).await?;

    let events = nats.events().await?;
    let mut dead_letters = nats.dead_letters().await?;
    dead_letters.sort_by_key(|letter| letter.subject.to_string());
    assert_eq!(dead_letters.len(), 2);
    let no_user = "(550): 5.1.1 [address] [address] is no user here";
    for (number, email, channel, reason) in [
        (0, "gone@example.org", answer, no_user),
        (
            1,
            "crowded@example.org",
            confirmation,
            "(552): 5.2.2 Mailbox full",
        ),
    ] {
        let letter = &dead_letters[number];
        let subject = format!("dead.{}.{}", channel.name(), person(email)?);
        assert_eq!(letter.subject.as_str(), subject);
        let kept: serde_json::Value = serde_json::from_slice(&letter.payload)?;
        assert_eq!(kept, events[number], "the event is unchanged");
        let error = header(letter, "Dead-Letter-Error");
        assert!(error.contains(reason), "{error}");
        assert_eq!(header(letter, "Dead-Letter-Attempts"), "1");
        let time = OffsetDateTime::parse(header(letter, "Dead-Letter-Time"), &Rfc3339)?;
        assert!(time >= before && time <= OffsetDateTime::now_utc(), "{time}");
        assert_eq!(server.attempts(email), 1, "a refused mail is not tried again");
    }
    Ok(())
}

#[tokio::test]
async fn hanging_mails_block_no_others() -> anyhow::Result<()> {
    let stuck = ["one", "two", "three", "four"].map(|name| format!("{name}@stuck.example"));
    let nats = Nats::start().await?;
    let server = MailServer::start(
        |to, attempt| match to.ends_with("@stuck.example") && attempt == 1 {
            true => ScriptedReply::Hold,
            false => ScriptedReply::Take,
        },
    )
    .await?;
    let site = Site::on(&nats).await?;
    let mut settings = settings(&nats, server.port, &[])?;
    settings.smtp.smtp_answer_timeout = Duration::from_secs(8);
    settings.retries.initial_backoff = HURRY;
    let _notifier = Running::start_with(settings).await?;
    for visitor in &stuck {
        site.contact(visitor).await?;
    }
    until("all four hang", || server.counts().held == stuck.len()).await?;

    site.request_newsletter("asha@example.org").await?;
    accepted(&server, "asha@example.org", 1).await?;
    accepted(&server, SALES, stuck.len()).await?;
    let held = server.counts().held;
    assert_eq!(held, stuck.len(), "the others waited for the hanging ones");

    // After the timeout, the four hanging mails are retried.
    site.contact("zoe@example.org").await?;
    accepted(&server, "zoe@example.org", 1).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    for visitor in &stuck {
        assert_eq!((server.attempts(visitor), server.accepted(visitor).len()), (2, 1));
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn faulty_mails_block_no_others_and_arrive_once() -> anyhow::Result<()> {
    const FAULTY: [&str; 4] = [
        "deferred@example.org",
        "busy@example.org",
        "stuck@example.org",
        "cut@example.org",
    ];
    /// Long enough for the other mails to arrive.
    const PAUSE: Duration = Duration::from_secs(10);
    let mended = Arc::new(AtomicBool::new(false));
    let is_mended = mended.clone();
    let (nats, server, site) = parts(move |to, _| match to {
        "stuck@example.org" => ScriptedReply::Hold,
        _ if is_mended.load(Ordering::Relaxed) => ScriptedReply::Take,
        "deferred@example.org" => ScriptedReply::ToRecipient("450 4.2.1 Not now"),
        "busy@example.org" => ScriptedReply::ToContent("451 4.2.0 Try again"),
        "cut@example.org" => ScriptedReply::HangUp,
        _ => ScriptedReply::Take,
    })
    .await?;
    let _notifier = Running::start_retrying_after(PAUSE, &nats, server.port, &[]).await?;
    for visitor in FAULTY {
        site.contact(visitor).await?;
    }
    for visitor in FAULTY {
        let what = format!("{visitor} is tried");
        until(&what, || server.attempts(visitor) == 1).await?;
    }

    site.contact("zoe@example.org").await?;
    site.request_newsletter("asha@example.org").await?;
    accepted(&server, "zoe@example.org", 1).await?;
    accepted(&server, "asha@example.org", 1).await?;
    accepted(&server, SALES, FAULTY.len() + 1).await?;
    for visitor in FAULTY {
        assert_eq!(server.attempts(visitor), 1, "the others waited for {visitor}");
        let mails = server.accepted(visitor).len();
        assert_eq!(mails, 0, "{visitor} is not faulty any more");
    }

    mended.store(true, Ordering::Relaxed);
    server.release_held();
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    for visitor in FAULTY {
        let attempts = if visitor == "stuck@example.org" { 1 } else { 2 };
        assert_eq!(server.attempts(visitor), attempts, "{visitor}");
        assert_eq!(server.accepted(visitor).len(), 1, "{visitor}");
    }
    assert_eq!(server.accepted(SALES).len(), FAULTY.len() + 1);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_mail_server_restart_costs_no_attempt() -> anyhow::Result<()> {
    let (nats, server, site) = parts(take).await?;
    let port = server.port;
    let _notifier = Running::start_retrying_after(NEVER, &nats, port, &[]).await?;
    site.contact("zoe@example.org").await?;
    accepted(&server, "zoe@example.org", 1).await?;
    accepted(&server, SALES, 1).await?;

    drop(server);
    let server = taking_at(port).await?;
    site.contact("asha@example.org").await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(server.accepted("asha@example.org").len(), 1);
    assert_eq!(server.accepted(SALES).len(), 1);
    Ok(())
}

/// The account is refused for a wrong password, then for an unknown sender.
#[tokio::test]
async fn a_refused_account_is_probed_hourly_without_losing_mails() -> anyhow::Result<()> {
    const WELL_WITHIN_THE_HOUR: Duration = Duration::from_secs(5);
    let login = Login {
        user: "notifier".to_owned(),
        password: "a good password",
        mechanism: "PLAIN",
    };
    let refused_login = Behaviour {
        login: Some(login),
        ..Behaviour::default()
    };
    let refused_sender = Behaviour {
        to_sender: Some("550 Requested action not taken: mailbox unavailable"),
        ..Behaviour::default()
    };
    let stale = ["--smtp-user=notifier", "--smtp-password=a stale password"].map(str::to_owned);
    for (behaviour, flags) in [(refused_login, &stale[..]), (refused_sender, &[])] {
        let nats = Nats::start().await?;
        let server = MailServer::start_with(behaviour, 0, take).await?;
        let site = Site::on(&nats).await?;
        let mut notifier = Running::start(&nats, server.port, flags).await?;
        for visitor in ["zoe@example.org", "asha@example.org"] {
            site.request_newsletter(visitor).await?;
        }
        let asked = || server.counts().logins + server.counts().begun;
        until("it asked", || asked() >= 1).await?;
        tokio::time::sleep(WELL_WITHIN_THE_HOUR).await;
        // Both mails may be in flight before the first refusal.
        assert!(asked() <= 2, "{flags:?}: asked {} times", asked());
        assert_eq!(site.open(Channel::NewsletterConfirmation).await?, 2, "{flags:?}");
        assert!(nats.dead_letters().await?.is_empty(), "{flags:?}");
        assert_eq!(nats.events().await?.len(), 2, "{flags:?}: no bounce is told of");
        // A stopping notifier returns its deliveries to the broker before their ack wait ends.
        notifier.tell_to_stop();
        notifier.stopped().await?;

        let mended = MailServer::start(take).await?;
        let _notifier = Running::start(&nats, mended.port, &[]).await?;
        site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_person_erased_during_a_mail_leaves_no_data() -> anyhow::Result<()> {
    let (refuse, told_to_refuse) = std::sync::mpsc::channel::<()>();
    let told_to_refuse = Mutex::new(told_to_refuse);
    let (nats, server, site, _notifier) = scene(&[], move |_, _| {
        let waiting = told_to_refuse.lock().map(|told| told.recv_timeout(SOON));
        match waiting {
            Ok(Ok(())) => ScriptedReply::ToRecipient("550 5.1.1 No such user here"),
            _ => ScriptedReply::Take,
        }
    })
    .await?;
    site.request_newsletter("gone@example.org").await?;
    until("the mail is under way", || {
        server.attempts("gone@example.org") == 1
    })
    .await?;
    site.erase(1).await?;
    refuse.send(())?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    assert_eq!(nats.dead_letters().await?.len(), 0);
    assert_eq!(nats.events().await?.len(), 0, "no bounce tells of them either");
    Ok(())
}

#[tokio::test]
async fn mails_refused_for_our_account_arrive_later() -> anyhow::Result<()> {
    // Shorter than the time for which each mail is held.
    const GIVEN_UP_AFTER: Duration = Duration::from_secs(1);
    let (nats, server, site) = parts(take).await?;
    let start = async || {
        let mut settings = settings(&nats, server.port, &[])?;
        settings.retries = RetryPolicy {
            initial_backoff: Duration::from_millis(200),
            give_up_after: GIVEN_UP_AFTER,
        };
        Running::start_with(settings).await
    };
    let mut notifier = start().await?;
    let channels = [
        Channel::SalesLead,
        Channel::ContactAcknowledgement,
        Channel::NewsletterConfirmation,
        Channel::RecruiterApplication,
        Channel::ApplicationAcknowledgement,
    ];
    let refusals = [
        ScriptedReply::ToRecipient("550 5.4.5 Daily user sending limit exceeded."),
        ScriptedReply::ToRecipient("554 5.7.1 <visitor>: Relay access denied"),
        ScriptedReply::ToRecipient("504 5.5.2 <box>: Helo command rejected: need fully-qualified hostname"),
        ScriptedReply::ToContent("554 5.2.252 SendAsDenied; not allowed to send as"),
        ScriptedReply::ToRecipient("454 4.7.1 <visitor>: Relay access denied"),
    ];
    for (number, refusal) in refusals.into_iter().enumerate() {
        server.fault(MailFault::Each(refusal));
        let visitor = format!("visitor-{number}@domain-{number}.example");
        site.contact(&visitor).await?;
        site.request_newsletter(&visitor).await?;
        site.publish(&visitor, application(&visitor)?).await?;
        until("it is refused", || server.attempts(&visitor) > 0).await?;
        tokio::time::sleep(3 * GIVEN_UP_AFTER).await;
        for channel in channels {
            assert_eq!(site.open(channel).await?, 1, "{refusal:?}: {}", channel.name());
        }
        server.fault(MailFault::None);
        // A restarted notifier probes at once, instead of within an hour.
        notifier.tell_to_stop();
        notifier.stopped().await?;
        notifier = start().await?;
        for channel in channels {
            site.until_acked(channel, SOON).await?;
        }
        assert_eq!(server.accepted(&visitor).len(), 3, "{refusal:?}");
        assert!(nats.dead_letters().await?.is_empty(), "{refusal:?}");
    }
    Ok(())
}

#[tokio::test]
async fn mails_denied_by_a_relay_are_deferred() -> anyhow::Result<()> {
    let (nats, server, site, _notifier) = scene(&[], |to, _| match to {
        SALES => ScriptedReply::Take,
        _ => ScriptedReply::ToRecipient("554 5.7.1 Relay access denied"),
    })
    .await?;
    for number in 0..5 {
        site.contact(&format!("visitor-{number}@domain-{number}.example"))
            .await?;
    }
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(server.accepted(SALES).len(), 5);
    assert_eq!(site.open(Channel::ContactAcknowledgement).await?, 5);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn helo_is_the_domain_of_the_sender() -> anyhow::Result<()> {
    let (_nats, server, site, _notifier) = scene(&[], take).await?;
    site.request_newsletter("zoe@example.org").await?;
    accepted(&server, "zoe@example.org", 1).await?;
    let hellos = server.hellos();
    assert!(
        hellos.iter().all(|hello| hello == "oculant.example"),
        "{hellos:?}"
    );
    Ok(())
}

#[tokio::test]
async fn an_application_whose_attachment_is_refused_arrives_with_the_link() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    // Odd attempts have the attachment, even attempts do not.
    let (nats, server, site, _notifier) = scene(&s3.flags(), |to, attempt| match (to, attempt) {
        (RECRUITERS, 1) => ScriptedReply::ToContent("552 5.3.4 Message size exceeds fixed limit"),
        (RECRUITERS, 3) => ScriptedReply::ToContent(
            "552-5.7.0 This message was blocked because its content presents a potential\r\n552 5.7.0 security issue.",
        ),
        (RECRUITERS, 5) => ScriptedReply::ToContent("554 Transaction failed"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let applied = application_with(&s3, "cv.pdf", b"%PDF-1.7\xff").await?;
    for count in 1..=3 {
        site.publish("zoe@example.org", applied.clone()).await?;
        accepted(&server, RECRUITERS, count).await?;
    }
    site.until_acked(Channel::RecruiterApplication, SOON).await?;
    let mails = server.accepted_mails();
    let mut mails = mails.iter().filter(|mail| mail.recipient == RECRUITERS);
    assert!(mails.all(|mail| mail.attachments.is_empty() && mail.content.contains("cv.pdf")));
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_server_that_answers_late_gets_the_mail_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::TakeAfter(Duration::from_secs(2))).await?;
    let site = Site::on(&nats).await?;
    let mut settings = settings(&nats, server.port, &[])?;
    settings.smtp.smtp_timeout = Duration::from_secs(1);
    let _notifier = Running::start_with(settings).await?;
    site.request_newsletter("zoe@example.org").await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    assert_eq!(server.accepted("zoe@example.org").len(), 1);
    Ok(())
}
