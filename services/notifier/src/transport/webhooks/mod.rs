//! An endpoint's events: each is signed, sent, and remembered, unless the endpoint was
//! switched off.

mod addresses;
mod circuit;
mod sending;
mod slack;

use std::sync::Arc;

use site_broker::{
    Delivery, Endpoint, Outcome,
    endpoints::{EndpointState, Format},
};
use time::OffsetDateTime;
use tracing::{Instrument, field};

pub use addresses::PrivateAddresses;
pub use sending::{WebhookClient, WebhookSender};

use self::{
    circuit::next_state,
    sending::{Body, SendingError},
};
use crate::storage::{Deliveries, EndpointStates, EventStream, Unavailable};

/// One endpoint, and what its deliveries work with.
pub struct Webhook {
    sender: WebhookSender,
    format: Format,
    name: String,
    states: Arc<EndpointStates>,
    deliveries: Deliveries,
    events: EventStream,
}

/// Why an event was not delivered.
#[derive(Debug, thiserror::Error)]
enum WebhookError {
    #[error(transparent)]
    Store(#[from] Unavailable),
    #[error("the endpoint is switched off: {0}")]
    Off(String),
    #[error("the event cannot be read: it is not what its type says (line {}, column {})", .0.line(), .0.column())]
    Event(#[from] serde_json::Error),
    #[error(transparent)]
    Sending(#[from] SendingError),
}

impl From<WebhookError> for Outcome {
    fn from(error: WebhookError) -> Self {
        let reason = error.to_string();
        match error {
            WebhookError::Store(_) => Self::Retry(reason),
            WebhookError::Sending(SendingError::Later { after, .. }) => Self::RetryAfter(reason, after),
            WebhookError::Sending(error) if !error.is_final() => Self::Retry(reason),
            WebhookError::Off(_) | WebhookError::Event(_) | WebhookError::Sending(_) => Self::Refused(reason),
        }
    }
}

impl Webhook {
    /// What an endpoint gets, by its sender.
    pub fn new(
        endpoint: &Endpoint,
        sender: WebhookSender,
        states: Arc<EndpointStates>,
        deliveries: Deliveries,
        events: EventStream,
    ) -> Self {
        Self {
            sender,
            format: endpoint.format,
            name: endpoint.name.to_string(),
            states,
            deliveries,
            events,
        }
    }

    /// One attempt at one event.
    pub async fn deliver(&self, delivery: Delivery) -> Outcome {
        match self
            .deliveries
            .deliver_once(&delivery, self.send(&delivery))
            .await
        {
            Ok(()) => Outcome::Delivered,
            Err(error) => self.events.unless_erased(&delivery, error.into()).await,
        }
    }

    async fn send(&self, delivery: &Delivery) -> Result<(), WebhookError> {
        let state = self.states.of(&self.name).await?;
        if let Some(reason) = &state.off {
            return Err(WebhookError::Off(reason.clone()));
        }
        let now = OffsetDateTime::now_utc();
        let body = self.body(delivery)?;
        let (host, port) = self.sender.address();
        let sending = tracing::info_span!(
            "send webhook",
            otel.name = "POST",
            otel.kind = "client",
            otel.status_code = field::Empty,
            http.request.method = "POST",
            http.response.status_code = field::Empty,
            server.address = host,
            server.port = port,
            endpoint = self.name,
        );
        let sent = self
            .sender
            .send(delivery.event_id, now, body)
            .instrument(sending.clone())
            .await;
        if sent.is_err() {
            sending.record("otel.status_code", "ERROR");
        }
        self.update_circuit(&sent, now).await;
        Ok(sent?)
    }

    fn body(&self, delivery: &Delivery) -> Result<Body, serde_json::Error> {
        match self.format {
            Format::CloudEvents => Ok(Body::cloud_event(delivery.payload().clone())),
            Format::Slack => slack::message(delivery.payload()).map(Body::json),
        }
    }

    /// Updates the circuit: records since when the endpoint fails, and switches it off when it asks for that or
    /// has failed for too long.
    async fn update_circuit(&self, sent: &Result<(), SendingError>, now: OffsetDateTime) {
        let changed = self
            .states
            .change(&self.name, |before| next_state(before, sent, now));
        match changed.await {
            Ok(Some(EndpointState {
                off: Some(reason), ..
            })) => {
                tracing::error!(
                    endpoint = self.name,
                    reason,
                    "an endpoint of webhooks was switched off"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "how an endpoint fares was not noted"),
        }
    }
}
