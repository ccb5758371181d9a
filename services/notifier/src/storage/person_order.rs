//! The order of each person's events at one consumer: one is next when all that came before it are delivered or given up, by
//! whichever notifier.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_nats::jetstream::{Context, consumer::PullConsumer};
use serde::Deserialize;
use site_broker::{Delivery, Endpoint, Failure};
use site_events::{EventType, SITE_STREAM};
use uuid::Uuid;

use super::{Deliveries, EventStream};

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
    pub async fn is_next(&self, delivery: &Delivery) -> Result<bool, Failure> {
        let floor = self.floor().await?;
        Ok(floor + 1 >= delivery.sequence || !self.any_open_before(delivery, floor).await?)
    }

    /// Whether one of the same person's events that came before one, after this sequence, is still under way.
    async fn any_open_before(&self, delivery: &Delivery, after: u64) -> Result<bool, Failure> {
        for event_type in &self.types {
            let subject = event_type.subject(&delivery.person);
            let mut from = after + 1;
            while let Some(message) = self.events.next(&subject, from).await? {
                if message.sequence >= delivery.sequence {
                    break;
                }
                from = message.sequence + 1;
                // One that cannot be read becomes a dead letter, and holds up nothing.
                let Ok(StoredEvent { id }) = serde_json::from_slice(&message.payload) else {
                    continue;
                };
                if id != delivery.event_id && !self.deliveries.is_done(id, &self.consumer).await? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The sequence up to which the consumer has acknowledged all. What came before the consumer was made counts as that.
    async fn floor(&self) -> Result<u64, Failure> {
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
        let consumer = consumer.map_err(|error| Failure::of_store(SITE_STREAM, error))?;
        let floor = consumer.cached_info().ack_floor.stream_sequence;
        *self.floor.lock().unwrap_or_else(PoisonError::into_inner) = Some((floor, Instant::now()));
        Ok(floor)
    }
}
