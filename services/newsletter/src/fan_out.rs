//! Hands out an issue: puts one mail for each subscriber into the work queue `SENDINGS`, within the limits. How that works together
//! with the notifiers is said at the crate `issues`.

use std::{collections::BTreeSet, time::Duration};

use async_nats::jetstream::{context::PublishError, message::PublishMessage};
use futures_util::TryStreamExt as _;
use issues::{Entry, IssueProgress, IssueState, PassedOver};
use site_broker::{Delivery, Failure, Outcome, ReadError, RecordError};
use site_events::{
    Event, IssueId, SENDINGS_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use subscribers::{Subscriber, audience::NotReached};
use time::OffsetDateTime;
use visitor::PersonId;

use crate::newsletter::Newsletter;

/// How many subscribers a step goes through at most.
const STEP: usize = 250;
/// How often the state of a paused issue is read.
const PAUSED_INTERVAL: Duration = Duration::from_millis(250);
/// The longest wait for a limit before the state is read again.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// The wait after an error.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Why a step failed. It is repeated.
#[derive(Debug, thiserror::Error)]
enum FanOutError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the queue {SENDINGS_STREAM} does not take a mail: {0}")]
    Publish(#[from] PublishError),
}

/// What follows a step.
enum Next {
    /// Another step after this time.
    Step(Duration),
    /// Nothing: everybody was looked at, or the issue is canceled.
    End,
}

/// Hands out the issue that an event asks for, and holds the event until that is done.
pub async fn fan_out(newsletter: &Newsletter, delivery: Delivery) -> Outcome {
    let event = delivery.event().map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("not an issue: unreadable at line {line}, column {column}")
    });
    let issue = delivery.person.as_str().parse();
    let issue = issue.map_err(|error: site_events::sending::InvalidIssueId| error.to_string());
    let (event, issue): (Event<NewsletterIssueRequested>, IssueId) = match (event, issue) {
        (Ok(event), Ok(issue)) => (event, issue),
        (Err(reason), _) | (_, Err(reason)) => return Failure::permanent(reason).into(),
    };
    if event.data.audience != Audience::Subscribers {
        return Outcome::Delivered;
    }
    let fan_out = FanOut {
        newsletter,
        issue,
        event,
    };
    tokio::select! {
        biased;
        () = delivery.stopped() => Outcome::NotBegun,
        done = fan_out.run() => match done {
            Ok(()) => Outcome::Delivered,
            Err(FanOutError::Record(error @ RecordError::Unreadable { .. })) => {
                Failure::permanent(error).into()
            }
            Err(error) => {
                tracing::warn!(%error, %issue, "the issue waits");
                Outcome::NotYet {
                    reason: error.to_string(),
                    pause: ERROR_PAUSE,
                }
            }
        },
    }
}

/// An issue that is being handed out.
struct FanOut<'a> {
    newsletter: &'a Newsletter,
    issue: IssueId,
    event: Event<NewsletterIssueRequested>,
}

/// The subscribers of one step.
struct Step {
    sendings: Vec<Sending>,
    /// Those of the steps before included.
    passed_over: PassedOver,
    /// The last sequence that was looked at.
    position: u64,
    /// What follows it.
    next: Next,
}

impl FanOut<'_> {
    async fn run(&self) -> Result<(), FanOutError> {
        while let Next::Step(pause) = self.step().await? {
            tokio::time::sleep(pause.min(MAX_WAIT)).await;
        }
        Ok(())
    }

    async fn step(&self) -> Result<Next, FanOutError> {
        let issues = &self.newsletter.issues;
        let NewsletterIssueRequested { name, subject, .. } = &self.event.data;
        let Entry { record, revision } = issues.progress(self.issue).await?.unwrap_or_else(|| Entry {
            record: IssueProgress::new(name.clone(), subject.clone(), self.event.time),
            revision: 0,
        });
        match record.state {
            _ if record.handed_out.is_some() => return Ok(Next::End),
            IssueState::Canceled => return Ok(Next::End),
            IssueState::Paused => return Ok(Next::Step(PAUSED_INTERVAL)),
            IssueState::Running => {}
        }
        let step = self.take(&record).await?;
        let new = self.put(&step.sendings, record.last_sending).await?;
        let is_end = matches!(step.next, Next::End);
        let progress = IssueProgress {
            position: step.position,
            queued: record.queued + new.len() as u64,
            last_sending: new.last().copied().unwrap_or(record.last_sending),
            passed_over: step.passed_over,
            handed_out: is_end.then(OffsetDateTime::now_utc),
            ..record.clone()
        };
        if progress != record {
            issues.write_progress(self.issue, &progress, revision).await?;
        }
        if is_end {
            tracing::info!(issue = %self.issue, queued = progress.queued, "the issue is handed out");
        }
        Ok(step.next)
    }

    /// The next subscribers, as many as the limits allow. The table is written before their mails are put into the queue: a kill in between
    /// may count a mail to a domain twice, and leaves none out.
    async fn take(&self, before: &IssueProgress) -> Result<Step, FanOutError> {
        let Newsletter {
            issues, subscribers, ..
        } = self.newsletter;
        let mut table = issues.limits().await?;
        let mut queue = issues.queue().await?;
        let mut step = Step {
            sendings: Vec::new(),
            passed_over: before.passed_over,
            position: before.position,
            next: Next::Step(Duration::ZERO),
        };
        let mut entries = subscribers.since(before.position + 1);
        for _ in 0..STEP {
            let Some(entry) = entries.try_next().await? else {
                step.next = Next::End;
                break;
            };
            match subscribers.record_of(&entry) {
                Ok(None) => {}
                Ok(Some((person, subscriber))) => match subscriber.reached_at(self.event.time) {
                    Ok(address) => {
                        let (limits, now) = (&self.newsletter.limits, OffsetDateTime::now_utc());
                        let domain = address.as_str().rsplit('@').next().unwrap_or_default();
                        let place = table.record.take(domain, &mut queue, limits, now);
                        if let Err(wait) = place {
                            step.next = Next::Step(wait);
                            break;
                        }
                        step.sendings.push(self.sending(person, &subscriber));
                    }
                    Err(why) => step.passed_over.count(why),
                },
                Err(error) => {
                    tracing::error!(%error, "the issue does not go to a subscriber");
                    step.passed_over.count(NotReached::Unreadable);
                }
            }
            step.position = entry.sequence;
        }
        issues.write_limits(&table.record, table.revision).await?;
        Ok(step)
    }

    fn sending(&self, person: PersonId, subscriber: &Subscriber) -> Sending {
        Sending {
            id: self.issue.sending_id(subscriber.subscription),
            subject: person,
            requestid: self.event.requestid.clone(),
            issue: self.issue,
            test: None,
            repeats_refused: false,
        }
    }

    /// Puts mails into the queue, and waits until the broker has stored them all. Gives the sequences of those that are not counted yet. Of a
    /// repeated mail the broker gives the sequence of the first: it was counted unless it lies behind the last one that was.
    async fn put(&self, sendings: &[Sending], last_counted: u64) -> Result<BTreeSet<u64>, FanOutError> {
        let issue = self.issue.to_string();
        let mut acknowledged = Vec::with_capacity(sendings.len());
        for sending in sendings {
            let payload = serde_json::to_vec(sending).expect("a sending is plain values");
            let message = PublishMessage::build()
                .payload(payload.into())
                .message_id(sending.id.to_string())
                .expected_stream(SENDINGS_STREAM);
            let subject = subjects::sending(&issue, sending.subject.as_str());
            acknowledged.push(self.newsletter.context.send_publish(subject, message).await?);
        }
        let mut sequences = BTreeSet::new();
        for ack in acknowledged {
            sequences.insert(ack.await?.sequence);
        }
        Ok(sequences.split_off(&(last_counted + 1)))
    }
}
