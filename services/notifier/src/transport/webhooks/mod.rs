//! Delivers events to one endpoint and records the attempts, unless the endpoint is disabled.

mod disabling;
mod erasures;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::Context;
use site_broker::{
    Delivery, Endpoint, Failure, Outcome, Remedy, RetryPolicy,
    endpoint_state::{Attempt, EndpointState},
    endpoints::Format,
};
use site_events::{Event, EventData, EventType, event::CareersApplied};
use site_service::trace;
use time::OffsetDateTime;
use tracing::{Instrument, error_span, field::Empty};
use webhooks::{Outgoing, SendingError, WebhookSender};

use self::disabling::next_state;
use crate::{
    deliver::Notifier,
    storage::{EndpointRecords, Handover, PersonOrder},
};

/// Retry interval while an earlier event of the person is in progress.
const ORDER_PAUSE: Duration = Duration::from_millis(500);
/// Pause of an endpoint that rejects our credentials.
pub const PAUSE: Duration = Duration::from_secs(60 * 60);

pub struct Webhook {
    pub name: String,
    pub consumer: String,
    sender: WebhookSender,
    has_resumes: bool,
    /// Set if each person's events must stay in order.
    order: Option<PersonOrder>,
    notifier: Arc<Notifier>,
    endpoints: Arc<EndpointRecords>,
    erasure_pause: Duration,
}

impl Webhook {
    /// Endpoints with a recipe get each person's events in order, because the last event decides the state in a CRM.
    pub fn new(
        endpoint: &Endpoint,
        sender: WebhookSender,
        context: &Context,
        notifier: Arc<Notifier>,
        endpoints: Arc<EndpointRecords>,
        retries: RetryPolicy,
    ) -> Self {
        let by_recipe = endpoint.format == Format::Template;
        let (events, deliveries) = (&notifier.events, &notifier.deliveries);
        Self {
            name: endpoint.name.to_string(),
            consumer: endpoint.consumer(),
            sender,
            has_resumes: by_recipe && endpoint.events.contains(&CareersApplied::TYPE),
            order: by_recipe.then(|| PersonOrder::new(context, endpoint, events, deliveries)),
            notifier,
            endpoints,
            erasure_pause: erasures::pause(retries),
        }
    }

    pub async fn deliver(&self, delivery: Delivery) -> Outcome {
        // Synthetic submissions send no webhook.
        if delivery.person.is_synthetic() {
            return Outcome::Delivered;
        }
        if let Some(outcome) = self.out_of_order(&delivery).await {
            return outcome;
        }
        let send = || self.send(&delivery);
        match self.notifier.deliveries.deliver_once(&delivery, send).await {
            Ok(()) => Outcome::Delivered,
            Err(failure) => {
                let outcome = self.notifier.events.unless_erased(&delivery, failure).await;
                self.record_dead_letter(&delivery, outcome).await
            }
        }
    }

    /// The outcome if the event must wait for earlier events.
    async fn out_of_order(&self, delivery: &Delivery) -> Option<Outcome> {
        let order = self.order.as_ref()?;
        if delivery.attempt == 1 && delivery.event_type == Some(EventType::PersonErased) {
            let pause = self.erasure_pause;
            let reason = "deliveries from before the erasure may still be in progress".to_owned();
            return Some(Outcome::NotYet { reason, pause });
        }
        match order.is_next(delivery).await {
            Ok(true) => None,
            Ok(false) => Some(Outcome::NotYet {
                reason: "an earlier event of the same person is in progress".to_owned(),
                pause: ORDER_PAUSE,
            }),
            Err(unavailable) => Some(unavailable.into()),
        }
    }

    /// Records a dead letter, so that it does not block the person's later events.
    async fn record_dead_letter(&self, delivery: &Delivery, outcome: Outcome) -> Outcome {
        let is_dead_letter = match &outcome {
            Outcome::Failed(failure) => match failure.remedy {
                Remedy::DeadLetter => true,
                Remedy::Retry { .. } => delivery.is_last,
                Remedy::RetryLater { .. } => false,
            },
            _ => false,
        };
        if !is_dead_letter || self.order.is_none() {
            return outcome;
        }
        match self.notifier.deliveries.record_dead_letter(delivery).await {
            Ok(()) => outcome,
            Err(unavailable) => unavailable.into(),
        }
    }

    async fn send(&self, delivery: &Delivery) -> Result<Handover, Failure> {
        if let Some(reason) = self.endpoints.state(&self.name).await?.off {
            return Err(Failure::permanent(format!(
                "the endpoint is switched off: {reason}"
            )));
        }
        let outgoing = Outgoing {
            id: delivery.event_id,
            payload: delivery.payload().clone(),
            attempt: delivery.attempt,
            resume_link: self.resume_link(delivery).await?,
        };
        if self.notifier.events.is_erased(delivery).await? {
            return Ok(Handover::Erased);
        }
        match self.send_now(&outgoing).await {
            Ok(()) => Ok(Handover::Sent),
            Err(error) => {
                if error.is_account_refused() {
                    self.pause(&error).await;
                }
                Err(error.into())
            }
        }
    }

    /// Pauses the endpoint's consumer for an hour; the next event then probes it.
    async fn pause(&self, refusal: &SendingError) {
        tracing::error!(
            endpoint = self.name,
            %refusal,
            "a webhook endpoint refuses our credentials; it is tried once an hour, or after `sitectl webhooks resume`"
        );
        if let Err(error) = self.notifier.events.pause(&self.consumer, PAUSE).await {
            tracing::warn!(%error, "the endpoint could not be paused; its next event is sent");
        }
    }

    async fn send_now(&self, outgoing: &Outgoing) -> Result<(), SendingError> {
        let now = OffsetDateTime::now_utc();
        let (host, port) = self.sender.address();
        let span = error_span!(
            "POST",
            otel.kind = "client",
            otel.status_code = Empty,
            http.request.method = "POST",
            http.response.status_code = Empty,
            endpoint = self.name,
            server.address = host,
            server.port = port.map(i64::from),
        );
        let started = Instant::now();
        let sending = self.sender.send(outgoing, now, None);
        let sent = sending.instrument(span.clone()).await;
        let status = sent.as_ref().map_or_else(SendingError::status, |status| *status);
        span.record("http.response.status_code", status.map(i64::from));
        if sent.is_err() {
            trace::fail(&span);
        }
        let attempt = Attempt {
            time: now,
            event: outgoing.id,
            attempt: outgoing.attempt,
            status,
            milliseconds: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            error: sent.as_ref().err().map(ToString::to_string),
        };
        self.endpoints.note_attempt(&self.name, attempt);
        let sent = sent.map(drop);
        self.update_state(&sent, now).await;
        sent
    }

    /// An expiring résumé link, new for each attempt, if the recipe may use it.
    async fn resume_link(&self, delivery: &Delivery) -> Result<Option<String>, Failure> {
        if !self.has_resumes {
            return Ok(None);
        }
        let Ok(event) = serde_json::from_slice::<Event<CareersApplied>>(delivery.payload()) else {
            return Ok(None);
        };
        let Some(resume) = event.data.resume else {
            return Ok(None);
        };
        let link = self.notifier.mail_context.resume_link(&resume).await;
        link.map(Some)
            .map_err(|error| Failure::retry(format!("the link to the résumé cannot be signed: {error}")))
    }

    async fn update_state(&self, sent: &Result<(), SendingError>, now: OffsetDateTime) {
        let change = |before: &EndpointState| next_state(before, sent, now);
        match self.endpoints.change_state(&self.name, change).await {
            Ok(Some(EndpointState {
                off: Some(reason), ..
            })) => {
                tracing::error!(endpoint = self.name, reason, "a webhook endpoint was disabled");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the state of a webhook endpoint was not stored"),
        }
    }
}
