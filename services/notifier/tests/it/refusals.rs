//! Mail servers that refuse, defer, hang or disconnect.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use futures_util::future::try_join_all;
use site_broker::RetryPolicy;
use site_events::Channel;
use testkit::{
    MailFault, MailServer, Nats, S3, ScriptedReply, eventually,
    mail_server::{Behaviour, Login},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::running::{
    NEVER, RECRUITERS, Running, SALES, SOON, Site, accepted, application, application_with, header, person,
    settings, taking_at,
};

const GOOD_PASSWORD: &str = "a good password";
const WELL_WITHIN_THE_HOUR: Duration = Duration::from_secs(5);

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a test is told in one piece")]
async fn a_refused_recipient_is_a_dead_letter_at_once_and_holds_up_nobody() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| match to {
        "gone@example.org" => {
            ScriptedReply::ToRecipient("550 5.1.1 <gone@example.org>: gone is no user here")
        }
        "crowded@example.org" => ScriptedReply::ToContent("552 5.2.2 Mailbox full"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let before = OffsetDateTime::now_utc();
    site.contact("gone@example.org").await?;
    site.request_newsletter("crowded@example.org").await?;
    site.contact("zoe@example.org").await?;

    accepted(&server, "zoe@example.org", 1).await?;
    accepted(&server, SALES, 2).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;

    let events = nats.events().await?;
    let mut dead_letters = nats.dead_letters().await?;
    dead_letters.sort_by_key(|letter| letter.subject.to_string());
    assert_eq!(dead_letters.len(), 2);
    for (letter, email, channel, event, reason) in [
        (
            &dead_letters[0],
            "gone@example.org",
            Channel::ContactAcknowledgement,
            &events[0],
            "(550): 5.1.1 [address] [address] is no user here",
        ),
        (
            &dead_letters[1],
            "crowded@example.org",
            Channel::NewsletterConfirmation,
            &events[1],
            "(552): 5.2.2 Mailbox full",
        ),
    ] {
        let subject = format!("dead.{}.{}", channel.name(), person(email)?);
        assert_eq!(letter.subject.as_str(), subject);
        let kept: serde_json::Value = serde_json::from_slice(&letter.payload)?;
        assert_eq!(&kept, event, "the event is unchanged");
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
async fn what_a_server_could_not_take_at_first_is_delivered_once() -> anyhow::Result<()> {
    let visitors = [
        "greylisted@example.org",
        "busy@example.org",
        "cut@example.org",
        "lucky@example.org",
    ];
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, attempt| match (to, attempt) {
        ("greylisted@example.org", 1) => ScriptedReply::ToRecipient("450 4.2.0 Greylisted, come back later"),
        ("busy@example.org", 1) => ScriptedReply::ToContent("451 4.3.0 Try again"),
        ("cut@example.org", 1) => ScriptedReply::HangUp,
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    for visitor in visitors {
        site.contact(visitor).await?;
    }

    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    for visitor in visitors {
        let attempts = if visitor == "lucky@example.org" { 1 } else { 2 };
        assert_eq!(server.attempts(visitor), attempts, "{visitor}");
        assert_eq!(server.accepted(visitor).len(), 1, "{visitor}");
    }
    assert_eq!(
        server.accepted(SALES).len(),
        visitors.len(),
        "sales' mails repeat with nobody's"
    );
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_server_that_hangs_on_some_mails_holds_up_no_others() -> anyhow::Result<()> {
    let stuck = ["one", "two", "three", "four"].map(|name| format!("{name}@stuck.example"));
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, attempt| {
        if to.ends_with("@stuck.example") && attempt == 1 {
            ScriptedReply::Hold
        } else {
            ScriptedReply::Take
        }
    })
    .await?;
    let site = Site::on(&nats).await?;
    let patience = ["--smtp-answer-seconds=8".to_owned()];
    let _notifier = Running::start(&nats, server.port, &patience).await?;
    for visitor in &stuck {
        site.contact(visitor).await?;
    }
    eventually("all four hang", SOON, async || {
        (server.counts().held == stuck.len()).then_some(())
    })
    .await?;

    site.request_newsletter("asha@example.org").await?;
    accepted(&server, "asha@example.org", 1).await?;
    accepted(&server, SALES, stuck.len()).await?;
    assert_eq!(
        server.counts().held,
        stuck.len(),
        "the others waited for the hanging ones"
    );

    // After the timeout the four are retried.
    site.contact("zoe@example.org").await?;
    accepted(&server, "zoe@example.org", 1).await?;
    for visitor in &stuck {
        accepted(&server, visitor, 1).await?;
    }
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    for visitor in &stuck {
        assert_eq!((server.attempts(visitor), server.accepted(visitor).len()), (2, 1));
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn refused_hanging_and_cut_mails_hold_up_no_others_and_arrive_once_it_is_mended() -> anyhow::Result<()>
{
    const FAULTY: [&str; 3] = ["refused@example.org", "stuck@example.org", "cut@example.org"];
    /// Long enough for the others to arrive.
    const PAUSE: Duration = Duration::from_secs(10);
    let mended = Arc::new(AtomicBool::new(false));
    let nats = Nats::start().await?;
    let is_mended = mended.clone();
    let server = MailServer::start(move |to, _| match to {
        "stuck@example.org" => ScriptedReply::Hold,
        _ if is_mended.load(Ordering::Relaxed) => ScriptedReply::Take,
        "refused@example.org" => ScriptedReply::ToRecipient("450 4.2.1 Not now"),
        "cut@example.org" => ScriptedReply::HangUp,
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start_retrying_after(PAUSE, &nats, server.port, &[]).await?;
    for visitor in FAULTY {
        site.contact(visitor).await?;
    }
    for visitor in FAULTY {
        eventually(&format!("{visitor} is tried"), SOON, async || {
            (server.attempts(visitor) == 1).then_some(())
        })
        .await?;
    }

    site.contact("zoe@example.org").await?;
    site.request_newsletter("asha@example.org").await?;
    accepted(&server, "zoe@example.org", 1).await?;
    accepted(&server, "asha@example.org", 1).await?;
    accepted(&server, SALES, FAULTY.len() + 1).await?;
    for visitor in FAULTY {
        assert_eq!(server.attempts(visitor), 1, "the others waited for {visitor}");
        assert!(
            server.accepted(visitor).is_empty(),
            "{visitor} is not faulty any more"
        );
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
async fn a_server_that_hangs_after_a_refusal_has_refused() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::RefuseAndHang("550 5.1.1 No such user")).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    site.request_newsletter("gone@example.org").await?;
    // A silent server times out after 30 s.
    let before_that = Duration::from_secs(25);
    site.until_acked(Channel::NewsletterConfirmation, before_that)
        .await?;
    assert_eq!(nats.dead_letters().await?.len(), 1);
    assert_eq!(server.attempts("gone@example.org"), 1);
    Ok(())
}

#[tokio::test]
async fn one_connection_carries_many_mails() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    for number in 0..20 {
        site.request_newsletter(&format!("visitor-{number}@example.org"))
            .await?;
    }
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    assert!(
        server.counts().connections <= 4,
        "{} connections",
        server.counts().connections
    );
    Ok(())
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_a_dead_letter_whose_reason_repeats_nothing() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let person = person("zoe@example.org")?;
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
    let subject = format!("site.newsletter.requested.{person}");
    site.publish_raw(&subject, event.to_string()).await?;
    site.request_newsletter("asha@example.org").await?;

    accepted(&server, "asha@example.org", 1).await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    let dead_letters = nats.dead_letters().await?;
    let [letter] = &dead_letters[..] else {
        anyhow::bail!("one dead letter, not {}", dead_letters.len());
    };
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&letter.payload)?,
        event
    );
    let reason = header(letter, "Dead-Letter-Error");
    assert!(reason.starts_with("the event cannot be read"), "{reason}");
    assert!(!reason.contains("example.org"), "{reason}");
    Ok(())
}

#[tokio::test]
async fn a_mail_server_that_was_restarted_costs_no_mail_an_attempt() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let port = server.port;
    let site = Site::on(&nats).await?;
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

#[tokio::test]
async fn without_the_encryption_that_is_set_nothing_is_said_and_nothing_is_lost() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let secure = [
        "--smtp-tls=starttls".to_owned(),
        "--smtp-user=notifier".to_owned(),
        "--smtp-password=a password".to_owned(),
    ];
    let _notifier = Running::start(&nats, server.port, &secure).await?;
    site.request_newsletter("zoe@example.org").await?;
    eventually("it tried", SOON, async || {
        (server.counts().connections >= 1).then_some(())
    })
    .await?;
    tokio::time::sleep(WELL_WITHIN_THE_HOUR).await;
    assert_eq!(server.counts().logins, 0, "the password was said in the clear");
    assert_eq!(server.attempts("zoe@example.org"), 0);
    assert_eq!(site.open(Channel::NewsletterConfirmation).await?, 1);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_refused_login_is_asked_once_an_hour_and_a_new_password_lets_all_mails_go() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let behaviour = Behaviour {
        login: Some(Login {
            user: "notifier".to_owned(),
            password: GOOD_PASSWORD,
            mechanism: "PLAIN",
        }),
        ..Behaviour::default()
    };
    let server = MailServer::start_with(behaviour, 0, |_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let login = |password: &str| {
        [
            "--smtp-user=notifier".to_owned(),
            format!("--smtp-password={password}"),
        ]
    };
    let mut notifier = Running::start(&nats, server.port, &login("a stale password")).await?;
    for visitor in ["zoe@example.org", "asha@example.org"] {
        site.request_newsletter(visitor).await?;
    }
    eventually("it tried", SOON, async || {
        (server.counts().logins >= 1).then_some(())
    })
    .await?;
    tokio::time::sleep(WELL_WITHIN_THE_HOUR).await;
    // Both may have been in flight at once.
    assert!(server.counts().logins <= 2, "{} logins", server.counts().logins);
    assert_eq!(site.open(Channel::NewsletterConfirmation).await?, 2);
    assert!(nats.dead_letters().await?.is_empty());
    notifier.tell_to_stop();
    notifier.stopped().await?;

    let _notifier = Running::start(&nats, server.port, &login(GOOD_PASSWORD)).await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await
}

#[tokio::test]
async fn more_than_a_thousand_that_wait_for_their_next_attempt_hold_up_nobody() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| match to {
        "zoe@example.org" => ScriptedReply::Take,
        _ => ScriptedReply::ToRecipient("451 4.7.1 Greylisted, come back later"),
    })
    .await?;
    let site = Site::on(&nats).await?;
    let visitors: Vec<String> = (0..1_100)
        .map(|number| format!("x{number}@example.org"))
        .collect();
    let (last, others) = visitors.split_last().context("nobody")?;
    try_join_all(others.iter().map(|visitor| site.request_newsletter(visitor))).await?;
    site.request_newsletter(last).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, server.port, &[]).await?;
    site.request_newsletter("zoe@example.org").await?;
    let all_tried = Duration::from_secs(180);
    eventually("the mail behind all of them", all_tried, async || {
        (server.accepted("zoe@example.org").len() == 1).then_some(())
    })
    .await?;
    assert_eq!(server.attempts(last), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn of_what_is_erased_while_it_is_under_way_nothing_is_kept() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let (refuse, told_to_refuse) = std::sync::mpsc::channel::<()>();
    let told_to_refuse = Mutex::new(told_to_refuse);
    let server = MailServer::start(move |_, _| {
        let waiting = told_to_refuse.lock().map(|told| told.recv_timeout(SOON));
        match waiting {
            Ok(Ok(())) => ScriptedReply::ToRecipient("550 5.1.1 No such user here"),
            _ => ScriptedReply::Take,
        }
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    site.request_newsletter("gone@example.org").await?;
    eventually("the mail is under way", SOON, async || {
        (server.attempts("gone@example.org") == 1).then_some(())
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
async fn a_refusal_of_our_own_address_is_for_us_to_mend_and_costs_no_subscriber() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let behaviour = Behaviour {
        to_sender: Some("550 Requested action not taken: mailbox unavailable"),
        ..Behaviour::default()
    };
    let server = MailServer::start_with(behaviour, 0, |_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let mut notifier = Running::start(&nats, server.port, &[]).await?;
    site.request_newsletter("zoe@example.org").await?;
    eventually("it tried", SOON, async || {
        (server.counts().begun >= 1).then_some(())
    })
    .await?;
    tokio::time::sleep(WELL_WITHIN_THE_HOUR).await;
    assert_eq!(server.counts().begun, 1, "one probe an hour");
    assert_eq!(nats.dead_letters().await?.len(), 0);
    assert_eq!(nats.events().await?.len(), 1, "no bounce is told of");
    // A stop naks its deliveries. Otherwise they would come back only after the ack wait.
    notifier.tell_to_stop();
    notifier.stopped().await?;

    let mended = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _notifier = Running::start(&nats, mended.port, &[]).await?;
    accepted(&mended, "zoe@example.org", 1).await
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a test is told in one piece")]
async fn what_is_refused_for_a_reason_of_ours_is_held_and_arrives_after_a_restart() -> anyhow::Result<()> {
    // Every mail is held for longer.
    const GIVEN_UP_AFTER: Duration = Duration::from_secs(1);
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
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
    for (number, refusal) in [
        ScriptedReply::ToRecipient("550 5.4.5 Daily user sending limit exceeded."),
        ScriptedReply::ToRecipient("554 5.7.1 <visitor>: Relay access denied"),
        ScriptedReply::ToRecipient("504 5.5.2 <box>: Helo command rejected: need fully-qualified hostname"),
        ScriptedReply::ToContent("554 5.2.252 SendAsDenied; not allowed to send as"),
        ScriptedReply::ToRecipient("454 4.7.1 <visitor>: Relay access denied"),
    ]
    .into_iter()
    .enumerate()
    {
        server.fault(MailFault::Each(refusal));
        let visitor = format!("visitor-{number}@domain-{number}.example");
        site.contact(&visitor).await?;
        site.request_newsletter(&visitor).await?;
        site.publish(&visitor, application(&visitor)?).await?;
        eventually("it is refused", SOON, async || {
            (server.attempts(&visitor) + server.attempts(SALES) + server.attempts(RECRUITERS) > number)
                .then_some(())
        })
        .await?;
        tokio::time::sleep(3 * GIVEN_UP_AFTER).await;
        for channel in channels {
            assert_eq!(site.open(channel).await?, 1, "{refusal:?}: {}", channel.name());
        }
        server.fault(MailFault::None);
        // As after a changed setting; otherwise it probes once an hour.
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
async fn a_relay_that_takes_only_mails_to_its_own_domain_holds_up_none_of_them_and_no_other_is_given_up()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| match to {
        SALES => ScriptedReply::Take,
        _ => ScriptedReply::ToRecipient("554 5.7.1 Relay access denied"),
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
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
async fn a_server_is_told_the_domain_of_the_sender_or_what_is_set() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let site = Site::on(&nats).await?;
    for (set, told) in [
        (None, "oculant.example"),
        (Some("--smtp-helo=mail.oculant.example"), "mail.oculant.example"),
    ] {
        let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
        let set: Vec<String> = set.into_iter().map(str::to_owned).collect();
        let _notifier = Running::start(&nats, server.port, &set).await?;
        site.request_newsletter("zoe@example.org").await?;
        accepted(&server, "zoe@example.org", 1).await?;
        assert!(
            server.hellos().iter().all(|hello| hello == told),
            "{:?}",
            server.hellos()
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_application_whose_attachment_is_refused_arrives_with_the_link() -> anyhow::Result<()> {
    let (nats, s3) = tokio::try_join!(Nats::start(), S3::start())?;
    // Odd attempts have the attachment, even ones do not.
    let server = MailServer::start(|to, attempt| match (to, attempt) {
        (RECRUITERS, 1) => ScriptedReply::ToContent("552 5.3.4 Message size exceeds fixed limit"),
        (RECRUITERS, 3) => ScriptedReply::ToContent(
            "552-5.7.0 This message was blocked because its content presents a potential\r\n552 5.7.0 security issue.",
        ),
        (RECRUITERS, 5) => ScriptedReply::ToContent("554 Transaction failed"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &s3.flags()).await?;
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
async fn a_server_that_thinks_long_about_a_whole_message_gets_it_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::TakeAfter(Duration::from_secs(2))).await?;
    let site = Site::on(&nats).await?;
    let patience = ["--smtp-timeout-seconds=1".to_owned()];
    let _notifier = Running::start(&nats, server.port, &patience).await?;
    site.request_newsletter("zoe@example.org").await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    assert_eq!(server.accepted("zoe@example.org").len(), 1);
    Ok(())
}
