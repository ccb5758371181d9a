//! The order of each person's events at one consumer: one is next when all that came before it are delivered or given up, by
//! whichever notifier.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{Context, consumer::PullConsumer};
use serde::Deserialize;
use site_broker::{Delivery, Endpoint};
use site_events::{EventType, SITE_STREAM};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Deliveries, EventStream, Unavailable};

/// How long it holds what was read of the consumer: an older ack floor only lets more be looked at.
const FLOOR_HOLDS: Duration = Duration::from_secs(1);

/// The order of each person's events at one endpoint.
pub struct PersonOrder {
    context: Context,
    consumer: String,
    types: Vec<EventType>,
    events: EventStream,
    deliveries: Deliveries,
    /// Up to which sequence all are acknowledged, and when that was read.
    floor: Mutex<Option<(u64, Instant)>>,
}

#[derive(Deserialize)]
struct StoredEvent {
    id: Uuid,
}

impl PersonOrder {
    /// That of an endpoint's events.
    pub fn new(context: Context, endpoint: &Endpoint, events: EventStream, deliveries: Deliveries) -> Self {
        Self {
            context,
            consumer: endpoint.consumer(),
            types: endpoint.events.clone(),
            events,
            deliveries,
            floor: Mutex::default(),
        }
    }

    /// Whether nothing of the same person that came before an event is still under way.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_next(&self, delivery: &Delivery) -> Result<bool, Unavailable> {
        let floor = self.floor().await?;
        Ok(floor + 1 >= delivery.sequence || self.turn(delivery, floor).await?.is_some())
    }

    /// Whether an event that is too old waited for its turn, and was not tried for as long as any since that came.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn waited(&self, delivery: &Delivery) -> Result<bool, Unavailable> {
        let turn = self.turn(delivery, 0).await?;
        Ok(turn.is_none_or(|turn| turn + delivery.give_up_after > OffsetDateTime::now_utc()))
    }

    /// Since when an event is its person's next, by those behind this sequence; none while it is not.
    async fn turn(&self, delivery: &Delivery, behind: u64) -> Result<Option<OffsetDateTime>, Unavailable> {
        let mut turn = OffsetDateTime::UNIX_EPOCH;
        for event_type in &self.types {
            let subject = event_type.subject(&delivery.person);
            let mut from = behind + 1;
            while let Some(message) = self.events.next(&subject, from).await? {
                if message.sequence >= delivery.sequence {
                    break;
                }
                from = message.sequence + 1;
                // One that cannot be read becomes a dead letter, and holds up nothing.
                let Ok(StoredEvent { id }) = serde_json::from_slice(&message.payload) else {
                    continue;
                };
                if id == delivery.event_id {
                    continue;
                }
                match self.deliveries.done_at(id, &self.consumer, delivery).await? {
                    Some(done) => turn = turn.max(done),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(turn))
    }

    /// The sequence up to which the consumer has acknowledged all. What came before the consumer was made counts as that.
    async fn floor(&self) -> Result<u64, Unavailable> {
        let known = *self.floor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((floor, read)) = known
            && read.elapsed() < FLOOR_HOLDS
        {
            return Ok(floor);
        }
        let consumer: Result<PullConsumer, _> = self
            .context
            .get_consumer_from_stream(&self.consumer, SITE_STREAM)
            .await;
        let consumer = consumer.map_err(|error| Unavailable::new(SITE_STREAM, &error))?;
        let floor = consumer.cached_info().ack_floor.stream_sequence;
        *self.floor.lock().unwrap_or_else(PoisonError::into_inner) = Some((floor, Instant::now()));
        Ok(floor)
    }
}
