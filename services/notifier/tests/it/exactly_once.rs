//! An event makes one mail, despite crashes, stalls and repeats. Only a crash between sending and recording
//! repeats a mail, with the same id.

use std::time::Duration;

use site_events::Channel;
use testkit::{MailServer, ScriptedReply, eventually};

use crate::running::{
    Running, SALES, SOON, Site, accepted, held, holding, message_id, parts, process, scene, take, until,
};

const VISITOR: &str = "zoe@example.org";
/// Short, so that the broker soon redelivers a killed notifier's events.
const ACK_WAIT: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_kill_before_the_record_repeats_the_mail_once() -> anyhow::Result<()> {
    let (mut nats, server, site) = parts(holding(VISITOR)).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, server.port, &[], logs.path())?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;

    // The broker stops, so that the notifier cannot write the record before it is killed.
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

    // The next notifier finds the delivery record and sends nothing.
    site.publish_again(&nats, event).await?;
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
async fn a_retry_skips_a_mail_that_another_notifier_delivered() -> anyhow::Result<()> {
    let (nats, server, site, _notifier) = scene(&[], |to, _| match to {
        VISITOR => ScriptedReply::ToContent("451 4.3.0 Try again"),
        _ => ScriptedReply::Take,
    })
    .await?;
    let event = site.contact(VISITOR).await?;
    until("the first attempt", || server.attempts(VISITOR) == 1).await?;
    site.note_delivered(event, Channel::ContactAcknowledgement)
        .await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    assert_eq!(server.attempts(VISITOR), 1);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_mail_slower_than_the_ack_wait_is_sent_once() -> anyhow::Result<()> {
    let (nats, server, site) = parts(holding(VISITOR)).await?;
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
async fn unrecorded_mails_are_sent_by_no_other_notifier() -> anyhow::Result<()> {
    // Several visitors, because the broker chooses which notifier gets a redelivery.
    let visitors: Vec<String> = (0..6).map(|n| format!("visitor-{n}@example.org")).collect();
    let (nats, server, site) = parts(take).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    site.refuse_delivery_records().await?;
    let _one = Running::start(&nats, server.port, &[]).await?;
    let _other = Running::start(&nats, server.port, &[]).await?;
    for visitor in &visitors {
        site.contact(visitor).await?;
    }
    until("every mail is accepted", || {
        let leads = server.accepted(SALES).len();
        leads >= visitors.len() && visitors.iter().all(|to| server.attempts(to) > 0)
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
async fn a_redelivery_does_not_duplicate_a_mail_in_flight() -> anyhow::Result<()> {
    let (nats, server, site, _notifier) = scene(&[], holding(VISITOR)).await?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;
    // The running notifier assumes a longer ack wait, so the broker redelivers the event.
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
async fn two_notifiers_share_the_mails_without_duplicates() -> anyhow::Result<()> {
    let visitors: Vec<String> = (0..60).map(|n| format!("visitor-{n}@example.org")).collect();
    let (nats, one, site, _one) = scene(&[], take).await?;
    let other = MailServer::start(take).await?;
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
    let servers = [&one, &other];
    let shares = servers.map(|server| server.accepted(SALES).len());
    assert!(shares.iter().all(|&share| share > 0), "{shares:?}");
    Ok(())
}
