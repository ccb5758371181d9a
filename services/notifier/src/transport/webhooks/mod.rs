//! An endpoint's events: each is sent as the endpoint wants it, and remembered, unless the endpoint was switched off.

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
    storage::{EndpointRecords, Handover, PersonOrder, Repeat},
};

/// How long an event is left alone while an earlier one of the same person is under way.
const ORDER_PAUSE: Duration = Duration::from_millis(500);
/// How long an endpoint that refuses our credentials is left alone.
pub const HOLD: Duration = Duration::from_secs(60 * 60);

/// One endpoint, and what its deliveries work with.
pub struct Webhook {
    pub name: String,
    pub consumer: String,
    sender: WebhookSender,
    has_resumes: bool,
    /// Where each person's events go in the order in which they came.
    order: Option<PersonOrder>,
    notifier: Arc<Notifier>,
    endpoints: Arc<EndpointRecords>,
    erasure_pause: Duration,
}

impl Webhook {
    /// What an endpoint gets, by its sender. By a recipe each person's events go in the order in which they came: what it writes
    /// into a CRM is a state, which the last one decides.
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

    /// One attempt at one event.
    pub async fn deliver(&self, delivery: Delivery) -> Outcome {
        // The form of a check is no lead.
        if delivery.person.is_synthetic() {
            return Outcome::Delivered;
        }
        if let Some(outcome) = self.out_of_order(&delivery).await {
            return outcome;
        }
        let send = || self.send(&delivery);
        match self
            .notifier
            .deliveries
            .deliver_once(&delivery, Repeat::Never, send)
            .await
        {
            Ok(()) => Outcome::Delivered,
            Err(failure) => {
                let outcome = self.notifier.events.unless_erased(&delivery, failure).await;
                self.note_given_up(&delivery, outcome).await
            }
        }
    }

    /// What becomes of an event that is not its person's next.
    async fn out_of_order(&self, delivery: &Delivery) -> Option<Outcome> {
        let order = self.order.as_ref()?;
        if delivery.attempt == 1 && delivery.event_type == Some(EventType::PersonErased) {
            let pause = self.erasure_pause;
            let reason = "what was begun before the person was erased may still be under way".to_owned();
            return Some(Outcome::NotYet { reason, pause });
        }
        match order.is_next(delivery).await {
            Ok(true) => None,
            Ok(false) => Some(Outcome::NotYet {
                reason: "an earlier event of the same person is under way".to_owned(),
                pause: ORDER_PAUSE,
            }),
            Err(unavailable) => Some(unavailable.into()),
        }
    }

    /// Later events of the person wait no longer for one that is given up.
    async fn note_given_up(&self, delivery: &Delivery, outcome: Outcome) -> Outcome {
        let is_given_up = match &outcome {
            Outcome::Failed(failure) => match failure.remedy {
                Remedy::DeadLetter => true,
                Remedy::Retry { .. } => delivery.is_last,
                Remedy::RetryLater { .. } => false,
            },
            _ => false,
        };
        if !is_given_up || self.order.is_none() {
            return outcome;
        }
        match self.notifier.deliveries.record_given_up(delivery).await {
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
        if self.notifier.events.is_erased_meanwhile(delivery).await? {
            return Ok(Handover::Erased);
        }
        match self.send_now(&outgoing).await {
            Ok(()) => Ok(Handover::Sent),
            Err(error) => {
                if error.is_account_refused() {
                    self.hold(&error).await;
                }
                Err(error.into())
            }
        }
    }

    /// Has the broker hand out none of the endpoint's events for an hour; then one asks again.
    async fn hold(&self, refusal: &SendingError) {
        tracing::error!(
            endpoint = self.name,
            %refusal,
            "an endpoint of webhooks refuses our credentials; it is asked once an hour, or after `sitectl webhooks resume`"
        );
        if let Err(error) = self.notifier.events.hold(&self.consumer, HOLD).await {
            tracing::warn!(%error, "the endpoint is not held; its next event is sent");
        }
    }

    /// Sends it, and notes what that says of the endpoint.
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

    /// A link to the event's résumé, made anew for each attempt, where its recipe may want one.
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

    /// Updates the endpoint's state: records since when it fails, and switches it off when it asks for that or has failed
    /// for too long.
    async fn update_state(&self, sent: &Result<(), SendingError>, now: OffsetDateTime) {
        let change = |before: &EndpointState| next_state(before, sent, now);
        match self.endpoints.change_state(&self.name, change).await {
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
