//! An endpoint's events: each is signed, sent, and remembered, unless the endpoint was
//! switched off.

mod addresses;
mod disabling;
#[cfg(test)]
mod fuzz;
mod sending;
mod slack;

use std::{sync::Arc, time::Duration};

use opentelemetry::{KeyValue, trace::SpanKind};
use site_broker::{
    CircuitBreaker, Delivery, Endpoint, GivenBack, Outcome, Pause,
    endpoints::{EndpointState, Format},
};
use site_service::trace::Span;
use time::OffsetDateTime;

pub use addresses::PrivateAddresses;
pub use sending::{REQUEST_TIMEOUT, WebhookClient, WebhookSender};

use self::{
    disabling::next_state,
    sending::{Body, SendingError},
};
use crate::storage::{Deliveries, EndpointStates, EventStream, Handover, Unavailable, Unsent};

/// One endpoint, and what its deliveries work with.
pub struct Webhook {
    sender: WebhookSender,
    breaker: CircuitBreaker,
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
    GivenBack(#[from] GivenBack),
    #[error("{error}")]
    Away { error: SendingError, pause: Duration },
    #[error(transparent)]
    Sending(#[from] SendingError),
}

impl From<WebhookError> for Outcome {
    fn from(error: WebhookError) -> Self {
        let reason = error.to_string();
        match error {
            WebhookError::Store(error) => Self::Retry(reason, error.pause()),
            WebhookError::GivenBack(given_back) => given_back.into(),
            WebhookError::Away { pause, .. } => Self::Retry(reason, Pause::Just(pause)),
            WebhookError::Sending(SendingError::Later { after, .. }) => {
                Self::Retry(reason, Pause::AtLeast(after))
            }
            WebhookError::Sending(error) if !error.is_final() => Self::Retry(reason, Pause::Backoff),
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
            breaker: CircuitBreaker::new(endpoint.consumer()),
            format: endpoint.format,
            name: endpoint.name.to_string(),
            states,
            deliveries,
            events,
        }
    }

    /// One attempt at one event.
    pub async fn deliver(&self, delivery: Delivery) -> Outcome {
        // The form of a check is no lead.
        if delivery.person.is_synthetic() {
            return Outcome::Delivered;
        }
        let send = |unsent| self.send(&delivery, unsent);
        match self.deliveries.deliver_once(&delivery, send).await {
            Ok(_) => Outcome::Delivered,
            Err(error) => self.events.unless_erased(&delivery, error.into()).await,
        }
    }

    async fn send(&self, delivery: &Delivery, unsent: Unsent<'_>) -> Result<Handover, WebhookError> {
        let body = self.body(delivery)?;
        let mut call = loop {
            // It may be switched off while this waits.
            if let Some(reason) = self.states.of_when_there(&self.name, delivery).await?.off {
                return Err(WebhookError::Off(reason));
            }
            match self.breaker.try_call(&delivery.key()) {
                Some(call) => break call,
                None => self.breaker.wait(delivery).await?,
            }
        };
        if !unsent.is_still().await? {
            return Ok(Handover::Before);
        }
        let Err(error) = self.send_now(delivery, body).await else {
            call.answered();
            return Ok(Handover::Sent);
        };
        let Some(away) = error.away() else {
            call.answered();
            return Err(error.into());
        };
        match call.failed(away, &error) {
            Some(pause) => Err(WebhookError::Away { error, pause }),
            None => Err(error.into()),
        }
    }

    /// Sends it, and notes what that says of the endpoint.
    async fn send_now(&self, delivery: &Delivery, body: Body) -> Result<(), SendingError> {
        let now = OffsetDateTime::now_utc();
        let (host, port) = self.sender.address();
        let span = Span::within_current(SpanKind::Client, || {
            let mut attributes = vec![
                KeyValue::new("http.request.method", "POST"),
                KeyValue::new("endpoint", self.name.clone()),
            ];
            attributes.extend(host.map(|host| KeyValue::new("server.address", host.to_owned())));
            attributes.extend(port.map(|port| KeyValue::new("server.port", i64::from(port))));
            ("POST".into(), attributes)
        });
        let sending = self.sender.send(delivery.event_id, now, body);
        let sent = span.instrument(sending).await;
        if sent.is_err() {
            span.fail();
        }
        self.update_state(&sent, now).await;
        sent
    }

    fn body(&self, delivery: &Delivery) -> Result<Body, serde_json::Error> {
        match self.format {
            Format::CloudEvents => Ok(Body::cloud_event(delivery.payload().clone())),
            Format::Slack => slack::message(delivery.payload()).map(Body::json),
        }
    }

    /// Updates the endpoint's state: records since when it fails, and switches it off when it asks for that or has failed
    /// for too long.
    async fn update_state(&self, sent: &Result<(), SendingError>, now: OffsetDateTime) {
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
