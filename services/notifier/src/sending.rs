//! Sends one newsletter mail, unless the issue is paused or canceled or the subscriber left. `subscribers::issues`
//! describes the whole process.

use std::{sync::Arc, time::Duration};

use lettre::Message;
use site_broker::{Delivery, Failure, ISSUES_BUCKET, Outcome, Remedy, SUBSCRIBERS_BUCKET};
use site_events::{Sending, event::BounceKind, sending::SENDING_NAME};
use site_mail::refusal::Refusal;
use subscribers::Subscribers;
use subscribers::issues::{IssueState, Issues};
use time::OffsetDateTime;
use visitor::EmailAddress;

use crate::{
    deliver::Notifier,
    mail::{self, Attachment},
    reports::publish_bounce,
    storage::{Handover, IssueEvent, IssueEvents, NotSent},
    transport::smtp::{SmtpChannel, SmtpFailure},
};

/// Retry interval while an issue is paused.
const PAUSED_INTERVAL: Duration = Duration::from_secs(2);

pub struct IssueSender {
    pub notifier: Arc<Notifier>,
    pub subscribers: Subscribers,
    pub issues: Issues,
    pub events: IssueEvents,
    pub smtp_channel: SmtpChannel,
}

#[derive(Debug, thiserror::Error)]
enum SendingError {
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error(transparent)]
    Smtp(#[from] SmtpFailure),
    #[error("the subscriber left meanwhile")]
    Left,
    #[error("the issue is paused")]
    Paused,
    #[error("the issue is canceled")]
    Canceled,
}

impl From<SendingError> for Outcome {
    fn from(error: SendingError) -> Self {
        match error {
            SendingError::Failed(failure) | SendingError::Smtp(SmtpFailure { failure, .. }) => failure.into(),
            SendingError::Left | SendingError::Canceled => Self::Delivered,
            SendingError::Paused => Self::NotYet {
                reason: error.to_string(),
                pause: PAUSED_INTERVAL,
            },
        }
    }
}

impl IssueSender {
    pub async fn deliver(&self, delivery: Delivery) -> Outcome {
        let sending: Sending = match serde_json::from_slice(delivery.payload()) {
            Ok(sending) => sending,
            Err(error) => return Failure::unreadable("a sending", &error).into(),
        };
        let send = || Box::pin(self.send(&sending, &delivery));
        let sent = self.notifier.deliveries.deliver_once(&delivery, send).await;
        sent.map_or_else(Outcome::from, |()| Outcome::Delivered)
    }

    async fn send(&self, sending: &Sending, delivery: &Delivery) -> Result<Handover, SendingError> {
        // Checked before waiting for a connection, so that mails of a paused issue do not delay others.
        self.ensure_runs(sending).await?;
        let Some(event) = self.events.of(sending.issue).await? else {
            return Ok(Handover::Erased);
        };
        let write = || self.write(sending, &event);
        let smtp = &self.notifier.smtp;
        match smtp.send(&self.smtp_channel, Attachment::LeftOut, write).await {
            Err(SendingError::Left) => Ok(Handover::NotSent(NotSent::Left)),
            Err(SendingError::Failed(failure)) if failure.remedy == Remedy::DeadLetter => {
                tracing::warn!(reason = %failure, "a newsletter mail cannot be written");
                Ok(Handover::NotSent(NotSent::Refused))
            }
            Err(SendingError::Smtp(failure)) => self.handle_failure(sending, &event, delivery, failure).await,
            sent => sent,
        }
    }

    /// Runs when a connection is free, maybe much later, so it checks the issue's state again.
    async fn write(&self, sending: &Sending, event: &IssueEvent) -> Result<Option<Message>, SendingError> {
        self.ensure_runs(sending).await?;
        let address = self.address(sending, event).await?.ok_or(SendingError::Left)?;
        let context = &self.notifier.mail_context;
        let mail = mail::issue(context, event, sending, &address);
        let written = mail.and_then(|mail| mail.into_message(context, OffsetDateTime::now_utc()));
        Ok(Some(written.map_err(Failure::from)?))
    }

    async fn ensure_runs(&self, sending: &Sending) -> Result<(), SendingError> {
        let read = self.issues.progress(sending.issue).await;
        let progress = read.map_err(|error| Failure::of_store(ISSUES_BUCKET, error))?;
        match progress.value.map(|progress| progress.state) {
            // Test issues have no progress record.
            Some(IssueState::Running) | None => Ok(()),
            Some(IssueState::Paused) => Err(SendingError::Paused),
            Some(IssueState::Canceled) => Err(SendingError::Canceled),
        }
    }

    /// The subscriber's current address. None if the subscriber left, or came back with a new subscription.
    async fn address(&self, sending: &Sending, event: &IssueEvent) -> Result<Option<EmailAddress>, Failure> {
        if let Some(test) = &sending.test {
            return Ok(Some(test.clone()));
        }
        let read = self.subscribers.read(&sending.subject).await;
        let entry = read.map_err(|error| Failure::of_store(SUBSCRIBERS_BUCKET, error))?;
        let subscriber = entry
            .value
            .filter(|subscriber| sending.issue.sending_id(subscriber.subscription) == sending.id);
        Ok(subscriber.and_then(|subscriber| subscriber.reached_at(event.time).ok().cloned()))
    }

    /// Abandons a rejected mail, and a deferred mail after its last attempt. Otherwise returns the error.
    async fn handle_failure(
        &self,
        sending: &Sending,
        event: &IssueEvent,
        delivery: &Delivery,
        error: SmtpFailure,
    ) -> Result<Handover, SendingError> {
        let (kind, not_sent) = match (error.failure.remedy, error.refusal) {
            (Remedy::DeadLetter, Some(Refusal::NoSuchAddress)) => (Some(BounceKind::Hard), NotSent::Bounced),
            (Remedy::DeadLetter, _) => (None, NotSent::Refused),
            (Remedy::Retry { .. }, Some(_)) if delivery.is_last => (None, NotSent::Refused),
            (Remedy::Retry { .. }, None) if delivery.is_last => (Some(BounceKind::Soft), NotSent::Abandoned),
            (Remedy::Retry { .. } | Remedy::RetryLater { .. }, _) => return Err(error.into()),
        };
        tracing::info!(reason = %error, "a newsletter mail is abandoned");
        let is_test = sending.test.is_some();
        if let Some(kind) = kind.filter(|_| !is_test)
            && let Some(address) = self.address(sending, event).await?
        {
            let (publisher, reason) = (&self.notifier.publisher, error.to_string());
            let published = publish_bounce(publisher, delivery, SENDING_NAME, address, kind, &reason).await;
            published.map_err(Failure::retry)?;
        }
        Ok(Handover::NotSent(not_sent))
    }
}
