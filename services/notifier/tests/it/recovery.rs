//! Deliveries go out soon after their receiver recovers, however long the backoff. An unavailable receiver
//! gets one probe at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use axum::http::StatusCode;
use serde_json::json;
use site_broker::RetryPolicy;
use site_events::Channel;
use testkit::{MailServer, Nats, Receiver, S3, eventually};
use tokio::{net::TcpListener, time::timeout};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::{
    memory::applied_with_resume,
    running::{HURRY, NEVER, RECRUITERS, Running, SOON, Site, parts, settings, take, taking_at, until},
    webhooks::Sending,
};

/// More mails than a channel has in flight, so that some stay in the stream.
const BACKLOG: usize = 50;
/// Timeout after an outage. A consumer's pause lasts at most twice as long as the outage.
const FIRST_SUCCESS: Duration = Duration::from_secs(30);
const DRAINED: Duration = Duration::from_secs(45);
const UNTIL_THEY_WAIT: Duration = Duration::from_secs(3);

/// Unavailable mail server: counts every connection, and closes it at once.
struct Away {
    port: u16,
    asked: Arc<AtomicUsize>,
    accepting: AbortOnDropHandle<()>,
}

impl Away {
    async fn start() -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let asked = Arc::<AtomicUsize>::default();
        let count = asked.clone();
        let accepting = tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self {
            port,
            asked,
            accepting: AbortOnDropHandle::new(accepting),
        })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    async fn recover(self) -> anyhow::Result<MailServer> {
        drop(self.accepting);
        taking_at(self.port).await
    }
}

async fn drains(arrived: impl Fn() -> usize, all: usize) -> anyhow::Result<()> {
    eventually("the first one", FIRST_SUCCESS, async || {
        (arrived() > 0).then_some(())
    })
    .await?;
    eventually("the backlog drains", DRAINED, async || {
        (arrived() == all).then_some(())
    })
    .await
}

#[tokio::test]
async fn the_backlog_is_sent_after_the_mail_server_recovers() -> anyhow::Result<()> {
    // At most four probes, with pauses of at least 1, 2 and 4 s. Each connection may count twice.
    const MOST_ASKED: usize = 8;
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let visitors: Vec<String> = (0..BACKLOG).map(|n| format!("visitor-{n}@example.org")).collect();
    for visitor in &visitors {
        site.request_newsletter(visitor).await?;
    }
    let mut settings = settings(&nats, away.port, &[])?;
    settings.retries = RetryPolicy {
        initial_backoff: NEVER,
        give_up_after: HURRY,
    };
    let mut notifier = Running::start_with(settings).await?;
    until("it is asked", || away.asked() > 5).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = away.asked();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let asked = away.asked() - before;
    // A stopping notifier returns its waiting mails to the broker.
    notifier.tell_to_stop();
    timeout(FIRST_SUCCESS, notifier.stopped()).await??;

    let at_the_stop = away.asked();
    let _next = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    until("the next one asks", || away.asked() > at_the_stop).await?;
    let server = away.recover().await?;
    let has_it = |visitor: &&String| !server.accepted(visitor).is_empty();
    drains(|| visitors.iter().filter(has_it).count(), BACKLOG).await?;
    assert!(asked <= MOST_ASKED, "asked {asked} times in six seconds");
    for visitor in &visitors {
        assert_eq!(server.accepted(visitor).len(), 1, "{visitor}");
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn waiting_mails_delivered_by_another_notifier_are_skipped() -> anyhow::Result<()> {
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    let channel = Channel::NewsletterConfirmation;
    let mut events = Vec::new();
    for number in 0..10 {
        let visitor = format!("visitor-{number}@example.org");
        events.push(site.request_newsletter(&visitor).await?);
    }
    tokio::time::sleep(UNTIL_THEY_WAIT).await;
    for event in events {
        site.note_delivered(event, channel).await?;
    }
    let server = away.recover().await?;
    site.until_acked(channel, SOON).await?;
    assert_eq!(server.accepted_mails().len(), 0);
    Ok(())
}

#[tokio::test]
async fn an_unavailable_resume_is_attached_after_recovery() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 100_000;
    let (nats, server, site) = parts(take).await?;
    let mut s3 = S3::start().await?;
    let applied = applied_with_resume(&s3, RESUME_BYTES).await?;
    s3.stop().await?;
    // Published before the notifier starts, because each mail waits only about 15 s for the store.
    for _ in 0..BACKLOG {
        site.publish("zoe@example.org", applied.clone()).await?;
    }
    let _notifier = Running::start_retrying_after(NEVER, &nats, server.port, &s3.flags()).await?;
    // When the applicants' mails are sent, the notifier has also tried the recruiters' mails.
    site.until_acked(Channel::ApplicationAcknowledgement, SOON)
        .await?;
    // The S3 client retries three times within three seconds.
    tokio::time::sleep(Duration::from_secs(4)).await;
    s3.resume_from_disk().await?;
    drains(|| server.accepted(RECRUITERS).len(), BACKLOG).await?;
    let mails = server.accepted(RECRUITERS);
    let with_resume = mails.iter().filter(|mail| mail.len() > RESUME_BYTES).count();
    assert_eq!(with_resume, BACKLOG);
    Ok(())
}

async fn contact(site: &Site, messages: usize) -> anyhow::Result<Vec<Uuid>> {
    let mut events = Vec::new();
    for number in 0..messages {
        events.push(site.contact(&format!("visitor-{number}@example.org")).await?);
    }
    Ok(events)
}

#[tokio::test]
async fn an_erasure_cancels_waiting_mails_and_webhooks() -> anyhow::Result<()> {
    /// The number of webhooks that an endpoint has in flight.
    const PEOPLE: usize = 4;
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let receiver = Receiver::start_at(0).await?;
    let port = url::Url::parse(&receiver.url())?.port().unwrap_or_default();
    let webhooks = json!([receiver.endpoint("crm", &["contact.received"])]).to_string();
    drop(receiver);
    nats.provision(&["--webhooks", &webhooks]).await?;
    let flags = [
        format!("--webhooks={webhooks}"),
        "--webhooks-allow-private".to_owned(),
    ];
    let site = Site::on(&nats).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, away.port, &flags).await?;
    let events = contact(&site, PEOPLE).await?;
    tokio::time::sleep(UNTIL_THEY_WAIT).await;
    for number in 1..PEOPLE {
        site.erase(number as u64).await?;
    }
    let server = away.recover().await?;
    let receiver = eventually("the port is free again", SOON, async || {
        Receiver::start_at(port).await.ok()
    })
    .await?;
    until("whoever was not erased is told of", || {
        server.accepted_mails().len() >= 2 && !receiver.received().is_empty()
    })
    .await?;
    // If erased events were still retried, they would be delivered within this time.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let mails = server.accepted_mails().into_iter();
    let mut mailed: Vec<String> = mails.map(|mail| mail.recipient).collect();
    mailed.sort();
    mailed.retain(|to| to.ends_with("@example.org"));
    assert_eq!(mailed, ["visitor-3@example.org"]);
    let webhooks = receiver.received().into_iter();
    let received: Vec<String> = webhooks.map(|webhook| webhook.id).collect();
    assert_eq!(received, [events[PEOPLE - 1].to_string()]);
    for event in &events[..PEOPLE - 1] {
        let record = site.delivered_at(*event, Channel::ContactAcknowledgement).await?;
        assert!(record.is_none(), "something is kept of it");
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_failing_receiver_gets_probes_then_the_backlog() -> anyhow::Result<()> {
    const MESSAGES: usize = 10;
    /// Long enough for growing pauses between probes.
    const OUTAGE: Duration = Duration::from_secs(8);
    /// Four webhooks in flight, then probes after at least 1, 2 and 4 s.
    const MOST_ASKED: usize = 4 + 3;
    let receiver = Receiver::start_at(0).await?;
    receiver.answer(StatusCode::INTERNAL_SERVER_ERROR);
    let endpoint = receiver.endpoint("crm", &["contact.received"]);
    let sending = Sending::retrying_after(NEVER, &[endpoint]).await?;
    contact(&sending.site, MESSAGES).await?;
    tokio::time::sleep(OUTAGE).await;
    let asked = receiver.received().len();
    assert!((5..=MOST_ASKED).contains(&asked), "{asked}");
    receiver.answer(StatusCode::NO_CONTENT);
    drains(|| receiver.accepted().len(), MESSAGES).await?;
    assert!(sending.nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_receivers_retry_after_is_respected() -> anyhow::Result<()> {
    const MESSAGES: usize = 10;
    const ASKED_FOR: Duration = Duration::from_secs(12);
    let receiver = Receiver::start_at(0).await?;
    receiver.answer_with_retry_after(StatusCode::TOO_MANY_REQUESTS, "12");
    let endpoint = receiver.endpoint("crm", &["contact.received"]);
    let sending = Sending::retrying_after(NEVER, &[endpoint]).await?;
    let site = &sending.site;
    site.contact("first@example.org").await?;
    until("it is asked", || !receiver.received().is_empty()).await?;
    let refused = Instant::now();
    // Time for the notifier to get its answers.
    tokio::time::sleep(HURRY).await;
    receiver.answer(StatusCode::NO_CONTENT);
    contact(site, MESSAGES).await?;
    site.until_acked(Channel::SalesLead, SOON).await?;
    let asked = receiver.received().len();
    assert!(
        asked == 1 || refused.elapsed() > ASKED_FOR - HURRY,
        "another asked before"
    );
    eventually("all webhooks", ASKED_FOR + DRAINED, async || {
        (receiver.received().len() == 1 + 1 + MESSAGES).then_some(())
    })
    .await?;
    assert!(refused.elapsed() > ASKED_FOR - HURRY, "{:?}", refused.elapsed());
    Ok(())
}
