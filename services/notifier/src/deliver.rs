//! Sends an event's mail, unless its delivery record exists.

use lettre::Message;
use site_broker::{Delivery, Failure, Outcome, Publisher, Remedy};
use site_events::{
    Channel::{self, NewsletterConfirmation, NewsletterGoodbye, NewsletterWelcome},
    event::BounceKind,
};
use site_mail::refusal::Refusal;
use time::OffsetDateTime;

use crate::{
    mail::{self, Attachment, MailContext, MailEvent, RecruiterExtrasLoader},
    reports::publish_bounce,
    storage::{Allowance, Deliveries, EventStream, Handover, NotSent, VisitorMails},
    transport::smtp::{Smtp, SmtpChannel, SmtpFailure},
};

pub struct Notifier {
    pub deliveries: Deliveries,
    pub visitor_mails: VisitorMails,
    pub events: EventStream,
    pub recruiter_extras: RecruiterExtrasLoader,
    pub mail_context: MailContext,
    pub smtp: Smtp,
    pub publisher: Publisher,
}

impl Notifier {
    pub async fn deliver(&self, channel: Channel, smtp_channel: &SmtpChannel, delivery: Delivery) -> Outcome {
        let event = match MailEvent::read(channel, delivery.payload()) {
            Ok(event) => event,
            Err(unreadable) => return self.events.unless_erased(&delivery, unreadable.into()).await,
        };
        if !event.is_mailed(&delivery.person) {
            return Outcome::Delivered;
        }
        // Boxed, because the compiler fails on futures nested this deep.
        let send = || Box::pin(self.send(channel, smtp_channel, &delivery, &event));
        match self.deliveries.deliver_once(&delivery, send).await {
            Ok(()) => Outcome::Delivered,
            Err(failure) => self.handle_failure(channel, &delivery, &event, failure).await,
        }
    }

    /// Publishes a hard bounce if a newsletter mail's address does not exist.
    async fn handle_failure(
        &self,
        channel: Channel,
        delivery: &Delivery,
        event: &MailEvent,
        SmtpFailure { failure, refusal }: SmtpFailure,
    ) -> Outcome {
        let outcome = self.events.unless_erased(delivery, failure).await;
        if let Outcome::Failed(failure) = &outcome
            && failure.remedy == Remedy::DeadLetter
            && refusal == Some(Refusal::NoSuchAddress)
            && let NewsletterConfirmation | NewsletterWelcome | NewsletterGoodbye = channel
            && let Some(email) = event.visitor().cloned()
        {
            let (mail, reason) = (channel.name(), &failure.reason);
            let kind = BounceKind::Hard;
            let published = publish_bounce(&self.publisher, delivery, mail, email, kind, reason).await;
            return published.map_or_else(|error| Failure::retry(error).into(), |()| outcome);
        }
        outcome
    }

    async fn send(
        &self,
        channel: Channel,
        smtp_channel: &SmtpChannel,
        delivery: &Delivery,
        event: &MailEvent,
    ) -> Result<Handover, SmtpFailure> {
        let now = OffsetDateTime::now_utc();
        if let Some(visitor) = event.visitor() {
            let allowed = self.visitor_mails.allow(channel, delivery, visitor, now);
            if allowed.await? == Allowance::Withheld {
                return Ok(Handover::NotSent(NotSent::Withheld));
            }
        }
        let attachment = mail::attachment(event);
        let hand_over = |attachment| {
            let write = move || self.write(event, delivery, attachment);
            // Boxed, because the compiler fails on futures nested this deep.
            Box::pin(self.smtp.send(smtp_channel, attachment, write))
        };
        match hand_over(attachment).await {
            // The mail server may reject the mail for its attachment, so the mail is sent without it.
            Err(error)
                if attachment == Attachment::Wanted
                    && error.refusal.is_some_and(|refusal| refusal != Refusal::Account) =>
            {
                tracing::warn!(%error, "the recruiters get the résumé as a link only");
                hand_over(Attachment::LeftOut).await
            }
            handed_over => handed_over,
        }
    }

    /// Writes the mail. Returns none if the event was erased in the meantime.
    async fn write(
        &self,
        event: &MailEvent,
        delivery: &Delivery,
        attachment: Attachment,
    ) -> Result<Option<Message>, SmtpFailure> {
        let (context, extras) = (&self.mail_context, &self.recruiter_extras);
        let now = OffsetDateTime::now_utc();
        let message = mail::write(context, extras, event, delivery, attachment, now).await;
        let message = message.map_err(Failure::from)?;
        let is_erased = self.events.is_erased(delivery).await?;
        Ok((!is_erased).then_some(message))
    }
}
