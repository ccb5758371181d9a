//! What the operator said of each issue of the newsletter: whether it goes on.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use issues::{IssueState, Issues};
use site_broker::{Delivery, Failure, ISSUES_BUCKET};
use site_events::IssueId;

/// How long it holds what was read: a pause takes effect within a second.
const READ_HOLDS: Duration = Duration::from_millis(250);
/// Of how many issues it is held.
const MAX_KNOWN: usize = 64;

/// The states of issues.
pub struct IssueStates {
    issues: Issues,
    known: Mutex<HashMap<IssueId, (Instant, IssueState)>>,
}

/// Whether a mail of an issue may be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// It may.
    Ahead,
    /// It never may: the issue was canceled.
    Canceled,
    /// The process stops while the issue is paused.
    Stopped,
}

impl IssueStates {
    /// The states that lie in this bucket.
    pub fn new(issues: Issues) -> Self {
        Self {
            issues,
            known: Mutex::default(),
        }
    }

    /// Whether an issue goes on, as it was a moment ago at the latest. One of which nothing is noted does: somebody looks at it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn state(&self, issue: IssueId) -> Result<IssueState, Failure> {
        let known = self.lock().get(&issue).copied();
        if let Some((read_at, state)) = known
            && read_at.elapsed() < READ_HOLDS
        {
            return Ok(state);
        }
        let read_at = Instant::now();
        let read = self.issues.progress(issue).await;
        let read = read.map_err(|error| Failure::of_store(ISSUES_BUCKET, error))?;
        let state = read.map_or(IssueState::Running, |entry| entry.record.state);
        let mut known = self.lock();
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.insert(issue, (read_at, state));
        Ok(state)
    }

    /// Waits while an issue is paused.
    ///
    /// # Errors
    ///
    /// As [`Self::state`].
    pub async fn wait(&self, issue: IssueId, delivery: &Delivery) -> Result<Go, Failure> {
        loop {
            match self.state(issue).await? {
                IssueState::Running => return Ok(Go::Ahead),
                IssueState::Canceled => return Ok(Go::Canceled),
                IssueState::Paused => tokio::select! {
                    () = delivery.stopped() => return Ok(Go::Stopped),
                    () = tokio::time::sleep(READ_HOLDS) => {}
                },
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<IssueId, (Instant, IssueState)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
