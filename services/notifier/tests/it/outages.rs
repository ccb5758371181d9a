//! Mails while a dependency or the notifier itself is unavailable.

use std::{collections::HashMap, fs, time::Duration};

use anyhow::Context;
use nix::sys::signal::Signal;
use site_events::Channel;
use testkit::{MailFault, MailServer, Nats, ScriptedReply, eventually};
use tokio::{net::TcpListener, time::timeout};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::running::{Running, SALES, SOON, Site, accepted, held, holding, process, taking_at};

const VISITOR: &str = "zoe@example.org";
/// Delay of an answer after the stop: two ack waits.
const LATE_ANSWER: Duration = Duration::from_secs(4);

#[tokio::test]
async fn killed_under_load_it_sends_the_rest_once_it_is_back() -> anyhow::Result<()> {
    let (nats, inbox) = tokio::try_join!(Nats::start(), MailServer::start(|_, _| ScriptedReply::Take))?;
    let logs = tempfile::TempDir::new()?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(Duration::from_secs(2)).await?;
    // Enough that some are left, however late the kill comes.
    let visitors: Vec<String> = (0..120).map(|n| format!("visitor-{n}@example.org")).collect();
    for visitor in &visitors {
        site.contact(visitor).await?;
    }

    let notifier = process(&nats, inbox.port, &[], logs.path())?;
    inbox.mails_to(SALES, 3, SOON).await?;
    inbox.fault(MailFault::Each(ScriptedReply::Hang));
    notifier.kill().await?;
    inbox.fault(MailFault::None);
    let left = usize::try_from(site.open(Channel::ContactAcknowledgement).await?)?;
    let under_way = left + usize::try_from(site.open(Channel::SalesLead).await?)?;
    eventually("the mails of all that was acked", SOON * 2, async || {
        let mails = inbox.mails();
        let mailed = mails.iter().filter(|mail| mail["to"][0]["address"] != SALES);
        (mailed.count() + left >= visitors.len()).then_some(())
    })
    .await?;
    assert!(left > 0, "it was killed too late to show anything");

    let notifier = process(&nats, inbox.port, &[], logs.path())?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    let mails = eventually("two mails of each message", SOON, async || {
        let mails = inbox.mails();
        (mails.len() >= 2 * visitors.len()).then_some(mails)
    })
    .await?;
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for mail in &mails {
        let to = mail["to"][0]["address"].as_str().context("a mail to nobody")?;
        *counts.entry(to).or_default() += 1;
    }
    for visitor in &visitors {
        assert!(counts.contains_key(visitor.as_str()), "no mail to {visitor}");
    }
    assert!(counts.get(SALES) >= Some(&visitors.len()), "{counts:?}");
    let twice = mails.len() - 2 * visitors.len();
    assert!(
        twice <= under_way,
        "{twice} mails came twice, {under_way} were not acked"
    );

    assert!(notifier.stop().await?.success());
    let log = fs::read_to_string(logs.path().join("notifier.log"))?;
    for ours_alone in ["example.org", "Müller", "one question"] {
        assert!(!log.contains(ours_alone), "the log holds \"{ours_alone}\"");
    }
    Ok(())
}

#[tokio::test]
async fn told_to_stop_it_finishes_what_is_under_way_and_begins_nothing() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    let mut notifier = Running::start(&nats, server.port, &[]).await?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;

    notifier.tell_to_stop();
    site.contact("later@example.org").await?;
    server.release_held();
    notifier.stopped().await?;
    assert_eq!(server.accepted(VISITOR).len(), 1);
    let noted = site.delivered_at(event, Channel::ContactAcknowledgement).await?;
    assert!(noted.is_some(), "the next notifier would send it again");
    assert_eq!(server.attempts("later@example.org"), 0);
    assert_eq!(site.open(Channel::ContactAcknowledgement).await?, 1);
    Ok(())
}

#[tokio::test]
async fn a_mail_that_is_answered_long_after_the_stop_is_waited_for_and_sent_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(Duration::from_secs(2)).await?;
    let logs = tempfile::TempDir::new()?;
    let stopping = process(&nats, server.port, &[], logs.path())?;
    site.contact(VISITOR).await?;
    held(&server).await?;
    stopping.signal(Signal::SIGTERM)?;
    // The next notifier would get the event as soon as the first releases it.
    let _next = process(&nats, server.port, &[], logs.path())?;
    tokio::time::sleep(LATE_ANSWER).await;
    server.release_held();
    assert!(stopping.stop().await?.success());
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    assert_eq!((server.attempts(VISITOR), server.accepted(VISITOR).len()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn told_to_stop_it_gives_back_what_waits_for_a_connection() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let (held, other) = tokio::try_join!(
        MailServer::start(|to, _| if to == SALES {
            ScriptedReply::Take
        } else {
            ScriptedReply::Hold
        }),
        MailServer::start(|_, _| ScriptedReply::Take)
    )?;
    let site = Site::on(&nats).await?;
    let visitors: Vec<String> = (0..12).map(|n| format!("visitor-{n}@example.org")).collect();
    for visitor in &visitors {
        site.contact(visitor).await?;
    }
    let mut stopping = Running::start(&nats, held.port, &[]).await?;
    eventually("four mails are under way", SOON, async || {
        (held.counts().held == 4).then_some(())
    })
    .await?;
    stopping.tell_to_stop();
    let _next = Running::start(&nats, other.port, &[]).await?;
    let accepted = |server: &MailServer| visitors.iter().map(|to| server.accepted(to).len()).sum::<usize>();
    eventually("the next sends the others", SOON, async || {
        (accepted(&other) + held.counts().held == visitors.len()).then_some(())
    })
    .await?;
    held.release_held();
    stopping.stopped().await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    for visitor in &visitors {
        let counts = [held.accepted(visitor).len(), other.accepted(visitor).len()];
        assert_eq!(counts.iter().sum::<usize>(), 1, "{visitor}: {counts:?}");
    }
    assert!(accepted(&other) > 0);
    Ok(())
}

#[tokio::test]
async fn while_nats_is_away_it_says_so_and_goes_on_by_itself_afterwards() -> anyhow::Result<()> {
    let mut nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let notifier = Running::start(&nats, server.port, &[]).await?;
    let address = format!("http://127.0.0.1:{}", notifier.port);
    let mut health = HealthClient::new(tonic::transport::Channel::from_shared(address)?.connect().await?);
    let mut becomes = async |status: ServingStatus| {
        eventually(&format!("health says {status:?}"), SOON, async || {
            let answer = health.check(HealthCheckRequest::default()).await.ok()?;
            (answer.get_ref().status() == status).then_some(())
        })
        .await
    };
    becomes(ServingStatus::Serving).await?;
    nats.stop().await?;
    becomes(ServingStatus::NotServing).await?;
    nats.resume_from_disk().await?;
    becomes(ServingStatus::Serving).await?;

    Site::on(&nats).await?.contact(VISITOR).await?;
    accepted(&server, VISITOR, 1).await
}

#[tokio::test]
async fn a_mail_whose_record_cannot_be_written_for_a_while_is_still_sent_once() -> anyhow::Result<()> {
    let mut nats = Nats::start().await?;
    let server = holding(VISITOR).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &[]).await?;
    let event = site.contact(VISITOR).await?;
    held(&server).await?;

    nats.stop().await?;
    server.release_held();
    accepted(&server, VISITOR, 1).await?;
    nats.resume_from_disk().await?;
    let site = Site::on(&nats).await?;
    eventually("the record is written", SOON, async || {
        let channel = Channel::ContactAcknowledgement;
        site.delivered_at(event, channel).await.ok().flatten()
    })
    .await?;
    assert_eq!(server.accepted(VISITOR).len(), 1);
    Ok(())
}

#[tokio::test]
async fn while_the_mail_server_is_away_mails_wait_for_it() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let broken = TcpListener::bind("127.0.0.1:0").await?;
    let port = broken.local_addr()?.port();
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, port, &[]).await?;
    site.contact(VISITOR).await?;
    site.request_newsletter("asha@example.org").await?;
    // Each of the three mails meets a connection that closes.
    for _ in 0..3 {
        drop(timeout(SOON, broken.accept()).await??);
    }
    drop(broken);

    let server = taking_at(port).await?;
    for to in [VISITOR, "asha@example.org", SALES] {
        accepted(&server, to, 1).await?;
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}
