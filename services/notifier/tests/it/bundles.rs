//! Mails to sales and recruiters beyond a rate: in bundles, each event once.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use site_events::{Channel, event::ContactReceived};
use testkit::{MailFault, MailServer, Nats, S3, ScriptedReply, eventually};
use uuid::Uuid;

use crate::{
    mails::applied_with_resume,
    running::{
        RECRUITERS, Running, SALES, SOON, Site, application, held, message, message_id, person, process,
    },
};

/// The most events of a bundle.
const FULL: usize = 50;
const VISITOR: &str = "zoe@example.org";
/// Shorter than the usual minute, so that what a dead notifier had taken comes back soon.
const ACK_WAIT: Duration = Duration::from_secs(2);

/// So many mails by themselves, and bundles that wait so many seconds.
fn beyond(mails: usize, seconds: u64) -> [String; 2] {
    [
        format!("--staff-mails-per-hour={mails}"),
        format!("--staff-bundle-seconds={seconds}"),
    ]
}

/// A visitor of their own, so that nobody's mails are withheld.
fn visitor(number: usize) -> String {
    format!("visitor-{number}@example.org")
}

async fn contacts(site: &Site, count: usize) -> anyhow::Result<Vec<Uuid>> {
    let mut events = Vec::with_capacity(count);
    for number in 0..count {
        events.push(site.contact(&visitor(number)).await?);
    }
    Ok(events)
}

/// The events that a mail is about.
fn events_of(mail: &str) -> Vec<Uuid> {
    let headers = mail.split("\n\n").next().unwrap_or_default();
    let unfolded = headers.replace("\n ", " ");
    let named = unfolded.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        matches!(name, "X-Event-Id" | "X-Event-Ids").then_some(value)
    });
    let ids = named.unwrap_or_default().split_whitespace();
    ids.filter_map(|id| id.parse().ok()).collect()
}

/// How many mails are about each event.
fn mails_by_event(mails: &[String]) -> HashMap<Uuid, usize> {
    let mut counts = HashMap::new();
    for event in mails.iter().flat_map(|mail| events_of(mail)) {
        *counts.entry(event).or_default() += 1;
    }
    counts
}

/// Each of these events is in one mail, and no other is in any; gives how many mails are of one event, and how many of several.
fn ensure_each_is_told_once(mails: &[String], events: &[Uuid]) -> (usize, usize) {
    let counts = mails_by_event(mails);
    for event in events {
        assert_eq!(counts.get(event), Some(&1), "{event}");
    }
    assert_eq!(counts.len(), events.len());
    let singles = mails.iter().filter(|mail| events_of(mail).len() == 1).count();
    (singles, mails.len() - singles)
}

/// How many of these events went out to sales with others, as their delivery records say; each has one.
async fn bundled(site: &Site, events: &[Uuid]) -> anyhow::Result<usize> {
    site.recorded_as("bundled 2", Channel::SalesLead, events).await
}

/// Waits until a notifier has so many events of the channel.
async fn handed_out(site: &Site, channel: Channel, count: usize) -> anyhow::Result<()> {
    eventually("they are handed out", SOON, async || {
        (site.under_way(channel).await.ok()? == count).then_some(())
    })
    .await
}

#[tokio::test]
async fn of_a_burst_the_first_come_one_by_one_and_the_rest_in_a_few_mails() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let events = contacts(&site, 200).await?;
    let notifier = Running::start(&nats, server.port, &beyond(20, 2)).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let (singles, bundles) = ensure_each_is_told_once(&server.accepted(SALES), &events);
    // One that waited and was left alone goes out by itself.
    assert!((20..=21).contains(&singles), "{singles}");
    assert!((4..=8).contains(&bundles), "{bundles}");
    let recorded = bundled(&site, &events).await?;
    assert_eq!(recorded, events.len() - singles);
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    for number in 0..200 {
        assert_eq!(
            server.accepted(&visitor(number)).len(),
            1,
            "visitors' are not bundled"
        );
    }

    // One of a bundle that comes again is known, and so is the rate to whoever comes after.
    drop(notifier);
    let _other = Running::start(&nats, server.port, &beyond(20, 1)).await?;
    let mails = server.accepted(SALES).len();
    for event in &events[150..] {
        site.publish_again(&nats, *event).await?;
    }
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(server.accepted(SALES).len(), mails, "it was sent again");
    let more = [site.contact(VISITOR).await?, site.contact(VISITOR).await?];
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(bundled(&site, &more).await?, 2);
    Ok(())
}

#[tokio::test]
async fn applications_come_in_one_mail_with_a_link_to_each_resume_and_to_each_applicant() -> anyhow::Result<()>
{
    let (nats, inbox, s3) = tokio::try_join!(
        Nats::start(),
        MailServer::start(|_, _| ScriptedReply::Take),
        S3::start()
    )?;
    let site = Site::on(&nats).await?;
    let flags = [s3.flags(), beyond(1, 3).to_vec()].concat();
    let _notifier = Running::start(&nats, inbox.port, &flags).await?;
    let applied = applied_with_resume(&s3, "cv.pdf").await?;
    site.publish(VISITOR, applied.clone()).await?;
    site.until_acked(Channel::RecruiterApplication, SOON).await?;
    let with_others = [
        site.publish(VISITOR, applied).await?,
        site.publish("asha@example.org", application("asha@example.org")?)
            .await?,
    ];
    let mails = inbox.mails_to(RECRUITERS, 2, SOON).await?;
    let is_bundle = |mail: &&serde_json::Value| mail["subject"] == "2 applications";
    let mail = mails.iter().find(is_bundle).context("no bundle")?;
    assert!(mail["attachments"].as_array().is_none_or(Vec::is_empty));
    assert!(mail["replyTo"].as_array().is_none_or(Vec::is_empty));
    let text = mail["text"].as_str().unwrap_or_default();
    for said in [
        "no résumé is attached",
        "Zoë Müller",
        "+91 98400 00000",
        "Backend Intern",
        "> I would like to.",
        "mailto:zoe@example.org?subject=Your%20application%20to%20Oculant",
        "mailto:asha@example.org?subject=Your%20application%20to%20Oculant",
        "none was sent",
    ] {
        assert!(text.contains(said), "no \"{said}\" in:\n{text}");
    }
    for event in with_others {
        assert!(text.contains(&format!("Reference:   {event}")), "{text}");
    }
    let link = text.lines().find(|line| line.starts_with(&s3.url()));
    let answer = reqwest::get(link.context("no link to the résumé")?).await?;
    assert!(answer.error_for_status()?.bytes().await?.starts_with(b"%PDF-"));
    Ok(())
}

#[tokio::test]
async fn while_the_mail_server_is_away_bundles_wait_and_each_event_arrives_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &beyond(3, 1)).await?;
    let mut events = contacts(&site, 20).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;
    server.fault(MailFault::Away);
    events.extend(contacts(&site, 180).await?);
    // Longer than a bundle waits for others.
    tokio::time::sleep(Duration::from_secs(3)).await;
    server.fault(MailFault::None);
    site.until_acked(Channel::SalesLead, 2 * SOON).await?;
    let (singles, bundles) = ensure_each_is_told_once(&server.accepted(SALES), &events);
    assert!(singles < 20 && bundles < 30, "{singles} and {bundles}");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn killed_between_a_bundle_and_its_records_it_repeats_that_bundle_once() -> anyhow::Result<()> {
    let mut nats = Nats::start().await?;
    let server = MailServer::start(|to, attempt| match (to, attempt) {
        (SALES, 2) => ScriptedReply::Hold,
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    nats.shorten_the_ack_wait(ACK_WAIT).await?;
    let logs = tempfile::TempDir::new()?;
    let flags = beyond(1, 900);
    let notifier = process(&nats, server.port, &flags, logs.path())?;
    site.contact(VISITOR).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let events = contacts(&site, FULL).await?;
    held(&server).await?;
    site.until_acked(Channel::ContactAcknowledgement, SOON).await?;

    // Without the broker no record can be written: the crash comes in between for sure.
    nats.stop().await?;
    server.release_held();
    eventually("the bundle is accepted", SOON, async || {
        (server.accepted(SALES).len() == 2).then_some(())
    })
    .await?;
    notifier.kill().await?;
    nats.resume_from_disk().await?;
    let site = Site::on(&nats).await?;
    let _notifier = process(&nats, server.port, &flags, logs.path())?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let mails = server.accepted(SALES);
    let [_single, first, second] = &mails[..] else {
        anyhow::bail!("one mail and a bundle twice, not {}", mails.len());
    };
    assert_eq!(message_id(first)?, message_id(second)?);
    let counts = mails_by_event(&mails);
    assert!(events.iter().all(|event| counts.get(event) == Some(&2)));
    assert_eq!(bundled(&site, &events).await?, FULL);
    Ok(())
}

#[tokio::test]
async fn two_notifiers_have_one_rate_and_no_event_in_two_bundles() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let events = contacts(&site, 200).await?;
    let flags = beyond(10, 2);
    let _both = tokio::try_join!(
        Running::start(&nats, server.port, &flags),
        Running::start(&nats, server.port, &flags),
    )?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let (singles, bundles) = ensure_each_is_told_once(&server.accepted(SALES), &events);
    assert!((10..=12).contains(&singles), "{singles}");
    assert!(bundles <= 12, "{bundles}");
    let recorded = bundled(&site, &events).await?;
    assert_eq!(recorded, events.len() - singles);
    Ok(())
}

#[tokio::test]
async fn who_is_erased_while_a_bundle_waits_is_not_in_it() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &beyond(1, 4)).await?;
    let mut events = contacts(&site, 1).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    events.extend(contacts(&site, 3).await?);
    handed_out(&site, Channel::SalesLead, 3).await?;
    let (number, erased) = (3, events.remove(2));
    site.erase(number).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(ensure_each_is_told_once(&server.accepted(SALES), &events), (1, 1));
    let record = site.delivered_at(erased, Channel::SalesLead).await?;
    assert!(record.is_none(), "something is kept of it");
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn an_event_whose_mail_cannot_be_written_takes_no_bundle_with_it() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &beyond(1, 2)).await?;
    let mut events = contacts(&site, 1).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    events.extend(contacts(&site, 2).await?);
    let (id, someone) = (Uuid::new_v4(), person(VISITOR)?);
    let subject = format!("replay.{}.{}", Channel::SalesLead.name(), someone.as_str());
    let unreadable = serde_json::json!({
        "id": id, "subject": someone.as_str(), "requestid": "visit-0001", "data": "nothing that sales could read",
    });
    site.publish_raw(&subject, unreadable.to_string()).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(ensure_each_is_told_once(&server.accepted(SALES), &events), (1, 1));
    assert_eq!(nats.dead_letters().await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_bundle_that_is_refused_is_handed_over_by_halves() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    // The bundle of four, and the first half of it.
    let refused = Arc::new(AtomicUsize::new(0));
    let counted = refused.clone();
    let server = MailServer::start(move |to, attempt| match (to, attempt) {
        (SALES, 2 | 3) => {
            counted.fetch_add(1, Ordering::Relaxed);
            ScriptedReply::ToContent("554 5.7.1 That looks like spam")
        }
        _ => ScriptedReply::Take,
    })
    .await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &beyond(1, 3)).await?;
    let mut events = contacts(&site, 1).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    events.extend(contacts(&site, 4).await?);
    site.until_acked(Channel::SalesLead, SOON).await?;
    assert_eq!(refused.load(Ordering::Relaxed), 2);
    assert_eq!(ensure_each_is_told_once(&server.accepted(SALES), &events), (3, 1));
    assert_eq!(bundled(&site, &events).await?, 2);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn of_messages_as_long_as_may_be_a_bundle_holds_fewer() -> anyhow::Result<()> {
    const MAX_BYTES: usize = 2_000_000;
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start(&nats, server.port, &beyond(1, 3)).await?;
    let mut events = contacts(&site, 1).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    for letter in ["🙂", "\"", "🙂", "<"].repeat(4) {
        let long = ContactReceived {
            message: letter.repeat(10_000),
            ..message(VISITOR)?
        };
        events.push(site.publish(VISITOR, long).await?);
    }
    site.until_acked(Channel::SalesLead, SOON).await?;
    let mails = server.accepted(SALES);
    let (singles, bundles) = ensure_each_is_told_once(&mails, &events);
    assert!(
        singles <= 2 && (2..=3).contains(&bundles),
        "{singles} and {bundles}"
    );
    let largest = mails.iter().map(String::len).max();
    assert!(largest <= Some(MAX_BYTES), "{largest:?} bytes");
    Ok(())
}

#[tokio::test]
async fn at_a_stop_what_waits_for_others_is_given_back_at_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let mut notifier = Running::start(&nats, server.port, &beyond(1, 900)).await?;
    let mut events = contacts(&site, 1).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    events.extend(contacts(&site, 5).await?);
    handed_out(&site, Channel::SalesLead, 5).await?;
    notifier.tell_to_stop();
    tokio::time::timeout(Duration::from_secs(10), notifier.stopped()).await??;
    assert_eq!(server.accepted(SALES).len(), 1);
    let _next = Running::start(&nats, server.port, &beyond(1, 2)).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let (singles, bundles) = ensure_each_is_told_once(&server.accepted(SALES), &events);
    assert!(singles <= 2 && bundles >= 1, "{singles} and {bundles}");
    Ok(())
}
