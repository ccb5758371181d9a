//! Sends one mail of an issue of the newsletter, top to bottom: unless the issue is paused or was canceled, the limits are reached,
//! or the subscriber left meanwhile, it is written, handed to the mail server, recorded and counted.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use issues::{CLAIM_HOLDS, Claim, IssueState, Outcome as LedgerOutcome, PutOff};
use lettre::Message;
use site_broker::{Delivery, Failure, Outcome, Publisher, Remedy, SUBSCRIBERS_BUCKET};
use site_events::{Sending, event::BounceKind};
use subscribers::{SubscriberStoreError, Subscribers};
use time::OffsetDateTime;
use visitor::EmailAddress;

use crate::{
    mail::{self, Attachment, MailContext, MailError},
    reports::bounces,
    storage::{
        Deliveries, Go, Handover, IssueEvent, IssueEventError, IssueEvents, IssueStates, LedgerClosed,
        NotSent, Place, SharedLedger,
    },
    transport::smtp::{Refusal, Smtp, SmtpChannel, SmtpFailure},
};

/// The longest that a mail waits in the hands of a notifier before the limits are looked at again: another may have given one back.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often the mail of a test is tried where its domain puts it off: somebody waits for it, for some ten minutes.
const TEST_ATTEMPTS: u32 = 8;

/// How long it holds what was read of a subscriber.
const READ_HOLDS: Duration = Duration::from_millis(50);

/// What a mail of the newsletter is sent with.
pub struct IssueSender {
    pub deliveries: Deliveries,
    pub subscribers: Subscribers,
    pub states: IssueStates,
    pub events: IssueEvents,
    pub ledger: SharedLedger,
    pub mail_context: Arc<MailContext>,
    pub smtp: Arc<Smtp>,
    pub publisher: Publisher,
    pub smtp_channel: SmtpChannel,
}

/// One attempt at one mail.
struct Attempt {
    sending: Sending,
    place: Place,
}

/// Where a mail goes, since when that is known, and since when it counts.
#[derive(Clone, Copy)]
struct Target<'a> {
    address: &'a EmailAddress,
    read_at: Instant,
    claimed_at: Instant,
}

/// Why a mail was not sent.
#[derive(Debug, thiserror::Error)]
enum SendingError {
    #[error(transparent)]
    Failed(#[from] Failure),
    #[error(transparent)]
    Smtp(#[from] SmtpFailure),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Event(#[from] IssueEventError),
    #[error("the subscriber cannot be read: {0}")]
    Subscriber(#[from] SubscriberStoreError),
    #[error(transparent)]
    Closed(#[from] LedgerClosed),
    /// The subscriber left, or the issue was erased.
    #[error("the subscriber left meanwhile")]
    Left,
    #[error("the issue was canceled")]
    Canceled,
    #[error("the issue is paused")]
    Paused,
    /// It comes again after this time.
    #[error("the receiving domain takes no more now")]
    DomainWaits(Duration),
    /// It waited so long since that it counts where it is not sent any more.
    #[error("it waited too long since it was claimed")]
    ClaimedTooLongAgo,
    /// It is another one's.
    #[error("the notifier stops")]
    Stopped,
}

impl From<SendingError> for Outcome {
    fn from(error: SendingError) -> Self {
        let reason = error.to_string();
        match error {
            SendingError::Canceled => Self::Delivered,
            SendingError::Stopped | SendingError::Closed(_) => Self::NotBegun,
            SendingError::DomainWaits(pause) => Self::NotYet { reason, pause },
            SendingError::Event(IssueEventError::Unreadable(_)) => Failure::permanent(reason).into(),
            SendingError::Failed(failure) => failure.into(),
            SendingError::Smtp(error) => error.failure.into(),
            SendingError::Mail(error) => Failure::from(error).into(),
            SendingError::Event(_)
            | SendingError::Subscriber(_)
            | SendingError::Left
            | SendingError::ClaimedTooLongAgo
            | SendingError::Paused => Failure::retry(reason).into(),
        }
    }
}

impl IssueSender {
    /// One attempt at one mail.
    pub async fn deliver(&self, delivery: Delivery) -> Outcome {
        let sending: Sending = match serde_json::from_slice(delivery.payload()) {
            Ok(sending) => sending,
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                return Failure::permanent(format!(
                    "not a sending: unreadable at line {line}, column {column}"
                ))
                .into();
            }
        };
        let place = self.ledger.place(&sending);
        let attempt = Attempt { sending, place };
        match self.states.wait(attempt.sending.issue, &delivery).await {
            Ok(Go::Ahead) => {}
            Ok(Go::Canceled) => return self.conclude(&attempt, Err(SendingError::Canceled)).await,
            Ok(Go::Stopped) => return Outcome::NotBegun,
            Err(error) => return SendingError::from(error).into(),
        }
        let send = || Box::pin(self.send(&attempt, &delivery));
        let sent = match attempt.sending.repeats_refused {
            true => self.deliveries.repeat_refused(&delivery, send).await,
            false => self.deliveries.deliver_once(&delivery, send).await,
        };
        self.conclude(&attempt, sent).await
    }

    /// Counts what came of it, before the broker hears that it is done: whoever is killed in between, it counts once.
    async fn conclude(&self, attempt: &Attempt, sent: Result<Handover, SendingError>) -> Outcome {
        let (counted, outcome) = match sent {
            Ok(handover) => (counted(&handover), Outcome::Delivered),
            // It is in nobody's hands, and those of a large domain would wait for the record for nothing.
            Err(error @ SendingError::DomainWaits(_)) => return error.into(),
            Err(error @ SendingError::Canceled) => (LedgerOutcome::Canceled, error.into()),
            Err(error) => (LedgerOutcome::Released, Outcome::from(error)),
        };
        match attempt.place.finish(counted).await {
            Ok(()) => outcome,
            Err(closed) => SendingError::from(closed).into(),
        }
    }

    async fn send(&self, attempt: &Attempt, delivery: &Delivery) -> Result<Handover, SendingError> {
        loop {
            let event = match self.events.of(attempt.sending.issue).await {
                Err(IssueEventError::Gone) => return Ok(Handover::Erased),
                event => event?,
            };
            let sent = async {
                let address = self.address(attempt, &event).await?;
                let read_at = Instant::now();
                let claimed_at = self.wait_for_limits(attempt, &address, delivery).await?;
                let target = Target {
                    address: &address,
                    read_at,
                    claimed_at,
                };
                self.try_to_send(attempt, &event, target).await
            };
            match sent.await {
                Err(SendingError::ClaimedTooLongAgo) => {}
                Err(SendingError::Paused) => self.wait_while_paused(attempt, delivery).await?,
                Err(SendingError::Left) => return Ok(Handover::NotSent(NotSent::Left)),
                // No mail can go to the address.
                Err(SendingError::Mail(error)) if error.is_final() => {
                    tracing::warn!(%error, "a mail of the newsletter cannot be written");
                    return Ok(Handover::NotSent(NotSent::Refused));
                }
                Err(SendingError::Smtp(error)) => {
                    return self.handle_refusal(attempt, delivery, &event, error).await;
                }
                sent => return sent,
            }
        }
    }

    /// Where the mail goes now.
    async fn address(&self, attempt: &Attempt, event: &IssueEvent) -> Result<EmailAddress, SendingError> {
        if let Some(test) = &attempt.sending.test {
            return Ok(test.clone());
        }
        let known = self.subscribers.read(&attempt.sending.subject).await?;
        let subscriber = known.subscriber.ok_or(SendingError::Left)?;
        // Whoever left and came back since has another subscription.
        let is_same = attempt.sending.issue.sending_id(subscriber.subscription) == attempt.sending.id;
        let address = subscriber.reached_at(event.time).ok().filter(|_| is_same);
        address.cloned().ok_or(SendingError::Left)
    }

    /// Waits until the limits of all notifiers let one more go, and says when they did. What waits is held here rather than given back:
    /// so that a limit that is reached has nobody turn over all that waits.
    async fn wait_for_limits(
        &self,
        attempt: &Attempt,
        address: &EmailAddress,
        delivery: &Delivery,
    ) -> Result<Instant, SendingError> {
        loop {
            let wait = match self.claim(attempt, address).await? {
                Claim::Granted => return Ok(Instant::now()),
                Claim::DomainWaits(wait) => return Err(SendingError::DomainWaits(spread(wait))),
                Claim::Wait(wait) => wait.min(LONGEST_WAIT),
            };
            tokio::select! {
                () = delivery.stopped() => return Err(SendingError::Stopped),
                () = tokio::time::sleep(wait) => {}
            }
            self.ensure_runs(attempt).await?;
        }
    }

    /// Claims it within the limits, of which the mail of a test takes nothing: nor is the day of one a day of the warm-up.
    async fn claim(&self, attempt: &Attempt, address: &EmailAddress) -> Result<Claim, LedgerClosed> {
        if attempt.sending.test.is_some() {
            return Ok(Claim::Granted);
        }
        let domain = domain_of(address);
        attempt.place.claim(domain).await
    }

    async fn release(&self, attempt: &Attempt) -> Result<(), LedgerClosed> {
        let released = LedgerOutcome::Released;
        attempt.place.finish(released).await
    }

    async fn wait_while_paused(&self, attempt: &Attempt, delivery: &Delivery) -> Result<(), SendingError> {
        self.release(attempt).await?;
        match self.states.wait(attempt.sending.issue, delivery).await? {
            Go::Ahead => Ok(()),
            Go::Canceled => Err(SendingError::Canceled),
            Go::Stopped => Err(SendingError::Stopped),
        }
    }

    async fn try_to_send(
        &self,
        attempt: &Attempt,
        event: &IssueEvent,
        target: Target<'_>,
    ) -> Result<Handover, SendingError> {
        let write = || self.write(attempt, event, target);
        self.smtp
            .send(&self.smtp_channel, Attachment::LeftOut, write)
            .await
    }

    /// The mail, if it may still be sent.
    async fn write(
        &self,
        attempt: &Attempt,
        event: &IssueEvent,
        Target {
            address,
            read_at,
            claimed_at,
        }: Target<'_>,
    ) -> Result<Option<Message>, SendingError> {
        self.ensure_runs(attempt).await?;
        let is_fresh = read_at.elapsed() < READ_HOLDS;
        if !is_fresh && self.address(attempt, event).await? != *address {
            return Err(SendingError::Left);
        }
        let mail = mail::issue(&self.mail_context, event, &attempt.sending, address)?;
        let message = mail.into_message(&self.mail_context, OffsetDateTime::now_utc())?;
        if claimed_at.elapsed() >= CLAIM_HOLDS && self.claim(attempt, address).await? != Claim::Granted {
            return Err(SendingError::ClaimedTooLongAgo);
        }
        Ok(Some(message))
    }

    async fn ensure_runs(&self, attempt: &Attempt) -> Result<(), SendingError> {
        match self.states.state(attempt.sending.issue).await? {
            IssueState::Running => Ok(()),
            IssueState::Paused | IssueState::Canceled => Err(SendingError::Paused),
        }
    }

    /// A refusal for good ends the mail; what the domain put off comes again, or is given up.
    async fn handle_refusal(
        &self,
        attempt: &Attempt,
        delivery: &Delivery,
        event: &IssueEvent,
        error: SmtpFailure,
    ) -> Result<Handover, SendingError> {
        let words = error.to_string();
        let not_sent = match error.failure.remedy {
            Remedy::RetryLater { .. } => return Err(error.into()),
            Remedy::DeadLetter if error.refusal == Some(Refusal::NoSuchAddress) => {
                self.publish_bounce(attempt, delivery, event, BounceKind::Hard, &words)
                    .await?;
                NotSent::Bounced
            }
            Remedy::DeadLetter => NotSent::Refused,
            // It is in nobody's count.
            Remedy::Retry { .. } if attempt.sending.test.is_some() => {
                if delivery.attempt < TEST_ATTEMPTS {
                    return Err(error.into());
                }
                NotSent::GivenUp
            }
            Remedy::Retry { .. } => match attempt.place.put_off(false).await? {
                PutOff::Later(pause) => return Err(SendingError::DomainWaits(pause)),
                PutOff::GivenUp if error.refusal.is_some() => NotSent::Refused,
                PutOff::GivenUp => {
                    self.publish_bounce(attempt, delivery, event, BounceKind::Soft, &words)
                        .await?;
                    NotSent::GivenUp
                }
            },
        };
        tracing::info!(reason = %error, "a mail of the newsletter is given up");
        Ok(Handover::NotSent(not_sent))
    }

    async fn publish_bounce(
        &self,
        attempt: &Attempt,
        delivery: &Delivery,
        event: &IssueEvent,
        kind: BounceKind,
        words: &str,
    ) -> Result<(), SendingError> {
        if attempt.sending.test.is_some() {
            return Ok(());
        }
        let Ok(address) = self.address(attempt, event).await else {
            return Ok(());
        };
        let published = bounces::publish_issue_bounce(&self.publisher, delivery, address, kind, words).await;
        published.map_err(|error| Failure::of_store(SUBSCRIBERS_BUCKET, error).into())
    }
}

/// What waits for one domain together does not come again together.
fn spread(wait: Duration) -> Duration {
    let share = f64::from(uuid::Uuid::new_v4().as_bytes()[0]) / 255.0;
    wait.mul_f64(1.0 + share)
}

/// The domain that a mail goes to.
fn domain_of(address: &EmailAddress) -> &str {
    address.as_str().rsplit('@').next().unwrap_or_default()
}

fn counted(handover: &Handover) -> LedgerOutcome {
    match handover {
        Handover::NotSent(NotSent::Left) | Handover::Decided(NotSent::Left) | Handover::Erased => {
            LedgerOutcome::Left
        }
        Handover::NotSent(NotSent::Bounced) | Handover::Decided(NotSent::Bounced) => LedgerOutcome::Bounced,
        Handover::NotSent(NotSent::Refused) | Handover::Decided(NotSent::Refused) => LedgerOutcome::Refused,
        Handover::NotSent(NotSent::GivenUp) | Handover::Decided(NotSent::GivenUp) => LedgerOutcome::GivenUp,
        Handover::Sent | Handover::Before | Handover::Withheld => LedgerOutcome::Sent,
    }
}
