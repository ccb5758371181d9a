//! Delivers one event as a mail, idempotently: unless it was delivered before, its mail is written, handed to the mail
//! server, and recorded.

use std::sync::Arc;

use site_broker::{Delivery, GivenBack, Outcome, Pause, Publisher};
use site_events::Channel;
use time::OffsetDateTime;

use crate::{
    mail::{self, MailContext, MailError, RecruiterExtrasLoader},
    reports::bounces,
    storage::{Allowance, Deliveries, EventStream, Handover, Unavailable, Unsent, VisitorMails},
    transport::smtp::{ChannelLimit, SmtpError, SmtpPool},
};

/// What a delivery works with.
pub struct Notifier {
    pub deliveries: Deliveries,
    pub visitor_mails: VisitorMails,
    pub events: EventStream,
    pub recruiter_extras: RecruiterExtrasLoader,
    pub mail_context: Arc<MailContext>,
    pub smtp: Arc<SmtpPool>,
    pub publisher: Publisher,
}

/// Why an event was not delivered.
#[derive(Debug, thiserror::Error)]
enum DeliveryError {
    #[error(transparent)]
    Deliveries(#[from] Unavailable),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Smtp(#[from] SmtpError),
    #[error(transparent)]
    GivenBack(#[from] GivenBack),
}

impl From<DeliveryError> for Outcome {
    fn from(error: DeliveryError) -> Self {
        let reason = error.to_string();
        match error {
            DeliveryError::Smtp(SmtpError::Refused(_) | SmtpError::NoSuchAddress(_)) => Self::Refused(reason),
            DeliveryError::Smtp(SmtpError::NotBegun) => Self::NotBegun,
            DeliveryError::Mail(error) if error.is_final() => Self::Refused(reason),
            DeliveryError::Smtp(SmtpError::Away { pause, .. }) => Self::Retry(reason, Pause::Just(pause)),
            DeliveryError::Mail(error) => Self::Retry(reason, error.pause()),
            DeliveryError::GivenBack(given_back) => given_back.into(),
            DeliveryError::Deliveries(error) => Self::Retry(reason, error.pause()),
            DeliveryError::Smtp(_) => Self::Retry(reason, Pause::Backoff),
        }
    }
}

impl Notifier {
    /// One attempt at one event.
    pub async fn deliver(&self, channel: Channel, limit: &ChannelLimit, delivery: Delivery) -> Outcome {
        // Boxed: the compiler gives up on futures that are nested as deep as this would be.
        let send = |unsent| Box::pin(self.send(channel, limit, &delivery, unsent));
        match self.deliveries.deliver_once(&delivery, send).await {
            Ok(()) => Outcome::Delivered,
            Err(error) => self.handle_failure(channel, &delivery, error).await,
        }
    }

    /// A newsletter mail that came back for good is told of before it is given up.
    async fn handle_failure(&self, channel: Channel, delivery: &Delivery, error: DeliveryError) -> Outcome {
        let bounce = match &error {
            DeliveryError::Smtp(SmtpError::NoSuchAddress(words)) => Some(words.clone()),
            _ => None,
        };
        let outcome = self.events.unless_erased(delivery, error.into()).await;
        if let (Outcome::Refused(_), Some(words)) = (&outcome, bounce)
            && let Err(error) = bounces::publish_bounce(&self.publisher, channel, delivery, &words).await
        {
            return Outcome::Retry(error.to_string(), Pause::Backoff);
        }
        outcome
    }

    /// Hands the mail over once the mail server is there; until then nothing is fetched for it, nor a connection held.
    async fn send(
        &self,
        channel: Channel,
        limit: &ChannelLimit,
        delivery: &Delivery,
        unsent: Unsent<'_>,
    ) -> Result<Handover, DeliveryError> {
        let now = OffsetDateTime::now_utc();
        if self.visitor_mails.allow(channel, delivery, now).await? == Allowance::Withheld {
            return Ok(Handover::Withheld);
        }
        loop {
            self.smtp.breaker().wait(delivery).await?;
            match self.try_to_send(channel, limit, delivery, &unsent).await {
                Err(DeliveryError::Smtp(SmtpError::NotAsked)) => {}
                handed_over => return handed_over,
            }
        }
    }

    async fn try_to_send(
        &self,
        channel: Channel,
        limit: &ChannelLimit,
        delivery: &Delivery,
        unsent: &Unsent<'_>,
    ) -> Result<Handover, DeliveryError> {
        let extras = &self.recruiter_extras;
        let attachment_bytes = mail::attachment_bytes(extras, channel, delivery)?;
        if attachment_bytes > 0 {
            extras.wait_for_store().await;
        }
        let message = async {
            let now = OffsetDateTime::now_utc();
            let message = mail::write(&self.mail_context, extras, channel, delivery, now).await?;
            Ok(unsent.is_still().await?.then_some(message))
        };
        self.smtp
            .send(&delivery.key(), limit, attachment_bytes, message)
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_is_wrong_costs_no_event() {
        let wrong = minijinja::Error::from(minijinja::ErrorKind::UndefinedError);
        let outcome = Outcome::from(DeliveryError::from(MailError::from(wrong)));
        assert!(
            matches!(outcome, Outcome::Retry(_, Pause::Backoff)),
            "{outcome:?}"
        );
    }
}
