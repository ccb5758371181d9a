//! An event makes one mail, despite crashes, stalls and repeats. Only a crash between a mail and its record
//! makes two, with the same id.

use std::time::Duration;

use site_broker::RetryPolicy;
use site_events::Channel;
use testkit::{MailServer, Nats, ScriptedReply, eventually};

use crate::running::{
    Running, SALES, SOON, Site, accepted, header, held, holding, message_id, process, settings,
};

const VISITOR: &str = "zoe@example.org";
/// Short, so that deliveries of a dead notifier come back soon.
const ACK_WAIT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn killed_between_a_mail_and_its_record_it_repeats_that_mail_once() -> anyhow::Result<()> {
    let mut nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, server.port, &[], logs.path())?;
    site.contact(VISITOR).await?;
    held(&server).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;

    // Without the broker no record is written before the crash.
    nats.stop().await?;
    server.release_held();
    accepted(&server, VISITOR, 1).await?;
    notifier.kill().await?;
    nats.resume_from_disk().await?;
    let site = Site::on(&nats).await?;
    let notifier = process(&nats, server.port, &[], logs.path())?;
    accepted(&server, VISITOR, 2).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    notifier.kill().await?;

    // The next notifier finds the record.
    let event = nats.events().await?[0]["id"].to_string();
    site.publish_again(&nats, event.trim_matches('"').parse()?)
        .await?;
    let _notifier = process(&nats, server.port, &[], logs.path())?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let mails = server.accepted(VISITOR);
    let [first, second] = &mails[..] else {
        anyhow::bail!("two mails, not {}", mails.len());
    };
    assert_eq!(message_id(first)?, message_id(second)?);
    assert_eq!(
        server.accepted(SALES).len(),
        1,
        "the other channel has its record"
    );
    Ok(())
}

#[tokio::test]
async fn a_mail_that_cannot_be_noted_is_noted_once_it_can_be() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;

    site.lose_the_deliveries().await?;
    server.release_held();
    accepted(&server, VISITOR, 1).await?;
    let channel = Channel::ContactAcknowledgement;
    // Longer than a write takes to fail.
    tokio::time::sleep(3 * ACK_WAIT).await;
    assert!(!site.came_again(channel).await?, "it was given back");
    nats.provision(&[]).await?;
    site.until_acked(channel, SOON).await?;
    assert!(site.delivered_at(event, channel).await?.is_some());
    assert_eq!((server.attempts(VISITOR), server.accepted(VISITOR).len()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn an_event_that_another_notifier_delivered_meanwhile_is_not_sent_at_its_next_attempt()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|to, _| {
        if to == VISITOR {
            ScriptedReply::ToContent("451 4.3.0 Try again")
        } else {
            ScriptedReply::Take
        }
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let event = site.contact(VISITOR).await?;
    eventually("the first attempt", SOON, async || {
        (server.attempts(VISITOR) == 1).then_some(())
    })
    .await?;
    site.note_delivered(event, Channel::ContactAcknowledgement)
        .await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    assert_eq!(server.attempts(VISITOR), 1);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn what_a_dead_notifier_had_delivered_is_not_sent_when_the_broker_hands_it_out_again()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, server.port, &[], logs.path())?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;
    notifier.kill().await?;
    site.note_delivered(event, Channel::ContactAcknowledgement)
        .await?;

    let _notifier = Running::start(&nats, server.port, &[]).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    assert_eq!(server.attempts(VISITOR), 1, "it was sent again");
    Ok(())
}

#[tokio::test]
async fn a_mail_that_takes_longer_than_the_ack_wait_is_not_handed_to_the_other_notifier() -> anyhow::Result<()>
{
    let nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let _one = Running::start(&nats, server.port, &[]).await?;
    let _other = Running::start(&nats, server.port, &[]).await?;
    site.contact(VISITOR).await?;
    held(&server).await?;
    tokio::time::sleep(2 * ACK_WAIT).await;
    server.release_held();
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    assert_eq!((server.attempts(VISITOR), server.accepted(VISITOR).len()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn mails_that_cannot_be_noted_for_longer_than_the_ack_wait_are_sent_by_no_other_notifier()
-> anyhow::Result<()> {
    // Several, because the broker chooses who gets a redelivery.
    let visitors: Vec<String> = (0..6).map(|n| format!("visitor-{n}@example.org")).collect();
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    site.refuse_delivery_records().await?;
    let _one = Running::start(&nats, server.port, &[]).await?;
    let _other = Running::start(&nats, server.port, &[]).await?;
    for visitor in &visitors {
        site.contact(visitor).await?;
    }
    eventually("every mail is accepted", SOON, async || {
        let leads = server.accepted(SALES).len();
        (leads >= visitors.len() && visitors.iter().all(|to| server.attempts(to) > 0)).then_some(())
    })
    .await?;
    tokio::time::sleep(5 * ACK_WAIT).await;
    assert_eq!(site.open(Channel::ContactAcknowledgement).await?, 6);

    site.take_delivery_records().await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    for visitor in &visitors {
        assert_eq!(server.accepted(visitor).len(), 1, "{visitor}");
    }
    assert_eq!(server.accepted(SALES).len(), visitors.len());
    Ok(())
}

#[tokio::test]
async fn an_event_that_comes_again_while_its_mail_is_under_way_is_not_sent_beside_it() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;
    // Shorter than the running notifier assumes, so its progress ack is late.
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let channel = Channel::ContactAcknowledgement;
    eventually("the event comes again", SOON, async || {
        let again = site.came_again(channel).await.ok()? || server.attempts(VISITOR) > 1;
        again.then_some(())
    })
    .await?;
    assert_eq!(server.attempts(VISITOR), 1, "it was sent beside the first");
    server.release_held();
    site.until_acked(channel, SOON).await?;
    assert!(site.delivered_at(event, channel).await?.is_some());
    assert_eq!((server.attempts(VISITOR), server.accepted(VISITOR).len()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn two_notifiers_share_the_mails_and_double_none() -> anyhow::Result<()> {
    let visitors: Vec<String> = (0..60).map(|n| format!("visitor-{n}@example.org")).collect();
    let nats = Nats::start().await?;
    let (one, other) = tokio::try_join!(
        MailServer::start(|_, _| ScriptedReply::Take),
        MailServer::start(|_, _| ScriptedReply::Take)
    )?;
    let site = Site::on(&nats).await?;
    let _one = Running::start(&nats, one.port, &[]).await?;
    let _other = Running::start(&nats, other.port, &[]).await?;
    for visitor in &visitors {
        site.contact(visitor).await?;
    }
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let count = |to: &str| one.accepted(to).len() + other.accepted(to).len();
    for visitor in &visitors {
        assert_eq!(count(visitor), 1, "{visitor}");
    }
    assert_eq!(count(SALES), visitors.len());
    let shares = [&one, &other].map(|server| server.accepted(SALES).len());
    assert!(shares.iter().all(|&share| share > 0), "{shares:?}");
    Ok(())
}

#[tokio::test]
async fn of_each_mail_the_record_is_read_once() -> anyhow::Result<()> {
    const MAILS: u64 = 160;
    // Few enough that none waits.
    const AT_ONCE: u64 = 8;
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let before = site.requests().await?;
    for number in 0..MAILS {
        site.request_newsletter(&format!("zoe{number}@example.org"))
            .await?;
        if number % AT_ONCE == 0 {
            eventually("they are sent", SOON, async || {
                (server.accepted_mails().len() as u64 > number).then_some(())
            })
            .await?;
        }
    }
    // The notifier also checks its dependencies every second.
    let requests = site.requests().await? - before;
    assert!((MAILS - AT_ONCE..MAILS * 2).contains(&requests), "{requests}");
    Ok(())
}

#[tokio::test]
async fn what_is_stored_again_days_later_is_not_sent_again_though_no_mail_is_counted_any_more()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let event = site.request_newsletter(VISITOR).await?;
    site.note_delivered(event, Channel::NewsletterConfirmation)
        .await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    assert_eq!(server.attempts(VISITOR), 0);
    Ok(())
}

#[tokio::test]
async fn an_event_that_nobody_takes_for_too_long_is_a_dead_letter() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::ToRecipient("450 4.2.1 Not now")).await?;
    let site = Site::on(&nats).await?;
    let mut settings = settings(&nats, server.port, &[])?;
    assert_eq!(settings.retries.give_up_after, Duration::from_secs(25 * 60 * 60));
    // The event is too old after its second attempt.
    settings.retries = RetryPolicy {
        initial_backoff: Duration::from_secs(6),
        give_up_after: Duration::from_secs(6),
    };
    let _notifier = Running::start_with(settings).await?;
    site.request_newsletter(VISITOR).await?;
    let letter = eventually("a dead letter", SOON, async || {
        nats.dead_letters().await.ok()?.pop()
    })
    .await?;
    assert_eq!(header(&letter, "Dead-Letter-Attempts"), "2");
    assert!(header(&letter, "Dead-Letter-Error").contains("450"));
    site.until_acked(Channel::NewsletterConfirmation, SOON).await?;
    assert_eq!(server.attempts(VISITOR), 2);
    Ok(())
}
