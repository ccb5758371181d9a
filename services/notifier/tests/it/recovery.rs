//! Deliveries go out soon after their receiver recovers, however long the backoff. Until then it gets one
//! probe at a time.

use std::{
    slice,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context as _;
use axum::{Router, body::Bytes, http::StatusCode, routing::post};
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, RetryPolicy};
use site_events::Channel;
use testkit::{MailFault, MailServer, Nats, Receiver, S3, ScriptedReply, eventually, mail_server::Behaviour};
use tokio::{net::TcpListener, sync::Barrier, time::timeout};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::{
    memory::applied_with_resume,
    running::{HURRY, NEVER, RECRUITERS, Running, SALES, SOON, Site, person, settings, until_all_is_done},
    webhooks::Sending,
};

/// More than a channel has in flight, so that some stay in the stream.
const BACKLOG: usize = 50;
/// The current pause lasts at most twice the outage.
const FIRST_SUCCESS: Duration = Duration::from_secs(30);
const DRAINED: Duration = Duration::from_secs(45);
/// Events that another notifier delivers while they wait.
const WAITING: usize = 10;
const UNTIL_THEY_WAIT: Duration = Duration::from_secs(3);

/// Webhooks that a notifier has in flight at once.
const IN_HAND: usize = 4;

/// Mail server whose port closes and counts every connection.
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
        self.recover_as(|| ScriptedReply::Take).await
    }

    async fn recover_as(self, answer: fn() -> ScriptedReply) -> anyhow::Result<MailServer> {
        drop(self.accepting);
        eventually("the port is free again", SOON, async || {
            MailServer::start_with(Behaviour::default(), self.port, move |_, _| answer())
                .await
                .ok()
        })
        .await
    }
}

fn visitors() -> Vec<String> {
    (0..BACKLOG)
        .map(|number| format!("visitor-{number}@example.org"))
        .collect()
}

async fn request_newsletters(site: &Site) -> anyhow::Result<Vec<String>> {
    let visitors = visitors();
    for visitor in &visitors {
        site.request_newsletter(visitor).await?;
    }
    Ok(visitors)
}

fn arrived(server: &MailServer, visitors: &[String]) -> usize {
    let has_it = |visitor: &&String| !server.accepted(visitor).is_empty();
    visitors.iter().filter(has_it).count()
}

#[tokio::test]
async fn mails_that_wait_for_the_mail_server_go_out_once_it_is_back() -> anyhow::Result<()> {
    // Pauses of at least 1, 2 and 4 s. The system may count each connection twice.
    const MOST_ASKED: usize = 8;
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let visitors = request_newsletters(&site).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    eventually("it is asked", SOON, async || (away.asked() > 5).then_some(())).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = away.asked();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let asked = away.asked() - before;

    let server = away.recover().await?;
    eventually("the first mail", FIRST_SUCCESS, async || {
        (arrived(&server, &visitors) > 0).then_some(())
    })
    .await?;
    eventually("the backlog drains", DRAINED, async || {
        (arrived(&server, &visitors) == visitors.len()).then_some(())
    })
    .await?;
    assert!(asked <= MOST_ASKED, "asked {asked} times in six seconds");
    for visitor in &visitors {
        assert_eq!(server.accepted(visitor).len(), 1, "{visitor}");
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn mails_that_another_notifier_sent_while_they_waited_are_not_sent_again() -> anyhow::Result<()> {
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    let channel = Channel::NewsletterConfirmation;
    let mut events = Vec::new();
    for number in 0..WAITING {
        events.push(
            site.request_newsletter(&format!("visitor-{number}@example.org"))
                .await?,
        );
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
async fn mails_wait_for_a_mail_server_that_takes_none_and_go_out_once_it_does() -> anyhow::Result<()> {
    for fault in [
        MailFault::Each(ScriptedReply::ToRecipient("450 4.3.2 Not now")),
        MailFault::Each(ScriptedReply::ToContent("451 4.3.0 Not now")),
    ] {
        let nats = Nats::start().await?;
        let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
        server.fault(fault);
        let site = Site::on(&nats).await?;
        let visitors = request_newsletters(&site).await?;
        let _notifier = Running::start_retrying_after(NEVER, &nats, server.port, &[]).await?;
        tokio::time::sleep(Duration::from_secs(6)).await;
        let asked = server.counts().begun;
        server.fault(MailFault::None);
        eventually(
            &format!("the first mail after {fault:?}"),
            FIRST_SUCCESS,
            async || (arrived(&server, &visitors) > 0).then_some(()),
        )
        .await?;
        eventually(
            &format!("the backlog drains after {fault:?}"),
            DRAINED,
            async || (arrived(&server, &visitors) == BACKLOG).then_some(()),
        )
        .await?;
        assert!(asked <= BACKLOG, "{fault:?}: asked {asked} times in six seconds");
    }
    Ok(())
}

#[tokio::test]
async fn told_to_stop_while_the_mail_server_is_away_it_gives_back_what_waits() -> anyhow::Result<()> {
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let visitors = request_newsletters(&site).await?;
    let mut notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    eventually("it is asked again", SOON, async || {
        (away.asked() > 5).then_some(())
    })
    .await?;
    notifier.tell_to_stop();
    timeout(FIRST_SUCCESS, notifier.stopped()).await??;

    let server = away.recover().await?;
    let _next = Running::start_retrying_after(NEVER, &nats, server.port, &[]).await?;
    eventually("the backlog drains", DRAINED, async || {
        (arrived(&server, &visitors) == visitors.len()).then_some(())
    })
    .await
}

#[tokio::test]
async fn a_mail_server_that_is_away_for_long_makes_no_dead_letters() -> anyhow::Result<()> {
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let mut settings = settings(&nats, away.port, &[])?;
    settings.retries = RetryPolicy {
        initial_backoff: HURRY / 10,
        give_up_after: HURRY,
    };
    let _notifier = Running::start_with(settings).await?;
    let visitors = request_newsletters(&site).await?;
    tokio::time::sleep(12 * HURRY).await;
    let server = away.recover().await?;
    eventually("the backlog drains", FIRST_SUCCESS + DRAINED, async || {
        (arrived(&server, &visitors) == visitors.len()).then_some(())
    })
    .await?;
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn mails_that_wait_for_a_bucket_of_the_broker_go_out_once_it_is_back() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, server.port, &[]).await?;
    site.lose_the_deliveries().await?;
    let visitors = request_newsletters(&site).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        arrived(&server, &visitors),
        0,
        "nobody knows what was sent before"
    );
    nats.provision(&[]).await?;
    eventually("the first mail", FIRST_SUCCESS, async || {
        (arrived(&server, &visitors) > 0).then_some(())
    })
    .await?;
    eventually("the backlog drains", DRAINED, async || {
        (arrived(&server, &visitors) == visitors.len()).then_some(())
    })
    .await
}

#[tokio::test]
async fn the_operator_is_told_of_dead_letters_once_the_mail_server_is_back() -> anyhow::Result<()> {
    const OPERATOR: &str = "admin@oculant.example";
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let subject = format!("site.newsletter.confirmed.{}", person("zoe@example.org")?);
    site.publish_raw(&subject, "not an event".to_owned()).await?;
    let notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    eventually("a dead letter", SOON, async || {
        nats.dead_letters().await.ok()?.pop().map(drop)
    })
    .await?;
    drop(notifier);
    // A notifier sends a digest when it starts, then hourly.
    let asked = away.asked();
    let _notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    eventually("it tries to tell", SOON, async || {
        (away.asked() > asked).then_some(())
    })
    .await?;
    let server = away.recover().await?;
    eventually("the operator is told", 2 * DRAINED, async || {
        (!server.accepted(OPERATOR).is_empty()).then_some(())
    })
    .await
}

#[tokio::test]
async fn a_resume_that_the_store_could_not_give_is_attached_once_it_is_back() -> anyhow::Result<()> {
    const RESUME_BYTES: usize = 100_000;
    let (nats, mut s3) = tokio::try_join!(Nats::start(), S3::start())?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let site = Site::on(&nats).await?;
    let applied = applied_with_resume(&s3, RESUME_BYTES).await?;
    s3.stop().await?;
    // Published before the notifier starts: from then on each mail waits about 15 s for the store.
    for _ in 0..BACKLOG {
        site.publish("zoe@example.org", applied.clone()).await?;
    }
    let _notifier = Running::start_retrying_after(NEVER, &nats, server.port, &s3.flags()).await?;
    // The applicants' mails need no store, so the recruiters' were tried, too.
    site.until_acked(Channel::ApplicationAcknowledgement, SOON)
        .await?;
    // The client retries three times within three seconds.
    tokio::time::sleep(Duration::from_secs(4)).await;
    s3.resume_from_disk().await?;
    eventually("the first mail", FIRST_SUCCESS, async || {
        (!server.accepted(RECRUITERS).is_empty()).then_some(())
    })
    .await?;
    eventually("the backlog drains", DRAINED, async || {
        (server.accepted(RECRUITERS).len() == BACKLOG).then_some(())
    })
    .await?;
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

async fn erase_all_but_the_last(site: &Site, events: &[Uuid]) -> anyhow::Result<Uuid> {
    let (last, others) = events.split_last().context("an event")?;
    for number in 1..=others.len() {
        site.erase(number as u64).await?;
    }
    Ok(*last)
}

struct AbsentReceiver {
    port: u16,
    endpoint: Value,
}

impl AbsentReceiver {
    async fn choose() -> anyhow::Result<Self> {
        let receiver = Receiver::start_at(0).await?;
        Ok(Self {
            port: url::Url::parse(&receiver.url())?.port().unwrap_or_default(),
            endpoint: receiver.endpoint("crm", &["contact.received"]),
        })
    }

    async fn appear(self) -> anyhow::Result<Receiver> {
        eventually("the port is free again", SOON, async || {
            Receiver::start_at(self.port).await.ok()
        })
        .await
    }
}

#[tokio::test]
async fn webhooks_that_wait_for_a_receiver_go_out_once_it_listens() -> anyhow::Result<()> {
    const MESSAGES: usize = 10;
    let absent = AbsentReceiver::choose().await?;
    let sending = Sending::retrying_after(NEVER, slice::from_ref(&absent.endpoint)).await?;
    let site = &sending.site;
    contact(site, MESSAGES).await?;
    // All mails are sent, so the webhooks were tried, too.
    site.until_acked(Channel::SalesLead, SOON).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;

    let receiver = absent.appear().await?;
    eventually("the first webhook", FIRST_SUCCESS, async || {
        (!receiver.received().is_empty()).then_some(())
    })
    .await?;
    eventually("the backlog drains", DRAINED, async || {
        (receiver.received().len() == MESSAGES).then_some(())
    })
    .await
}

#[tokio::test]
async fn webhooks_that_another_notifier_sent_while_they_waited_are_not_sent_again() -> anyhow::Result<()> {
    let absent = AbsentReceiver::choose().await?;
    let sending = Sending::retrying_after(NEVER, slice::from_ref(&absent.endpoint)).await?;
    let site = &sending.site;
    let mut events = Vec::new();
    for number in 0..WAITING {
        events.push(site.contact(&format!("visitor-{number}@example.org")).await?);
    }
    tokio::time::sleep(UNTIL_THEY_WAIT).await;
    for event in events {
        site.note(
            DELIVERIES_BUCKET,
            &format!("{event}.webhook-crm"),
            "2026-11-20T12:00:00Z",
        )
        .await?;
    }
    let receiver = absent.appear().await?;
    until_all_is_done(&sending.nats).await?;
    assert_eq!(receiver.received().len(), 0);
    Ok(())
}

#[tokio::test]
async fn a_webhook_whose_person_is_erased_while_it_waits_for_a_receiver_is_not_sent() -> anyhow::Result<()> {
    let absent = AbsentReceiver::choose().await?;
    let sending = Sending::retrying_after(NEVER, slice::from_ref(&absent.endpoint)).await?;
    let site = &sending.site;
    let events = contact(site, IN_HAND).await?;
    tokio::time::sleep(UNTIL_THEY_WAIT).await;
    let left = erase_all_but_the_last(site, &events).await?;
    let receiver = absent.appear().await?;
    eventually("whoever was not erased", FIRST_SUCCESS, async || {
        (!receiver.received().is_empty()).then_some(())
    })
    .await?;
    // A waiting webhook would come again after the same pause.
    tokio::time::sleep(Duration::from_secs(10)).await;
    let received: Vec<String> = receiver
        .received()
        .into_iter()
        .map(|webhook| webhook.id)
        .collect();
    assert_eq!(received, [left.to_string()]);
    assert!(sending.nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_mail_whose_person_is_erased_while_it_waits_for_the_mail_server_is_not_sent() -> anyhow::Result<()>
{
    let (nats, away) = (Nats::start().await?, Away::start().await?);
    let site = Site::on(&nats).await?;
    let _notifier = Running::start_retrying_after(NEVER, &nats, away.port, &[]).await?;
    let events = contact(&site, IN_HAND).await?;
    tokio::time::sleep(UNTIL_THEY_WAIT).await;
    erase_all_but_the_last(&site, &events).await?;
    let server = away.recover().await?;
    eventually(
        "both mails of whoever was not erased",
        FIRST_SUCCESS,
        async || (server.accepted_mails().len() >= 2).then_some(()),
    )
    .await?;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let mut mailed: Vec<String> = server
        .accepted_mails()
        .into_iter()
        .map(|mail| mail.recipient)
        .collect();
    mailed.sort();
    assert_eq!(
        mailed,
        [SALES.to_owned(), format!("visitor-{}@example.org", IN_HAND - 1)]
    );
    for event in &events[..IN_HAND - 1] {
        let record = site.delivered_at(*event, Channel::ContactAcknowledgement).await?;
        assert!(record.is_none(), "something is kept of it");
    }
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_receiver_that_fails_is_asked_by_one_webhook_at_a_time_and_gets_all_once_it_recovers()
-> anyhow::Result<()> {
    const MESSAGES: usize = 10;
    /// Long enough for growing pauses between probes.
    const OUTAGE: Duration = Duration::from_secs(8);
    /// Those in flight, then probes after at least 1, 2 and 4 s.
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
    eventually("the first webhook", FIRST_SUCCESS, async || {
        (!receiver.accepted().is_empty()).then_some(())
    })
    .await?;
    eventually("all webhooks", SOON, async || {
        (receiver.accepted().len() == MESSAGES).then_some(())
    })
    .await?;
    assert!(sending.nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_receiver_that_says_when_to_come_back_gets_all_then_and_nothing_before() -> anyhow::Result<()> {
    const MESSAGES: usize = 10;
    const ASKED_FOR: Duration = Duration::from_secs(12);
    let receiver = Receiver::start_at(0).await?;
    receiver.answer_with_retry_after(StatusCode::TOO_MANY_REQUESTS, "12");
    let endpoint = receiver.endpoint("crm", &["contact.received"]);
    let sending = Sending::retrying_after(NEVER, &[endpoint]).await?;
    let site = &sending.site;
    site.contact("first@example.org").await?;
    eventually("it is asked", SOON, async || {
        receiver.received().into_iter().next()
    })
    .await?;
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

const POISONOUS: usize = 4;

struct Picky {
    url: String,
    taken: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
    _serving: AbortOnDropHandle<std::io::Result<()>>,
}

impl Picky {
    async fn start() -> anyhow::Result<Self> {
        let (taken, refused) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counts = (taken.clone(), refused.clone());
        // One failure after another would look like an unavailable receiver.
        let all_came = Arc::new(Barrier::new(POISONOUS));
        let answer = move |body: Bytes| {
            let ((taken, refused), all_came) = (counts.clone(), all_came.clone());
            async move {
                if !String::from_utf8_lossy(&body).contains("poison-") {
                    taken.fetch_add(1, Ordering::Relaxed);
                    return StatusCode::NO_CONTENT;
                }
                if refused.fetch_add(1, Ordering::Relaxed) < POISONOUS {
                    all_came.wait().await;
                }
                StatusCode::BAD_GATEWAY
            }
        };
        let router = Router::new().route("/hooks", post(answer));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/hooks", listener.local_addr()?);
        let serving = AbortOnDropHandle::new(tokio::spawn(async { axum::serve(listener, router).await }));
        Ok(Self {
            url,
            taken,
            refused,
            _serving: serving,
        })
    }
}

#[tokio::test]
async fn events_that_a_receiver_cannot_take_hold_up_no_others() -> anyhow::Result<()> {
    const MESSAGES: usize = 8;
    let receiver = Picky::start().await?;
    let (taken, refused) = (&receiver.taken, &receiver.refused);
    let endpoint = json!({
        "name": "crm",
        "url": receiver.url,
        "secrets": [testkit::receiver::secret()],
        "events": ["contact.received"],
    });
    let sending = Sending::retrying_after(NEVER, &[endpoint]).await?;
    let site = &sending.site;
    for number in 0..POISONOUS {
        site.contact(&format!("poison-{number}@example.org")).await?;
    }
    eventually("all that cannot be taken are tried", SOON, async || {
        (refused.load(Ordering::Relaxed) >= POISONOUS).then_some(())
    })
    .await?;
    contact(site, MESSAGES).await?;
    eventually("all others", SOON, async || {
        (taken.load(Ordering::Relaxed) == MESSAGES).then_some(())
    })
    .await?;
    eventually("each failed while others were taken", SOON, async || {
        (refused.load(Ordering::Relaxed) >= 2 * POISONOUS).then_some(())
    })
    .await?;
    // Now each has its own backoff.
    let before = refused.load(Ordering::Relaxed);
    site.contact("last@example.org").await?;
    eventually("one more is not held up", FIRST_SUCCESS, async || {
        (taken.load(Ordering::Relaxed) == MESSAGES + 1).then_some(())
    })
    .await?;
    assert!(before <= 3 * POISONOUS, "asked {before} times");
    Ok(())
}
