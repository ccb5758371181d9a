//! Mails while a dependency or the notifier itself is unavailable.

use std::{fs, time::Duration};

use nix::sys::signal::Signal;
use serde_json::Value;
use site_events::{Channel, EventType};
use testkit::{MailFault, ScriptedReply, eventually};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::running::{SALES, SOON, Site, accepted, held, holding, parts, process, scene, take};

const VISITOR: &str = "zoe@example.org";
/// Delay of an answer after the stop: two ack waits.
const LATE_ANSWER: Duration = Duration::from_secs(4);

fn is_to_visitor(mail: &Value) -> bool {
    let to = mail["to"][0]["address"].as_str();
    to.is_some_and(|to| to.ends_with("@example.org"))
}

fn channels_of_contact() -> Vec<Channel> {
    let of_contact = |channel: &Channel| channel.event_type() == EventType::ContactReceived;
    Channel::ALL.into_iter().filter(of_contact).collect()
}

#[tokio::test]
async fn a_notifier_killed_under_load_loses_no_mail() -> anyhow::Result<()> {
    let (nats, inbox, site) = parts(take).await?;
    let logs = tempfile::TempDir::new()?;
    nats.shorten_the_ack_wait(Duration::from_secs(2)).await?;
    // Enough visitors that some mails are unsent at the kill.
    let visitors: Vec<String> = (0..120).map(|n| format!("visitor-{n}@example.org")).collect();
    for visitor in &visitors {
        site.contact(visitor).await?;
    }

    let notifier = process(&nats, inbox.port, &[], logs.path())?;
    inbox.mails_to(SALES, 3, SOON).await?;
    inbox.fault(MailFault::Each(ScriptedReply::Hang));
    notifier.kill().await?;
    inbox.fault(MailFault::None);
    let channels = channels_of_contact();
    let left = usize::try_from(site.open(Channel::ContactAcknowledgement).await?)?;
    let mut under_way = 0;
    for channel in &channels {
        under_way += site.open(*channel).await?;
    }
    eventually("the mails of all that was acked", SOON * 2, async || {
        let mails = inbox.mails();
        let mailed = mails.iter().filter(|mail| is_to_visitor(mail)).count();
        (mailed + left >= visitors.len()).then_some(())
    })
    .await?;
    assert!(left > 0, "it was killed too late to show anything");

    let notifier = process(&nats, inbox.port, &[], logs.path())?;
    for channel in &channels {
        site.until_acked(*channel, SOON).await?;
    }
    let all = channels.len() * visitors.len();
    let mails = eventually("all mails of each message", SOON, async || {
        let mails = inbox.mails();
        (mails.len() >= all).then_some(mails)
    })
    .await?;
    for visitor in &visitors {
        let reached = mails.iter().any(|mail| mail["to"][0]["address"] == *visitor);
        assert!(reached, "no mail to {visitor}");
    }
    let twice = mails.len() - all;
    assert!(
        twice as u64 <= under_way,
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
async fn a_mail_answered_long_after_the_stop_is_sent_once() -> anyhow::Result<()> {
    let (nats, server, site) = parts(holding(VISITOR)).await?;
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
async fn health_says_whether_the_broker_is_available() -> anyhow::Result<()> {
    let (mut nats, server, _site, notifier) = scene(&[], take).await?;
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
async fn a_mail_is_recorded_once_the_broker_is_available_again() -> anyhow::Result<()> {
    let (mut nats, server, site, _notifier) = scene(&[], holding(VISITOR)).await?;
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
