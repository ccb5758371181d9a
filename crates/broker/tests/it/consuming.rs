//! Effect of each delivery outcome on the event, on a real broker.

use std::{
    collections::BTreeSet,
    future::{Future, pending, ready},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::jetstream;
use site_broker::{Delivery, Failure, Outcome, RetryPolicy, consume::consume};
use site_events::{Channel, EventType, SITE_STREAM, event::ContactReceived};
use site_service::drain::CancellationToken;
use testkit::{Nats, User, eventually};
use tokio::task::JoinHandle;

use crate::support::{REQUEST, SOON, operator, person, publish};

const CHANNEL: Channel = Channel::SalesLead;
const IN_FLIGHT: usize = 4;
const BACKLOG: usize = 3 * IN_FLIGHT;

async fn until_acked(nats: &Nats) -> anyhow::Result<()> {
    let site = operator(nats).await?.get_stream(SITE_STREAM).await?;
    eventually("every event is acked", SOON, async || {
        let info = site.consumer_info(CHANNEL.name()).await.ok()?;
        (info.num_pending == 0 && info.num_ack_pending == 0).then_some(())
    })
    .await
}

/// Running consumer and the deliveries it received.
struct Consumer {
    taken: Arc<Mutex<Vec<Delivery>>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Consumer {
    async fn start<F, Fut>(nats: &Nats, retries: RetryPolicy, deliver: F) -> anyhow::Result<Self>
    where
        F: Fn(Delivery) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        Self::start_until(CancellationToken::new(), nats, retries, deliver).await
    }

    async fn start_until<F, Fut>(
        stop: CancellationToken,
        nats: &Nats,
        retries: RetryPolicy,
        deliver: F,
    ) -> anyhow::Result<Self>
    where
        F: Fn(Delivery) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let context = jetstream::new(nats.client(User::Notifier).await?);
        let taken = Arc::<Mutex<Vec<Delivery>>>::default();
        let (deliveries, stopped) = (taken.clone(), stop.clone());
        let task = tokio::spawn(async move {
            let deliver = move |delivery: Delivery| {
                lock(&deliveries).push(delivery.clone());
                deliver(delivery)
            };
            let channel = CHANNEL.name().into();
            consume(&context, channel, IN_FLIGHT, retries, deliver, stopped).await;
        });
        Ok(Self { taken, stop, task })
    }

    fn attempts(&self) -> Vec<u32> {
        lock(&self.taken)
            .iter()
            .map(|delivery| delivery.attempt)
            .collect()
    }

    fn sequences(&self) -> BTreeSet<u64> {
        lock(&self.taken)
            .iter()
            .map(|delivery| delivery.sequence)
            .collect()
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.task.await?)
    }
}

fn lock(taken: &Mutex<Vec<Delivery>>) -> MutexGuard<'_, Vec<Delivery>> {
    taken.lock().expect("nobody panics with it")
}

fn in_a_hurry(give_up_after: Duration) -> RetryPolicy {
    RetryPolicy {
        initial_backoff: Duration::from_millis(300),
        give_up_after,
    }
}

fn retried(reason: &str) -> Outcome {
    Failure::retry(reason).into()
}

fn unavailable(reason: &str) -> Outcome {
    Failure::retry_later(reason).into()
}

#[tokio::test]
async fn a_delivered_event_is_acked_and_handed_out_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish(&nats).await?;
    let consumer = Consumer::start(&nats, RetryPolicy::DEFAULT, |_| ready(Outcome::Delivered)).await?;
    until_acked(&nats).await?;
    assert_eq!(consumer.attempts(), [1]);
    let delivery = lock(&consumer.taken)[0].clone();
    assert_eq!(delivery.payload(), &nats.messages(SITE_STREAM).await?[0].payload);
    let event = delivery.event::<ContactReceived>()?;
    assert_eq!((delivery.event_id, &delivery.person), (event.id, &person()?));
    assert_eq!((delivery.sequence, delivery.request_id.as_str()), (1, REQUEST));
    assert_eq!(event.data.message, "Two cameras.");
    assert!(nats.dead_letters().await?.is_empty());
    consumer.stop().await
}

#[tokio::test]
async fn a_failed_event_is_retried_after_a_pause() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish(&nats).await?;
    let started = Instant::now();
    let consumer = Consumer::start(&nats, in_a_hurry(Duration::from_secs(3600)), |delivery| {
        ready(match delivery.attempt {
            1 | 2 => retried("it is not taken now"),
            _ => Outcome::Delivered,
        })
    })
    .await?;
    until_acked(&nats).await?;
    assert_eq!(consumer.attempts(), [1, 2, 3]);
    // The first pause is 300 ms; the second equals the event's age.
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_millis(600), "{elapsed:?}");
    assert!(nats.dead_letters().await?.is_empty());
    consumer.stop().await
}

#[tokio::test]
async fn a_consumer_pauses_while_its_receiver_is_unavailable() -> anyhow::Result<()> {
    const OUTAGE: Duration = Duration::from_secs(8);
    let nats = Nats::start().await?;
    for _ in 0..BACKLOG {
        publish(&nats).await?;
    }
    let is_back = Arc::new(AtomicBool::new(false));
    let answers = is_back.clone();
    // Events must survive the outage, although it exceeds this age limit.
    let retries = in_a_hurry(Duration::from_secs(1));
    let consumer = Consumer::start(&nats, retries, move |_| {
        ready(match answers.load(Ordering::Relaxed) {
            true => Outcome::Delivered,
            false => unavailable("nobody answers"),
        })
    })
    .await?;
    tokio::time::sleep(OUTAGE).await;
    // Expected: the first events in flight, then probes after 1–2, 2–4 and 4–8 s.
    let asked = consumer.attempts().len();
    assert!((2..=IN_FLIGHT + 4).contains(&asked), "asked {asked} times");
    is_back.store(true, Ordering::Relaxed);
    // The current pause lasts at most twice the outage.
    until_acked(&nats).await?;
    assert_eq!(consumer.sequences().len(), BACKLOG);
    assert!(nats.dead_letters().await?.is_empty());
    consumer.stop().await
}

#[tokio::test]
async fn poison_events_block_no_others_and_are_dead_lettered() -> anyhow::Result<()> {
    const POISON: usize = IN_FLIGHT;
    let nats = Nats::start().await?;
    let consumer = Consumer::start(&nats, in_a_hurry(Duration::from_secs(2)), |delivery| {
        ready(match delivery.sequence <= POISON as u64 {
            true => unavailable("an answer of 500"),
            false => Outcome::Delivered,
        })
    })
    .await?;
    for _ in 0..BACKLOG {
        publish(&nats).await?;
    }
    eventually("all others", SOON, async || {
        (consumer.sequences().len() == BACKLOG).then_some(())
    })
    .await?;
    // Other events succeed meanwhile, so the poison events are at fault.
    eventually("the first are given up", 2 * SOON, async || {
        publish(&nats).await.ok()?;
        (nats.dead_letters().await.ok()?.len() == POISON).then_some(())
    })
    .await?;
    consumer.stop().await
}

#[tokio::test]
async fn an_expired_event_is_dead_lettered_with_its_reason() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish(&nats).await?;
    let retries = in_a_hurry(Duration::from_secs(1));
    let consumer = Consumer::start(&nats, retries, |_| ready(retried("away\nfor good"))).await?;
    until_acked(&nats).await?;
    let letters = nats.dead_letters().await?;
    let [letter] = &letters[..] else {
        anyhow::bail!("{} dead letters", letters.len());
    };
    let attempts = consumer.attempts();
    assert!(attempts.len() > 1, "it was given up at once");
    let id = lock(&consumer.taken)[0].event_id;
    let header = |name: &str| letter.headers.get(name).map(ToString::to_string);
    assert_eq!(header("Dead-Letter-Error").as_deref(), Some("away for good"));
    assert_eq!(header("Dead-Letter-Attempts"), Some(attempts.len().to_string()));
    assert!(header("Dead-Letter-Time").is_some());
    assert_eq!(header("Nats-Msg-Id"), Some(format!("{id}.{}", CHANNEL.name())));
    let subject = format!("dead.{}.{}", CHANNEL.name(), person()?);
    assert_eq!(letter.subject.as_str(), subject);
    assert_eq!(letter.payload, nats.messages(SITE_STREAM).await?[0].payload);
    consumer.stop().await
}

#[tokio::test]
async fn refused_and_unreadable_events_are_dead_lettered_at_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish(&nats).await?;
    let no_event = EventType::ContactReceived.subject(&person()?);
    let operator = operator(&nats).await?;
    operator.publish(no_event, "Asha Rao".into()).await?.await?;
    let refused = |_| ready(Outcome::from(Failure::permanent("no")));
    let consumer = Consumer::start(&nats, RetryPolicy::DEFAULT, refused).await?;
    until_acked(&nats).await?;
    assert_eq!(consumer.attempts(), [1]);
    let letters = nats.dead_letters().await?;
    let mut reasons: Vec<String> = letters
        .iter()
        .filter_map(|letter| Some(letter.headers.get("Dead-Letter-Error")?.to_string()))
        .collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["no", "not an event: unreadable at line 1, column 1"]);
    consumer.stop().await
}

#[tokio::test]
async fn an_ended_pull_is_repeated_while_a_delivery_hangs() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    publish(&nats).await?;
    let consumer = Consumer::start(&nats, RetryPolicy::DEFAULT, |delivery| async move {
        if delivery.sequence == 1 {
            pending::<()>().await;
        }
        Outcome::Delivered
    })
    .await?;
    eventually("the first event is under way", SOON, async || {
        consumer.sequences().contains(&1).then_some(())
    })
    .await?;

    // The broker ends the pull: "409 Consumer Deleted".
    let site = operator(&nats).await?.get_stream(SITE_STREAM).await?;
    let deleted = site.consumer_info(CHANNEL.name()).await?;
    site.delete_consumer(CHANNEL.name()).await?;
    publish(&nats).await?;
    site.create_consumer(deleted.config).await?;
    eventually("the second event is delivered", SOON, async || {
        consumer.sequences().contains(&2).then_some(())
    })
    .await?;
    assert!(!consumer.task.is_finished());
    consumer.task.abort();
    Ok(())
}

#[tokio::test]
async fn a_stop_returns_unstarted_events_at_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    for _ in 0..IN_FLIGHT {
        publish(&nats).await?;
    }
    let stop = CancellationToken::new();
    let stops = stop.clone();
    let stopping = Consumer::start_until(stop, &nats, RetryPolicy::DEFAULT, move |_| {
        stops.cancel();
        ready(Outcome::Delivered)
    })
    .await?;
    stopping.task.await?;

    let other = Consumer::start(&nats, RetryPolicy::DEFAULT, |_| ready(Outcome::Delivered)).await?;
    until_acked(&nats).await?;
    other.stop().await
}
