//! An endpoint's events: each is sent as the endpoint wants it, and remembered, unless the endpoint was switched off.

mod disabling;
mod erasures;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::Context;
use opentelemetry::{KeyValue, trace::SpanKind};
use site_broker::{
    CircuitBreaker, Delivery, Endpoint, GivenBack, Outcome, Pause,
    endpoint_state::{Attempt, EndpointState},
    endpoints::Format,
};
use site_events::{Event, EventData, event::CareersApplied};
use site_service::trace::Span;
use time::OffsetDateTime;
use webhooks::{Outgoing, SendingError, WebhookSender};

use self::disabling::next_state;
use crate::{
    mail::MailContext,
    storage::{AttemptLog, Deliveries, EndpointStates, EventStream, Handover, PersonOrder, Unavailable},
};

/// How long an event is left alone while an earlier one of the same person is under way.
const ORDER_PAUSE: Duration = Duration::from_millis(500);

/// What every endpoint's deliveries work with.
#[derive(Clone)]
pub struct WebhookStores {
    pub states: Arc<EndpointStates>,
    pub attempts: Arc<AttemptLog>,
    pub deliveries: Deliveries,
    pub events: EventStream,
    pub mail_context: Arc<MailContext>,
}

impl WebhookStores {
    /// Opens those that are for endpoints alone, beside these.
    ///
    /// # Errors
    ///
    /// If one is not there, or the broker does not answer.
    pub async fn open(
        context: &Context,
        deliveries: &Deliveries,
        events: &EventStream,
        mail_context: &Arc<MailContext>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            states: Arc::new(EndpointStates::open(context).await?),
            attempts: Arc::new(AttemptLog::open(context).await?),
            deliveries: deliveries.clone(),
            events: events.clone(),
            mail_context: mail_context.clone(),
        })
    }
}

/// One endpoint, and what its deliveries work with.
pub struct Webhook {
    sender: WebhookSender,
    breaker: CircuitBreaker,
    name: String,
    has_resumes: bool,
    /// Where each person's events go in the order in which they came.
    order: Option<PersonOrder>,
    stores: WebhookStores,
}

/// Why an event was not delivered.
#[derive(Debug, thiserror::Error)]
enum WebhookError {
    #[error(transparent)]
    Store(#[from] Unavailable),
    #[error("the endpoint is switched off: {0}")]
    Off(String),
    #[error(transparent)]
    GivenBack(#[from] GivenBack),
    #[error("{error}")]
    Away { error: SendingError, pause: Duration },
    #[error("the link to the résumé cannot be signed: {0}")]
    ResumeLink(String),
    #[error(transparent)]
    Sending(#[from] SendingError),
}

impl From<WebhookError> for Outcome {
    fn from(error: WebhookError) -> Self {
        let reason = error.to_string();
        match error {
            WebhookError::Store(error) => error.into(),
            WebhookError::GivenBack(given_back) => given_back.into(),
            WebhookError::Away { pause, .. } => Self::Retry(reason, Pause::Just(pause)),
            WebhookError::ResumeLink(_) => Self::Retry(reason, Pause::Backoff),
            WebhookError::Sending(error) if !error.is_final() => {
                let pause = error.asked_pause().map_or(Pause::Backoff, Pause::AtLeast);
                Self::Retry(reason, pause)
            }
            WebhookError::Off(_) | WebhookError::Sending(_) => Self::Refused(reason),
        }
    }
}

impl Webhook {
    /// What an endpoint gets, by its sender. By a recipe each person's events go in the order in which they came: what it writes
    /// into a CRM is a state, which the last one decides.
    pub fn new(
        endpoint: &Endpoint,
        sender: WebhookSender,
        order: impl FnOnce() -> PersonOrder,
        stores: WebhookStores,
    ) -> Self {
        let by_recipe = endpoint.format == Format::Template;
        Self {
            sender,
            breaker: CircuitBreaker::new(endpoint.consumer()),
            name: endpoint.name.to_string(),
            has_resumes: by_recipe && endpoint.events.contains(&CareersApplied::TYPE),
            order: by_recipe.then(order),
            stores,
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
        let outcome = match self.stores.deliveries.deliver_once(&delivery, send).await {
            Ok(_) => Outcome::Delivered,
            // It is not the event that failed.
            Err(WebhookError::Store(away)) if self.order.is_some() => away.not_yet(),
            Err(error) => {
                let outcome = self.unless_it_waited(&delivery, error.into()).await;
                let outcome = self.stores.events.unless_erased(&delivery, outcome).await;
                self.by_failures(&delivery, outcome).await
            }
        };
        self.note_given_up(&delivery, outcome).await
    }

    /// What becomes of an event that is not its person's next.
    async fn out_of_order(&self, delivery: &Delivery) -> Option<Outcome> {
        let order = self.order.as_ref()?;
        if erasures::is_too_early(delivery.event_type, delivery.attempt) {
            let reason = "what was begun before the person was erased may still be under way".to_owned();
            return Some(Outcome::NotYet(reason, Pause::Backoff));
        }
        match order.is_next(delivery).await {
            Ok(true) => None,
            Ok(false) => {
                let reason = "an earlier event of the same person is under way".to_owned();
                Some(Outcome::NotYet(reason, Pause::Just(ORDER_PAUSE)))
            }
            Err(away) => Some(away.not_yet()),
        }
    }

    /// The outcome, unless the event would be given up by its age, which it spent waiting for its turn.
    async fn unless_it_waited(&self, delivery: &Delivery, outcome: Outcome) -> Outcome {
        let Some(order) = self.order.as_ref().filter(|_| delivery.is_last) else {
            return outcome;
        };
        let Outcome::Retry(reason, pause) = outcome else {
            return outcome;
        };
        match order.waited(delivery).await {
            Ok(true) => {
                tracing::warn!(%reason, "not delivered; will try again, as it waited for its turn until now");
                Outcome::NotYet(reason, pause)
            }
            Ok(false) => Outcome::Retry(reason, pause),
            Err(away) => away.not_yet(),
        }
    }

    /// The outcome, with a pause by the event's failures where it may have waited for its turn: the broker counts each look at it as an
    /// attempt.
    async fn by_failures(&self, delivery: &Delivery, mut outcome: Outcome) -> Outcome {
        if self.order.is_some()
            && let Outcome::Retry(_, pause) | Outcome::NotYet(_, pause) = &mut outcome
        {
            *pause = self.after_failures(delivery, *pause).await;
        }
        outcome
    }

    async fn after_failures(&self, delivery: &Delivery, pause: Pause) -> Pause {
        let at_least = match pause {
            Pause::Backoff => Duration::ZERO,
            Pause::AtLeast(asked) => asked,
            other => return other,
        };
        let failures = self.stores.deliveries.count_failure(delivery).await;
        let failures = failures.unwrap_or_else(|error| {
            tracing::debug!(%error, "a failure was not counted");
            1
        });
        Pause::AfterFailures { failures, at_least }
    }

    /// Later events of the person wait no longer for one that is given up.
    async fn note_given_up(&self, delivery: &Delivery, outcome: Outcome) -> Outcome {
        if !matches!(outcome, Outcome::Refused(_)) || self.order.is_none() {
            return outcome;
        }
        match self.stores.deliveries.record_given_up(delivery).await {
            Ok(()) => outcome,
            Err(away) => away.not_yet(),
        }
    }

    async fn send(&self, delivery: &Delivery) -> Result<Handover, WebhookError> {
        let mut call = loop {
            // It may be switched off while this waits.
            if let Some(reason) = self.stores.states.of_when_there(&self.name, delivery).await?.off {
                return Err(WebhookError::Off(reason));
            }
            match self.breaker.try_call(&delivery.key()) {
                Some(call) => break call,
                None => self.breaker.wait(delivery).await?,
            }
        };
        let outgoing = Outgoing {
            id: delivery.event_id,
            payload: delivery.payload().clone(),
            attempt: delivery.attempt,
            resume_link: self.resume_link(delivery).await?,
        };
        if self.stores.events.is_erased_meanwhile(delivery).await? {
            return Ok(Handover::Erased);
        }
        let Err(error) = self.send_now(&outgoing).await else {
            call.answered();
            return Ok(Handover::Sent);
        };
        let Some(away) = error.away() else {
            // What was never sent says nothing of the receiver.
            if error.status().is_some() {
                call.answered();
            }
            return Err(error.into());
        };
        match call.failed(away, &error) {
            Some(pause) => Err(WebhookError::Away { error, pause }),
            None => Err(error.into()),
        }
    }

    /// Sends it, and notes what that says of the endpoint.
    async fn send_now(&self, outgoing: &Outgoing) -> Result<(), SendingError> {
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
        let started = Instant::now();
        let sent = span.instrument(self.sender.send(outgoing, now, None)).await;
        if sent.is_err() {
            span.fail();
        }
        self.note_attempt(outgoing, &sent, now, started.elapsed());
        let sent = sent.map(drop);
        self.update_state(&sent, now).await;
        sent
    }

    fn note_attempt(
        &self,
        outgoing: &Outgoing,
        sent: &Result<Option<u16>, SendingError>,
        now: OffsetDateTime,
        took: Duration,
    ) {
        let attempt = Attempt {
            time: now,
            event: outgoing.id,
            attempt: outgoing.attempt,
            status: sent.as_ref().map_or_else(SendingError::status, |status| *status),
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            error: sent.as_ref().err().map(ToString::to_string),
        };
        self.stores.attempts.note(&self.name, attempt);
    }

    /// A link to the event's résumé, made anew for each attempt, where its recipe may want one.
    async fn resume_link(&self, delivery: &Delivery) -> Result<Option<String>, WebhookError> {
        if !self.has_resumes {
            return Ok(None);
        }
        let Ok(event) = serde_json::from_slice::<Event<CareersApplied>>(delivery.payload()) else {
            return Ok(None);
        };
        let Some(resume) = event.data.resume else {
            return Ok(None);
        };
        let link = self.stores.mail_context.resume_link(&resume).await;
        link.map(Some)
            .map_err(|error| WebhookError::ResumeLink(error.to_string()))
    }

    /// Updates the endpoint's state: records since when it fails, and switches it off when it asks for that or has failed
    /// for too long.
    async fn update_state(&self, sent: &Result<(), SendingError>, now: OffsetDateTime) {
        let changed = self
            .stores
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
