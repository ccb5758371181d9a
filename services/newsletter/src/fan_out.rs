//! Fan-out of an issue: queues one mail per subscriber in `SENDINGS`, within the limits (see
//! `subscribers::issues`).

use std::{collections::BTreeSet, time::Duration};

use async_nats::jetstream::message::PublishMessage;
use futures_util::TryStreamExt as _;
use site_broker::{Delivery, Failure, Outcome, Record, RecordError};
use site_events::{
    Event, IssueId, SENDINGS_STREAM, Sending,
    event::{Audience, NewsletterIssueRequested},
    subjects,
};
use subscribers::issues::{IssueProgress, IssueState};
use subscribers::{Subscriber, audience::NotReached};
use time::OffsetDateTime;
use visitor::PersonId;

use crate::newsletter::Newsletter;

/// Maximum number of subscribers in a step.
const STEP: usize = 250;
/// Poll interval of a paused issue.
const PAUSED_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum wait for a limit before the issue's state is read again.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Pause after an error.
const ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Next action after a step.
enum Next {
    /// Another step after this time.
    Step(Duration),
    /// Nothing: all subscribers were visited, or the issue is canceled.
    End,
}

/// Queues all mails of a requested issue, and only then acknowledges its event.
pub async fn fan_out(newsletter: &Newsletter, delivery: Delivery) -> Outcome {
    let event: Event<NewsletterIssueRequested> = match delivery.event() {
        Ok(event) => event,
        Err(error) => return Failure::unreadable("an issue", &error).into(),
    };
    let issue = IssueId::from(&delivery.person);
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
            Err(error @ RecordError::Unreadable { .. }) => Failure::permanent(error).into(),
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

struct FanOut<'a> {
    newsletter: &'a Newsletter,
    issue: IssueId,
    event: Event<NewsletterIssueRequested>,
}

impl FanOut<'_> {
    async fn run(&self) -> Result<(), RecordError> {
        while let Next::Step(pause) = self.step().await? {
            tokio::time::sleep(pause.min(MAX_WAIT)).await;
        }
        Ok(())
    }

    async fn step(&self) -> Result<Next, RecordError> {
        let issues = &self.newsletter.issues;
        let NewsletterIssueRequested { name, subject, .. } = &self.event.data;
        let Record { value, revision } = issues.progress(self.issue).await?;
        let first = || IssueProgress::new(name.clone(), subject.clone(), self.event.time);
        let record = value.unwrap_or_else(first);
        match record.state {
            _ if record.handed_out.is_some() => return Ok(Next::End),
            IssueState::Canceled => return Ok(Next::End),
            IssueState::Paused => return Ok(Next::Step(PAUSED_INTERVAL)),
            IssueState::Running => {}
        }
        let mut progress = record.clone();
        let (sendings, next) = self.collect(&mut progress).await?;
        let new = self.queue(&sendings, record.last_sending).await?;
        progress.queued += new.len() as u64;
        progress.last_sending = new.last().copied().unwrap_or(record.last_sending);
        let is_end = matches!(next, Next::End);
        progress.handed_out = is_end.then(OffsetDateTime::now_utc);
        if progress != record {
            issues.write_progress(self.issue, &progress, revision).await?;
        }
        if is_end {
            tracing::info!(issue = %self.issue, queued = progress.queued, "all mails of the issue are queued");
        }
        Ok(next)
    }

    /// Collects mails for the next subscribers. Stores the counts of the limits before the mails are queued,
    /// so that a crash leaves no mail uncounted.
    async fn collect(&self, progress: &mut IssueProgress) -> Result<(Vec<Sending>, Next), RecordError> {
        let Newsletter {
            issues, subscribers, ..
        } = self.newsletter;
        let Record { value, revision } = issues.limits().await?;
        let mut table = value.unwrap_or_default();
        let mut queue = issues.queue().await?;
        let (mut sendings, mut next) = (Vec::new(), Next::Step(Duration::ZERO));
        let mut entries = subscribers.since(progress.position + 1);
        for _ in 0..STEP {
            let Some(entry) = entries.try_next().await.map_err(RecordError::unavailable)? else {
                next = Next::End;
                break;
            };
            match subscribers.record_of(&entry) {
                Ok(None) => {}
                Ok(Some((person, subscriber))) => match subscriber.reached_at(self.event.time) {
                    Ok(_) => {
                        let (limits, now) = (&self.newsletter.limits, OffsetDateTime::now_utc());
                        if let Err(wait) = table.take(&mut queue, limits, now) {
                            next = Next::Step(wait);
                            break;
                        }
                        sendings.push(self.sending(person, &subscriber));
                    }
                    Err(why) => progress.passed_over.count(why),
                },
                Err(error) => {
                    tracing::error!(%error, "the issue skips a subscriber");
                    progress.passed_over.count(NotReached::Unreadable);
                }
            }
            progress.position = entry.sequence;
        }
        issues.write_limits(&table, revision).await?;
        Ok((sendings, next))
    }

    fn sending(&self, person: PersonId, subscriber: &Subscriber) -> Sending {
        Sending {
            id: self.issue.sending_id(subscriber.subscription),
            subject: person,
            requestid: self.event.requestid.clone(),
            issue: self.issue,
            test: None,
        }
    }

    /// Queues mails, awaits all acks and returns the sequences that are not counted yet. For a duplicate the
    /// broker returns the first mail's sequence, which may be counted already.
    async fn queue(&self, sendings: &[Sending], last_counted: u64) -> Result<BTreeSet<u64>, RecordError> {
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
