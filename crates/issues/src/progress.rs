//! How far an issue is handed out, and whether it may go on.

use serde::{Deserialize, Serialize};
use subscribers::audience::NotReached;
use time::OffsetDateTime;

/// Whether an issue may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueState {
    /// Its mails are handed out and sent.
    Running,
    /// Nothing is begun any more.
    Canceled,
    /// Nothing is begun until it is resumed.
    Paused,
}

impl IssueState {
    /// The word for it, as the record has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Canceled => "canceled",
        }
    }
}

/// To how many records of the subscribers' bucket an issue does not go, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PassedOver {
    /// They have not confirmed.
    pub pending: u64,
    /// They left.
    pub unsubscribed: u64,
    /// Their address does not exist, or takes no mails.
    pub suppressed: u64,
    /// They confirmed after the issue was asked for.
    pub later: u64,
    /// Their record cannot be read.
    pub unreadable: u64,
}

impl PassedOver {
    /// Counts one more.
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

/// The record of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssueProgress {
    /// What it is called.
    pub name: String,
    /// Its subject line.
    pub subject: String,
    /// When it was asked for: who confirmed later gets the next one.
    #[serde(with = "time::serde::rfc3339")]
    pub requested: OffsetDateTime,
    /// Whether it may go on.
    pub state: IssueState,
    /// The last sequence of the subscribers' bucket that was looked at; handing out goes on behind it.
    pub position: u64,
    /// How many mails were put into the stream `SENDINGS`, each counted once.
    pub queued: u64,
    /// The last sequence of that stream under which one of those is.
    #[serde(default)]
    pub last_sending: u64,
    /// To whom it does not go.
    pub passed_over: PassedOver,
    /// When the last of them was put there.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub handed_out: Option<OffsetDateTime>,
}

impl IssueProgress {
    /// An issue of which nothing is handed out yet.
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

    /// Whether nothing is left to do, where so many of its mails wait.
    pub fn is_done(&self, waiting: u64) -> bool {
        self.handed_out.is_some() && waiting == 0 && self.state != IssueState::Canceled
    }
}
