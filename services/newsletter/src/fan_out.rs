//! An issue is handed out: one mail for each subscriber is put into the stream `SENDINGS`, from which the notifiers send them.
//!
//! The bucket of subscribers is read from its first entry to its last, some hundred at a time. How far that is, is stored after each
//! step: whoever is killed, it goes on there. What was put into the stream and not noted yet is put there again, under the same id,
//! by which the broker knows it, and the notifier knows a mail that was sent.

use std::{collections::BTreeSet, time::Duration};

use async_nats::jetstream::{context::PublishError, message::PublishMessage};
use futures_util::TryStreamExt as _;
use issues::{Entry, IssueProgress, IssueState, IssueStoreError, PassedOver};
use site_broker::{Delivery, Failure, Messages, Outcome, ReadError};
use site_events::{
    Event, IssueId, SENDINGS_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use subscribers::{Subscriber, SubscriberStoreError, audience::NotReached};
use time::OffsetDateTime;
use visitor::PersonId;

use crate::newsletter::Newsletter;

/// How many subscribers are looked at in a step: few enough that a pause or a cancellation takes effect within a second.
const STEP: usize = 250;
/// How often it is looked whether an issue that is paused goes on: within a second it does.
const PAUSED_INTERVAL: Duration = Duration::from_millis(250);
/// How long it is waited for room in the stream, or for a broker that is away.
const AWAY_PAUSE: Duration = Duration::from_secs(1);

/// After so many attempts that it had to wait at it is said again.
const REMINDER_ATTEMPTS: u32 = 900;

/// Why an issue could not be handed out to its end.
#[derive(Debug, thiserror::Error)]
enum FanOutError {
    #[error(transparent)]
    Store(#[from] IssueStoreError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the stream {SENDINGS_STREAM} does not take a mail: {0}")]
    Publish(#[from] PublishError),
}

/// What was put into the stream of the mails of a step.
struct Put {
    /// How many of the first are stored.
    stored: usize,
    /// The sequences of those that were not counted yet.
    new: BTreeSet<u64>,
    /// Why the next is not.
    refused: Option<PublishError>,
}

/// Hands out the issue that an event asks for. One that is paused waits here.
pub async fn fan_out(newsletter: &Newsletter, delivery: Delivery) -> Outcome {
    let (event, issue) = match read(&delivery) {
        Ok(read) => read,
        Err(reason) => return Failure::permanent(reason).into(),
    };
    if event.data.audience != Audience::Subscribers {
        return Outcome::Delivered;
    }
    let handing_out = FanOut {
        newsletter,
        issue,
        event,
    };
    tokio::select! {
        biased;
        // What is done is noted after each step.
        () = delivery.stopped() => Outcome::NotBegun,
        handed_out = handing_out.run() => match handed_out {
            Ok(()) => Outcome::Delivered,
            Err(FanOutError::Store(error @ IssueStoreError::Unreadable { .. })) => {
                Failure::permanent(error).into()
            }
            Err(error) => {
                if delivery.attempt % REMINDER_ATTEMPTS == 1 {
                    tracing::warn!(%error, %issue, "the issue waits");
                }
                // It is never given up for waiting: a limit may let it go for weeks.
                Outcome::NotYet {
                    reason: error.to_string(),
                    pause: AWAY_PAUSE,
                }
            }
        },
    }
}

fn read(delivery: &Delivery) -> Result<(Event<NewsletterIssueRequested>, IssueId), String> {
    let event = delivery.event().map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("not an issue: unreadable at line {line}, column {column}")
    })?;
    let issue = delivery.person.as_str().parse();
    Ok((
        event,
        issue.map_err(|error: site_events::sending::InvalidIssueId| error.to_string())?,
    ))
}

/// An issue that is being handed out.
struct FanOut<'a> {
    newsletter: &'a Newsletter,
    issue: IssueId,
    event: Event<NewsletterIssueRequested>,
}

/// What comes of some entries of the bucket.
struct Step {
    sendings: Vec<StepSending>,
    /// Those of the steps before among them.
    passed_over: PassedOver,
    /// The last sequence that was looked at.
    position: u64,
    looked_at: usize,
}

/// A mail of a step, and how far that is with it.
struct StepSending {
    sending: Sending,
    passed_over: PassedOver,
    position: u64,
}

impl Step {
    /// How far it is with as many of its mails, if that is not all.
    fn cut(&mut self, stored: usize) {
        if let Some(last) = stored.checked_sub(1).and_then(|last| self.sendings.get(last)) {
            (self.passed_over, self.position) = (last.passed_over, last.position);
        }
    }
}

impl FanOut<'_> {
    async fn run(&self) -> Result<(), FanOutError> {
        let Some(mut entry) = self.until_it_may_go_on().await? else {
            return Ok(());
        };
        loop {
            let mut entries = self.newsletter.subscribers.since(entry.record.position + 1);
            loop {
                let mut step = self.next_step(&mut entries, &entry.record).await?;
                let Put { stored, new, refused } = self.put(&step.sendings, &entry.record).await?;
                let refused = match refused {
                    Some(refused) if stored == 0 => return Err(refused.into()),
                    refused => refused,
                };
                if refused.is_some() {
                    step.cut(stored);
                }
                let is_last = refused.is_none() && step.looked_at < STEP;
                let next = self.after(&entry.record, &step, &new, is_last);
                match self.note(&next, entry.revision).await? {
                    Some(revision) => {
                        entry = Entry {
                            record: next,
                            revision,
                        };
                    }
                    // It was paused or canceled meanwhile, or another process hands it out.
                    None => break,
                }
                if let Some(refused) = refused {
                    return Err(refused.into());
                }
                if is_last {
                    let record = &entry.record;
                    tracing::info!(issue = %self.issue, queued = record.queued, "the issue is handed out");
                    return Ok(());
                }
            }
            match self.until_it_may_go_on().await? {
                Some(changed) => entry = changed,
                None => return Ok(()),
            }
        }
    }

    /// How far the issue is, once it runs; nothing where there is nothing left to do.
    async fn until_it_may_go_on(&self) -> Result<Option<Entry<IssueProgress>>, FanOutError> {
        loop {
            let entry = match self.newsletter.issues.progress(self.issue).await? {
                Some(entry) => entry,
                None => Entry {
                    record: self.begun(),
                    revision: 0,
                },
            };
            match entry.record.state {
                _ if entry.record.handed_out.is_some() => return Ok(None),
                IssueState::Running => return Ok(Some(entry)),
                IssueState::Canceled => {
                    tracing::info!(issue = %self.issue, "the issue was canceled");
                    return Ok(None);
                }
                IssueState::Paused => tokio::time::sleep(PAUSED_INTERVAL).await,
            }
        }
    }

    fn begun(&self) -> IssueProgress {
        let NewsletterIssueRequested { name, subject, .. } = &self.event.data;
        IssueProgress::new(name.clone(), subject.clone(), self.event.time)
    }

    async fn next_step(
        &self,
        entries: &mut Messages<'_>,
        before: &IssueProgress,
    ) -> Result<Step, FanOutError> {
        let mut step = Step {
            sendings: Vec::new(),
            passed_over: before.passed_over,
            position: before.position,
            looked_at: 0,
        };
        while step.looked_at < STEP {
            let Some(entry) = entries.try_next().await? else {
                return Ok(step);
            };
            step.position = entry.sequence;
            step.looked_at += 1;
            match self.newsletter.subscribers.record_of(&entry) {
                Ok(None) => {}
                Ok(Some((person, subscriber))) => self.look_at(person, &subscriber, &mut step),
                Err(error @ SubscriberStoreError::Unreadable { .. }) => {
                    tracing::error!(%error, "the issue does not go to a subscriber");
                    step.passed_over.count(NotReached::Unreadable);
                }
                Err(error) => tracing::error!(%error, "an entry cannot be read"),
            }
        }
        Ok(step)
    }

    fn look_at(&self, person: PersonId, subscriber: &Subscriber, step: &mut Step) {
        match subscriber.reached_at(self.event.time) {
            Ok(_) => step.sendings.push(StepSending {
                sending: Sending {
                    id: self.issue.sending_id(subscriber.subscription),
                    subject: person,
                    requestid: self.event.requestid.clone(),
                    issue: self.issue,
                    test: None,
                    repeats_refused: false,
                },
                passed_over: step.passed_over,
                position: step.position,
            }),
            Err(why) => step.passed_over.count(why),
        }
    }

    /// Puts mails into their stream, and waits until the broker has stored them, all or as many as there is room for. Of a repetition the broker says where the first is. If that is behind what was noted, it is of a step that was not, as of a process
    /// that was killed; else it was counted, and is of a subscriber whose record has changed since.
    async fn put(&self, sendings: &[StepSending], before: &IssueProgress) -> Result<Put, FanOutError> {
        let issue = self.issue.to_string();
        let mut acknowledged = Vec::with_capacity(sendings.len());
        for StepSending { sending, .. } in sendings {
            let payload = serde_json::to_vec(sending).expect("a sending is plain values");
            let message = PublishMessage::build()
                .payload(payload.into())
                .message_id(sending.id.to_string())
                .expected_stream(SENDINGS_STREAM);
            let subject = subjects::sending(&issue, sending.subject.as_str());
            acknowledged.push(self.newsletter.context.send_publish(subject, message).await?);
        }
        let mut put = Put {
            stored: 0,
            new: BTreeSet::new(),
            refused: None,
        };
        for ack in acknowledged {
            match ack.await {
                Ok(ack) => {
                    put.stored += 1;
                    if ack.sequence > before.last_sending {
                        put.new.insert(ack.sequence);
                    }
                }
                Err(error) => {
                    put.refused = Some(error);
                    break;
                }
            }
        }
        Ok(put)
    }

    fn after(
        &self,
        before: &IssueProgress,
        step: &Step,
        new: &BTreeSet<u64>,
        is_last: bool,
    ) -> IssueProgress {
        IssueProgress {
            position: step.position,
            queued: before.queued + new.len() as u64,
            last_sending: new.last().copied().unwrap_or(before.last_sending),
            passed_over: step.passed_over,
            handed_out: is_last.then(OffsetDateTime::now_utc),
            ..before.clone()
        }
    }

    /// Notes how far it is; gives the revision, and none where somebody else changed the record.
    async fn note(&self, progress: &IssueProgress, revision: u64) -> Result<Option<u64>, FanOutError> {
        match self
            .newsletter
            .issues
            .write_progress(self.issue, progress, revision)
            .await
        {
            Ok(revision) => Ok(Some(revision)),
            Err(IssueStoreError::Conflict) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
