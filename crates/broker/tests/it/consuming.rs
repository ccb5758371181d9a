//! What each outcome of a delivery does to its event, on a real broker.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use async_nats::{Client, jetstream};
use site_broker::{
    Delivery, Failure, Outcome, RetryPolicy,
    consume::{ConsumerOptions, consume, ensure_consumer_exists},
};
use site_events::{Channel, EventType, SITE_STREAM, event::ContactReceived};
use site_service::drain::CancellationToken;
use testkit::{Nats, User, eventually};
use tokio::task::JoinHandle;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::readers::{REQUEST, person, publish_data};

const SOON: Duration = Duration::from_secs(45);
const CHANNEL: Channel = Channel::SalesLead;
const IN_FLIGHT: usize = 4;

async fn published(nats: &Nats) -> anyhow::Result<Uuid> {
    let message = ContactReceived {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse("zoe@example.org")?,
        message: "Two cameras.".to_owned(),
        attribution: None,
    };
    publish_data(nats, message).await
}

async fn open(nats: &Nats) -> anyhow::Result<u64> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let info = context
        .get_stream(SITE_STREAM)
        .await?
        .consumer_info(CHANNEL.name())
        .await?;
    Ok(info.num_pending + u64::try_from(info.num_ack_pending)?)
}

async fn until_acked(nats: &Nats) -> anyhow::Result<()> {
    eventually("every event is acked", SOON, async || {
        (open(nats).await.ok()? == 0).then_some(())
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
    /// `outcome` gets the delivery's number, from 1.
    async fn start(
        nats: &Nats,
        retries: RetryPolicy,
        outcome: impl Fn(usize) -> Outcome + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        Ok(Self::start_over(
            nats.client(User::Notifier).await?,
            None,
            retries,
            outcome,
        ))
    }

    /// The delivery with the stream sequence `hanging` never ends.
    fn start_over(
        client: Client,
        hanging: Option<u64>,
        retries: RetryPolicy,
        outcome: impl Fn(usize) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        let context = jetstream::new(client);
        let taken = Arc::new(Mutex::new(Vec::new()));
        let stop = CancellationToken::new();
        let (deliveries, stopped) = (taken.clone(), stop.clone());
        let task = tokio::spawn(async move {
            let options = ConsumerOptions {
                max_in_flight: IN_FLIGHT,
                retries,
            };
            let deliver = async |delivery: Delivery| {
                let hangs = Some(delivery.sequence) == hanging;
                let number = {
                    let mut taken = deliveries.lock().expect("nobody panics with it");
                    taken.push(delivery);
                    taken.len()
                };
                if hangs {
                    std::future::pending::<()>().await;
                }
                outcome(number)
            };
            consume(&context, CHANNEL.name().into(), options, deliver, stopped).await;
        });
        Self { taken, stop, task }
    }

    fn attempts(&self) -> Vec<u32> {
        let taken = self.taken.lock().expect("nobody panics with it");
        taken.iter().map(|delivery| delivery.attempt).collect()
    }

    fn sequences(&self) -> Vec<u64> {
        let taken = self.taken.lock().expect("nobody panics with it");
        taken.iter().map(|delivery| delivery.sequence).collect()
    }

    async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.task.await?)
    }
}

fn in_a_hurry(give_up_after: Duration) -> RetryPolicy {
    RetryPolicy {
        initial_backoff: Duration::from_millis(300),
        give_up_after,
    }
}

#[tokio::test]
async fn what_is_delivered_is_acked_and_handed_out_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let id = published(&nats).await?;
    let consumer = Consumer::start(&nats, RetryPolicy::DEFAULT, |_| Outcome::Delivered).await?;
    until_acked(&nats).await?;
    assert_eq!(consumer.attempts(), [1]);
    let stored = nats.messages(SITE_STREAM).await?;
    {
        let taken = consumer.taken.lock().expect("nobody panics with it");
        let delivery = &taken[0];
        assert_eq!((delivery.event_id, &delivery.person), (id, &person()?));
        assert_eq!((delivery.sequence, delivery.request_id.as_str()), (1, REQUEST));
        assert_eq!(delivery.event::<ContactReceived>()?.data.message, "Two cameras.");
        assert_eq!(delivery.payload(), &stored[0].payload);
    }
    assert!(nats.dead_letters().await?.is_empty());
    consumer.stop().await
}

#[tokio::test]
async fn what_could_not_be_delivered_comes_again_after_a_pause() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    published(&nats).await?;
    let started = std::time::Instant::now();
    let retries = in_a_hurry(Duration::from_secs(3600));
    let consumer = Consumer::start(&nats, retries, |number| match number {
        1 | 2 => Failure::retry("it is not taken now").into(),
        _ => Outcome::Delivered,
    })
    .await?;
    until_acked(&nats).await?;
    assert_eq!(consumer.attempts(), [1, 2, 3]);
    // The first pause is 300 ms, the second as long as the event is old.
    assert!(
        started.elapsed() >= Duration::from_millis(600),
        "{:?}",
        started.elapsed()
    );
    assert!(nats.dead_letters().await?.is_empty());
    consumer.stop().await
}

const BACKLOG: u64 = 3 * IN_FLIGHT as u64;

#[tokio::test]
async fn while_the_receiver_is_unavailable_the_consumer_pauses_and_then_delivers_all() -> anyhow::Result<()> {
    const OUTAGE: Duration = Duration::from_secs(8);
    let nats = Nats::start().await?;
    for _ in 0..BACKLOG {
        published(&nats).await?;
    }
    let is_back = Arc::new(AtomicBool::new(false));
    let answers = is_back.clone();
    // Far shorter than the outage, yet no event may be given up.
    let retries = in_a_hurry(Duration::from_secs(1));
    let consumer = Consumer::start(&nats, retries, move |_| match answers.load(Ordering::Relaxed) {
        true => Outcome::Delivered,
        false => Failure::retry_later("nobody answers").into(),
    })
    .await?;
    tokio::time::sleep(OUTAGE).await;
    // Those in flight at first, then probes after 1–2, 2–4 and 4–8 s.
    let asked = consumer.attempts().len();
    assert!((2..=IN_FLIGHT + 4).contains(&asked), "asked {asked} times");
    is_back.store(true, Ordering::Relaxed);
    // The current pause lasts at most twice the outage.
    until_acked(&nats).await?;
    let delivered: BTreeSet<u64> = consumer.sequences().into_iter().collect();
    assert_eq!(delivered.len() as u64, BACKLOG);
    assert!(nats.dead_letters().await?.is_empty());
    consumer.stop().await
}

#[tokio::test]
async fn events_that_the_receiver_never_takes_hold_up_no_others_and_are_given_up() -> anyhow::Result<()> {
    const POISON: u64 = IN_FLIGHT as u64;
    let nats = Nats::start().await?;
    let client = nats.client(User::Notifier).await?;
    let context = jetstream::new(client);
    let (stop, taken) = (CancellationToken::new(), Arc::new(Mutex::new(BTreeSet::new())));
    let (stopped, noted) = (stop.clone(), taken.clone());
    let task = tokio::spawn(async move {
        let options = ConsumerOptions {
            max_in_flight: IN_FLIGHT,
            retries: in_a_hurry(Duration::from_secs(2)),
        };
        let deliver = async |delivery: Delivery| {
            if delivery.sequence <= POISON {
                return Failure::retry_later("an answer of 500").into();
            }
            noted
                .lock()
                .expect("nobody panics with it")
                .insert(delivery.sequence);
            Outcome::Delivered
        };
        consume(&context, CHANNEL.name().into(), options, deliver, stopped).await;
    });
    for _ in 0..BACKLOG {
        published(&nats).await?;
    }
    eventually("all others", SOON, async || {
        let taken = taken.lock().expect("nobody panics with it");
        (taken.len() as u64 == BACKLOG - POISON).then_some(())
    })
    .await?;
    // Others succeed meanwhile, so these events are at fault.
    eventually("the first are given up", 2 * SOON, async || {
        published(&nats).await.ok()?;
        (nats.dead_letters().await.ok()?.len() as u64 == POISON).then_some(())
    })
    .await?;
    stop.cancel();
    Ok(task.await?)
}

#[tokio::test]
async fn what_is_too_old_after_its_attempts_is_a_dead_letter_with_its_reason() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let id = published(&nats).await?;
    let retries = in_a_hurry(Duration::from_secs(1));
    let consumer = Consumer::start(&nats, retries, |_| Failure::retry("away\nfor good").into()).await?;
    until_acked(&nats).await?;
    let letters = nats.dead_letters().await?;
    let [letter] = &letters[..] else {
        anyhow::bail!("{} dead letters", letters.len());
    };
    let attempts = consumer.attempts();
    assert!(attempts.len() > 1, "it was given up at once");
    let headers = letter.headers.clone();
    let header = |name: &str| headers.get(name).map(ToString::to_string);
    assert_eq!(header("Dead-Letter-Error").as_deref(), Some("away for good"));
    assert_eq!(header("Dead-Letter-Attempts"), Some(attempts.len().to_string()));
    assert!(header("Dead-Letter-Time").is_some());
    assert_eq!(header("Nats-Msg-Id"), Some(format!("{id}.{}", CHANNEL.name())));
    assert_eq!(
        letter.subject.as_str(),
        format!("dead.{}.{}", CHANNEL.name(), person()?)
    );
    assert_eq!(letter.payload, nats.messages(SITE_STREAM).await?[0].payload);
    consumer.stop().await
}

#[tokio::test]
async fn what_is_too_old_before_its_first_attempt_is_tried_as_often_as_any() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    published(&nats).await?;
    let give_up_after = Duration::from_secs(1);
    // No consumer runs until the event is too old.
    tokio::time::sleep(give_up_after + Duration::from_millis(200)).await;
    let retries = in_a_hurry(give_up_after);
    let late = Consumer::start(&nats, retries, |_| Failure::retry("away").into()).await?;
    until_acked(&nats).await?;
    assert_eq!(late.attempts(), [1, 2, 3]);
    assert_eq!(nats.dead_letters().await?.len(), 1);
    late.stop().await?;

    published(&nats).await?;
    tokio::time::sleep(give_up_after + Duration::from_millis(200)).await;
    let recovering = Consumer::start(&nats, retries, |number| match number {
        1 => Failure::retry("away").into(),
        _ => Outcome::Delivered,
    })
    .await?;
    until_acked(&nats).await?;
    assert_eq!(recovering.attempts(), [1, 2]);
    assert_eq!(nats.dead_letters().await?.len(), 1, "no other became one");
    recovering.stop().await
}

#[tokio::test]
async fn what_is_refused_or_is_no_event_is_a_dead_letter_at_once() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    published(&nats).await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    let no_event = format!("{}.{}", EventType::ContactReceived.subject_prefix(), person()?);
    context.publish(no_event, "Asha Rao".into()).await?.await?;
    let consumer = Consumer::start(&nats, RetryPolicy::DEFAULT, |_| Failure::permanent("no").into()).await?;
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
async fn a_pull_that_the_broker_ends_is_begun_anew_while_a_delivery_hangs() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    published(&nats).await?;
    let client = nats.client(User::Notifier).await?;
    let consumer = Consumer::start_over(client, Some(1), RetryPolicy::DEFAULT, |_| Outcome::Delivered);
    eventually("the first event is under way", SOON, async || {
        (consumer.sequences() == [1]).then_some(())
    })
    .await?;

    // The broker ends the pull: "409 Consumer Deleted".
    let site = jetstream::new(nats.client(User::Operator).await?)
        .get_stream(SITE_STREAM)
        .await?;
    let deleted = site.consumer_info(CHANNEL.name()).await?;
    site.delete_consumer(CHANNEL.name()).await?;
    published(&nats).await?;
    site.create_consumer(deleted.config).await?;
    eventually("the second event is delivered", SOON, async || {
        consumer.sequences().contains(&2).then_some(())
    })
    .await?;
    assert!(!consumer.task.is_finished());
    consumer.task.abort();
    Ok(())
}

async fn leader(nats: &Nats) -> anyhow::Result<usize> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let site = context.get_stream(SITE_STREAM).await?;
    eventually("a leader of the consumer", SOON, async || {
        let cluster = site.consumer_info(CHANNEL.name()).await.ok()?.cluster?;
        nats.number_of(&cluster.leader?)
    })
    .await
}

async fn requests(nats: &Nats) -> anyhow::Result<usize> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let site = context.get_stream(SITE_STREAM).await?;
    Ok(site.consumer_info(CHANNEL.name()).await?.num_waiting)
}

#[tokio::test]
async fn what_comes_while_one_of_two_stops_is_handed_to_the_other_before_the_ack_wait() -> anyhow::Result<()>
{
    let nats = Nats::start_cluster().await?;
    let elsewhere = (leader(&nats).await? + 1) % nats.servers.len();
    let start = async || {
        let client = nats.client_of(elsewhere, User::Notifier).await?;
        anyhow::Ok(Consumer::start_over(client, None, RetryPolicy::DEFAULT, |_| {
            Outcome::Delivered
        }))
    };
    let stopping = start().await?;
    eventually("its request is there", SOON, async || {
        (requests(&nats).await.ok()? > 0).then_some(())
    })
    .await?;
    stopping.stop.cancel();
    published(&nats).await?;
    let other = start().await?;
    eventually("the other takes it", SOON, async || {
        (other.sequences() == [1]).then_some(())
    })
    .await?;
    assert!(stopping.sequences().is_empty(), "it takes nothing new");
    stopping.task.await.context("it stops")?;
    other.stop().await
}

#[tokio::test]
async fn what_came_and_was_not_begun_when_it_stopped_is_handed_out_again_before_the_ack_wait()
-> anyhow::Result<()> {
    let nats = Nats::start().await?;
    for _ in 0..IN_FLIGHT {
        published(&nats).await?;
    }
    let client = nats.client(User::Notifier).await?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let options = ConsumerOptions {
        max_in_flight: IN_FLIGHT,
        retries: RetryPolicy::DEFAULT,
    };
    let deliver = async |_| {
        stop.cancel();
        Outcome::Delivered
    };
    consume(
        &jetstream::new(client),
        CHANNEL.name().into(),
        options,
        deliver,
        stopped,
    )
    .await;

    let other = Consumer::start(&nats, RetryPolicy::DEFAULT, |_| Outcome::Delivered).await?;
    until_acked(&nats).await?;
    other.stop().await
}

#[tokio::test]
async fn a_consumer_that_is_missing_is_one_sentence() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    ensure_consumer_exists(&context, CHANNEL.name()).await?;
    let missing = ensure_consumer_exists(&context, "nobody")
        .await
        .expect_err("there is none");
    let said = missing.to_string();
    assert!(
        said.starts_with("the consumer nobody cannot be opened ("),
        "{said}"
    );
    assert!(said.ends_with("); run `sitectl setup`"), "{said}");
    Ok(())
}
