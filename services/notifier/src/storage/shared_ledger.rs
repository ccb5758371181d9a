//! The ledger of the newsletter's mails, as one notifier uses it: what its deliveries ask and tell is put together, and written by
//! compare-and-set, one write at a time. So all notifiers count together, and a mail costs no write of its own.

use std::time::Duration;

use issues::{
    BrokerClock, Claim, Entry as Stored, IssueStoreError, Issues, Ledger, Outcome, PutOff, SendingLimits,
};
use site_events::{IssueId, Sending};
use time::OffsetDateTime;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How many deliveries may wait to be heard.
const MAX_WAITING: usize = 256;
/// How long it is waited before the ledger is read or written again, while the broker is away.
const AWAY_PAUSE: Duration = Duration::from_millis(250);

/// Which attempt at which mail.
#[derive(Clone, Copy)]
struct Mail {
    sending: Uuid,
    issue: IssueId,
    attempt: Uuid,
    repeats_refused: bool,
}

/// What a delivery asks or tells. It is made on the ledger as that is, however often, and answered once the ledger is written.
trait Entry: Send {
    fn make(&mut self, ledger: &mut Ledger, limits: &SendingLimits, now: OffsetDateTime);
    fn answer(self: Box<Self>);
}

struct Asked<Make, Answer> {
    make: Make,
    made: Option<Answer>,
    answer: oneshot::Sender<Answer>,
}

impl<Make, Answer> Entry for Asked<Make, Answer>
where
    Make: Fn(&mut Ledger, &SendingLimits, OffsetDateTime) -> Answer + Send,
    Answer: Send,
{
    fn make(&mut self, ledger: &mut Ledger, limits: &SendingLimits, now: OffsetDateTime) {
        self.made = Some((self.make)(ledger, limits, now));
    }

    fn answer(self: Box<Self>) {
        let Self { made, answer, .. } = *self;
        // Nobody takes it whose delivery ended: what was claimed is in hand until that comes again.
        let _gone = made.map(|made| answer.send(made));
    }
}

/// Nobody writes the ledger any more: the notifier stops.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the notifier stops")]
pub struct LedgerClosed;

/// Where deliveries ask and tell.
#[derive(Clone)]
pub struct SharedLedger(mpsc::Sender<Box<dyn Entry>>);

/// The place of one mail in the ledger, as one attempt at it holds it.
pub struct Place {
    ledger: SharedLedger,
    mail: Mail,
}

/// What writes the ledger for them.
pub struct LedgerWriter {
    issues: Issues,
    limits: SendingLimits,
    clock: BrokerClock,
    waiting: mpsc::Receiver<Box<dyn Entry>>,
}

impl SharedLedger {
    /// The ledger in this bucket, with these limits, and what must run for it to be written.
    pub fn new(issues: Issues, limits: SendingLimits) -> (Self, LedgerWriter) {
        let (sender, waiting) = mpsc::channel(MAX_WAITING);
        let writer = LedgerWriter {
            issues,
            limits,
            clock: BrokerClock::default(),
            waiting,
        };
        (Self(sender), writer)
    }

    /// What one attempt at a mail asks and tells.
    pub fn place(&self, sending: &Sending) -> Place {
        Place {
            ledger: self.clone(),
            mail: Mail {
                sending: sending.id,
                issue: sending.issue,
                attempt: Uuid::new_v4(),
                repeats_refused: sending.repeats_refused,
            },
        }
    }
}

impl Place {
    /// Asks whether the mail may be sent to this domain now.
    ///
    /// # Errors
    ///
    /// If nobody writes the ledger any more.
    pub async fn claim(&self, domain: &str) -> Result<Claim, LedgerClosed> {
        let (mail, domain) = (self.mail, domain.to_owned());
        self.ask(move |ledger, limits, now| {
            ledger.claim(mail.sending, mail.attempt, (mail.issue, &domain), now, limits)
        })
        .await
    }

    /// Tells that the domain put the mail off, or did not say that it took it.
    ///
    /// # Errors
    ///
    /// If nobody writes the ledger any more.
    pub async fn put_off(&self, may_be_sent: bool) -> Result<PutOff, LedgerClosed> {
        let mail = self.mail;
        self.ask(move |ledger, _, now| ledger.put_off(mail.sending, mail.attempt, may_be_sent, now))
            .await
    }

    /// Tells what came of the attempt. Ends when it is written.
    ///
    /// # Errors
    ///
    /// If nobody writes the ledger any more.
    pub async fn finish(&self, outcome: Outcome) -> Result<(), LedgerClosed> {
        let mail = self.mail;
        self.ask(move |ledger, _, now| {
            let before = ledger.figures(mail.issue).decided();
            ledger.finish(mail.sending, mail.attempt, mail.issue, outcome, now);
            if mail.repeats_refused && ledger.figures(mail.issue).decided() > before {
                ledger.forget_refusal(mail.issue);
            }
        })
        .await
    }

    async fn ask<Answer: Send + 'static>(
        &self,
        make: impl Fn(&mut Ledger, &SendingLimits, OffsetDateTime) -> Answer + Send + 'static,
    ) -> Result<Answer, LedgerClosed> {
        let (answer, answered) = oneshot::channel();
        let asked = Asked {
            make,
            made: None,
            answer,
        };
        let sent = self.ledger.0.send(Box::new(asked)).await;
        sent.map_err(|_| LedgerClosed)?;
        answered.await.map_err(|_| LedgerClosed)
    }
}

impl LedgerWriter {
    /// Writes until nobody asks any more.
    pub async fn run(mut self) {
        let mut known = None;
        let mut waiting = Vec::with_capacity(MAX_WAITING);
        while self.waiting.recv_many(&mut waiting, MAX_WAITING).await > 0 {
            self.write(&mut known, &mut waiting).await;
            waiting.drain(..).for_each(|entry| entry.answer());
        }
    }

    /// Makes the entries on the ledger as it is, however often somebody else changes it, or the broker is away.
    async fn write(&mut self, known: &mut Option<Stored<Ledger>>, waiting: &mut [Box<dyn Entry>]) {
        loop {
            match self.try_write(known, waiting).await {
                Ok(()) => return,
                Err(IssueStoreError::Conflict) => {}
                Err(error) => {
                    tracing::warn!(%error, "the newsletter's mails wait until they can be counted");
                    tokio::time::sleep(AWAY_PAUSE).await;
                }
            }
            // Of a write that was not acknowledged it is not known whether it is there.
            *known = None;
        }
    }

    async fn try_write(
        &mut self,
        known: &mut Option<Stored<Ledger>>,
        waiting: &mut [Box<dyn Entry>],
    ) -> Result<(), IssueStoreError> {
        let before = match known.take() {
            Some(known) => known,
            None => self.issues.ledger().await?,
        };
        let (mut ledger, now) = (before.record.clone(), self.clock.now(&self.issues).await?);
        for entry in waiting {
            entry.make(&mut ledger, &self.limits, now);
        }
        let revision = if ledger == before.record {
            before.revision
        } else {
            self.issues.write_ledger(&ledger, before.revision).await?
        };
        *known = Some(Stored {
            record: ledger,
            revision,
        });
        Ok(())
    }
}
