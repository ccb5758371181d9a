//! Progress and state of an issue.

use crate::audience::NotReached;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// State of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueState {
    /// Mails are queued and sent.
    Running,
    /// No further mail goes out.
    Canceled,
    /// No further mail goes out until the operator resumes the issue.
    Paused,
}

impl IssueState {
    /// Name of the state, as stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Canceled => "canceled",
        }
    }
}

/// Numbers of skipped subscribers, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PassedOver {
    /// The subscription is not confirmed.
    pub pending: u64,
    /// The subscription ended.
    pub unsubscribed: u64,
    /// The address does not exist or accepts no mails.
    pub suppressed: u64,
    /// Confirmed after the issue was requested.
    pub later: u64,
    /// The record cannot be read.
    pub unreadable: u64,
}

impl PassedOver {
    /// Counts one skipped subscriber.
    pub fn count(&mut self, why: NotReached) {
        *match why {
            NotReached::Pending => &mut self.pending,
            NotReached::Unsubscribed => &mut self.unsubscribed,
            NotReached::Suppressed => &mut self.suppressed,
            NotReached::Later => &mut self.later,
            NotReached::Unreadable => &mut self.unreadable,
        } += 1;
    }
}

/// Stored progress of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueProgress {
    /// Name of the issue.
    pub name: String,
    /// Subject line.
    pub subject: String,
    /// Time of the request. Later subscribers get the next issue.
    #[serde(with = "time::serde::rfc3339")]
    pub requested: OffsetDateTime,
    /// Current state.
    pub state: IssueState,
    /// Sequence of the last visited entry in the subscribers' bucket.
    pub position: u64,
    /// Mails published to the stream `SENDINGS`, without duplicates.
    pub queued: u64,
    /// Sequence of the issue's latest mail in `SENDINGS`.
    #[serde(default)]
    pub last_sending: u64,
    /// Skipped subscribers.
    pub passed_over: PassedOver,
    /// When all mails were queued.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub handed_out: Option<OffsetDateTime>,
}

impl IssueProgress {
    /// New issue without queued mails.
    pub fn new(name: String, subject: String, requested: OffsetDateTime) -> Self {
        Self {
            name,
            subject,
            requested,
            state: IssueState::Running,
            position: 0,
            queued: 0,
            last_sending: 0,
            passed_over: PassedOver::default(),
            handed_out: None,
        }
    }

    /// Whether the issue is complete. `waiting` is the number of its mails in the queue.
    pub fn is_done(&self, waiting: u64) -> bool {
        self.handed_out.is_some() && waiting == 0 && self.state != IssueState::Canceled
    }
}
