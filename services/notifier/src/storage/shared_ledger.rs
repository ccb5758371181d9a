//! The ledger of the newsletter's mails, as one notifier uses it: what its deliveries ask and tell is put together, and written by
//! compare-and-set, one write at a time. So all notifiers count together, and a mail costs no write of its own.

use std::time::Duration;

use issues::{
    BrokerClock, Claim, Entry as Stored, IssueStoreError, Issues, Ledger, Outcome, PutOff, SendingLimits,
};
use site_events::IssueId;
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
}

/// What a delivery asks or tells.
enum Entry {
    Claim { domain: String },
    PutOff { may_be_sent: bool },
    LeaveDomainAlone,
    Finish(Outcome),
}

/// What it is answered, once the ledger is written.
enum Answer {
    Claim(Claim),
    PutOff(PutOff),
    Alone(Duration),
    Finished,
}

struct Waiting {
    mail: Mail,
    entry: Entry,
    answer: oneshot::Sender<Answer>,
}

/// Nobody writes the ledger any more: the notifier stops.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the notifier stops")]
pub struct LedgerClosed;

/// Where deliveries ask and tell.
#[derive(Clone)]
pub struct SharedLedger(mpsc::Sender<Waiting>);

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
    waiting: mpsc::Receiver<Waiting>,
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
    pub fn place(&self, sending: Uuid, issue: IssueId) -> Place {
        Place {
            ledger: self.clone(),
            mail: Mail {
                sending,
                issue,
                attempt: Uuid::new_v4(),
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
        let domain = domain.to_owned();
        match self.ask(Entry::Claim { domain }).await? {
            Answer::Claim(claim) => Ok(claim),
            Answer::PutOff(_) | Answer::Alone(_) | Answer::Finished => Err(LedgerClosed),
        }
    }

    /// Tells that the domain put the mail off, or did not say that it took it.
    ///
    /// # Errors
    ///
    /// If nobody writes the ledger any more.
    pub async fn put_off(&self, may_be_sent: bool) -> Result<PutOff, LedgerClosed> {
        match self.ask(Entry::PutOff { may_be_sent }).await? {
            Answer::PutOff(put_off) => Ok(put_off),
            Answer::Claim(_) | Answer::Alone(_) | Answer::Finished => Err(LedgerClosed),
        }
    }

    /// Leaves the domain alone for the time that it gives, and counts the mail as not put off.
    ///
    /// # Errors
    ///
    /// If nobody writes the ledger any more.
    pub async fn leave_domain_alone(&self) -> Result<Duration, LedgerClosed> {
        match self.ask(Entry::LeaveDomainAlone).await? {
            Answer::Alone(pause) => Ok(pause),
            Answer::Claim(_) | Answer::PutOff(_) | Answer::Finished => Err(LedgerClosed),
        }
    }

    /// Tells what came of the attempt. Ends when it is written.
    ///
    /// # Errors
    ///
    /// If nobody writes the ledger any more.
    pub async fn finish(&self, outcome: Outcome) -> Result<(), LedgerClosed> {
        self.ask(Entry::Finish(outcome)).await.map(drop)
    }

    async fn ask(&self, entry: Entry) -> Result<Answer, LedgerClosed> {
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting {
            mail: self.mail,
            entry,
            answer,
        };
        let sent = self.ledger.0.send(waiting).await;
        sent.map_err(|_| LedgerClosed)?;
        answered.await.map_err(|_| LedgerClosed)
    }
}

impl Entry {
    fn make(
        &self,
        Mail {
            sending,
            issue,
            attempt,
        }: Mail,
        ledger: &mut Ledger,
        limits: &SendingLimits,
        now: OffsetDateTime,
    ) -> Answer {
        match self {
            Self::Claim { domain } => {
                Answer::Claim(ledger.claim(sending, attempt, (issue, domain), now, limits))
            }
            Self::PutOff { may_be_sent } => {
                Answer::PutOff(ledger.put_off(sending, attempt, *may_be_sent, now))
            }
            Self::LeaveDomainAlone => Answer::Alone(ledger.leave_domain_alone(sending, attempt, now)),
            Self::Finish(outcome) => {
                ledger.finish(sending, attempt, issue, *outcome, now);
                Answer::Finished
            }
        }
    }
}

impl LedgerWriter {
    /// Writes until nobody asks any more.
    pub async fn run(mut self) {
        let mut known = None;
        let mut waiting = Vec::with_capacity(MAX_WAITING);
        while self.waiting.recv_many(&mut waiting, MAX_WAITING).await > 0 {
            let answers = self.write(&mut known, &waiting).await;
            for (waited, answer) in waiting.drain(..).zip(answers) {
                // Nobody takes it whose delivery ended: what was claimed is in hand until that comes again.
                let _gone = waited.answer.send(answer);
            }
        }
    }

    /// Makes the entries on the ledger as it is, however often somebody else changes it, or the broker is away.
    async fn write(&mut self, known: &mut Option<Stored<Ledger>>, waiting: &[Waiting]) -> Vec<Answer> {
        loop {
            match self.try_write(known, waiting).await {
                Ok(answers) => return answers,
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
        waiting: &[Waiting],
    ) -> Result<Vec<Answer>, IssueStoreError> {
        let before = match known.take() {
            Some(known) => known,
            None => self.issues.ledger().await?,
        };
        let (mut ledger, now) = (before.record.clone(), self.clock.now(&self.issues).await?);
        let answers = waiting
            .iter()
            .map(|waited| waited.entry.make(waited.mail, &mut ledger, &self.limits, now))
            .collect();
        let revision = if ledger == before.record {
            before.revision
        } else {
            self.issues.write_ledger(&ledger, before.revision).await?
        };
        *known = Some(Stored {
            record: ledger,
            revision,
        });
        Ok(answers)
    }
}
