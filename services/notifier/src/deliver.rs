//! Delivers one event as a mail, idempotently: unless it was delivered before, its mail is written, handed to the mail
//! server, and recorded.

use std::sync::Arc;

use site_broker::{Delivery, Outcome, Pause, Publisher};
use site_events::Channel;
use time::OffsetDateTime;

use crate::{
    delivery_error::DeliveryError,
    mail::{self, Attachment, MailContext, RecruiterExtrasLoader},
    reports::bounces,
    storage::{Allowance, Deliveries, EventStream, Handover, VisitorMails},
    transport::smtp::{Refusal, Smtp, SmtpChannel},
};

/// What a delivery works with.
pub struct Notifier {
    pub deliveries: Deliveries,
    pub visitor_mails: VisitorMails,
    pub events: EventStream,
    pub recruiter_extras: Arc<RecruiterExtrasLoader>,
    pub mail_context: Arc<MailContext>,
    pub smtp: Arc<Smtp>,
    pub publisher: Publisher,
}

impl Notifier {
    /// One attempt at one event.
    pub async fn deliver(&self, channel: Channel, smtp_channel: &SmtpChannel, delivery: Delivery) -> Outcome {
        // Of a check's form nobody hears but the check, and that by the way that is worth most to us.
        if delivery.person.is_synthetic() && channel != Channel::SalesLead {
            return Outcome::Delivered;
        }
        // Boxed: the compiler gives up on futures that are nested as deep as this would be.
        let send = || Box::pin(self.send(channel, smtp_channel, &delivery));
        match self.deliveries.deliver_once(&delivery, send).await {
            Ok(_) => Outcome::Delivered,
            Err(error) => self.handle_failure(channel, &delivery, error).await,
        }
    }

    /// A newsletter mail that came back for good is told of before it is given up.
    async fn handle_failure(&self, channel: Channel, delivery: &Delivery, error: DeliveryError) -> Outcome {
        let bounce = match &error {
            DeliveryError::Smtp(error) if error.refusal == Some(Refusal::NoSuchAddress) => {
                Some(error.to_string())
            }
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

    async fn send(
        &self,
        channel: Channel,
        smtp_channel: &SmtpChannel,
        delivery: &Delivery,
    ) -> Result<Handover, DeliveryError> {
        let now = OffsetDateTime::now_utc();
        if channel.is_to_visitor() {
            let address = mail::visitor_address(delivery)?;
            let allowed = self.visitor_mails.allow(channel, delivery, &address, now);
            if allowed.await? == Allowance::Withheld {
                return Ok(Handover::Withheld);
            }
        }
        match self.try_to_send(channel, smtp_channel, delivery).await {
            Err(DeliveryError::Erased) => Ok(Handover::Erased),
            sent => sent,
        }
    }

    async fn try_to_send(
        &self,
        channel: Channel,
        smtp_channel: &SmtpChannel,
        delivery: &Delivery,
    ) -> Result<Handover, DeliveryError> {
        let extras = &self.recruiter_extras;
        let attachment = mail::attachment(extras, channel, delivery)?;
        // Boxed: the compiler gives up on futures that are nested as deep as this would be.
        let hand_over = |attachment| Box::pin(self.hand_over(channel, smtp_channel, delivery, attachment));
        if attachment == Attachment::LeftOut {
            return hand_over(Attachment::LeftOut).await;
        }
        extras.wait_for_store().await;
        match hand_over(Attachment::Wanted).await {
            // The mail server may refuse the attachment: too large, or of a kind that it blocks.
            Err(DeliveryError::Smtp(error))
                if error.refusal.is_some_and(|refusal| refusal != Refusal::Account) =>
            {
                tracing::warn!(%error, "the recruiters get the résumé as a link only");
                hand_over(Attachment::LeftOut).await
            }
            handed_over => handed_over,
        }
    }

    async fn hand_over(
        &self,
        channel: Channel,
        smtp_channel: &SmtpChannel,
        delivery: &Delivery,
        attachment: Attachment,
    ) -> Result<Handover, DeliveryError> {
        let write = || async {
            let (context, extras) = (&self.mail_context, &self.recruiter_extras);
            let now = OffsetDateTime::now_utc();
            let message = mail::write(context, extras, channel, delivery, attachment, now).await?;
            match self.events.is_erased_meanwhile(delivery).await? {
                true => Err(DeliveryError::Erased),
                false => Ok(Some(message)),
            }
        };
        self.smtp.send(smtp_channel, attachment, write).await
    }
}
