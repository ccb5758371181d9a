//! Errors of writing a mail, and whether a retry can help.

use site_broker::{Failure, Remedy};

/// Why a mail could not be written.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The event does not match its channel. Only the position is shown: serde's text may repeat a visitor's name or
    /// message.
    #[error("the event cannot be read: it is not what its type says (line {}, column {})", .0.line(), .0.column())]
    Event(#[from] serde_json::Error),
    /// lettre rejects the address.
    #[error("the visitor's address is not one that a mail can go to")]
    Address,
    /// The link to the résumé could not be signed.
    #[error(transparent)]
    Link(#[from] resumes::ResumeStoreError),
    /// The recruiters' extras are unavailable now.
    #[error(transparent)]
    RecruiterExtras(#[from] Failure),
    /// The confirmation link has expired.
    #[error("the sign-up expired before its mail could be sent")]
    Expired,
    /// The résumé's media type is invalid.
    #[error("the résumé has no media type")]
    Attachment,
    /// A template is wrong.
    #[error("the template is wrong: {0}")]
    Template(#[from] minijinja::Error),
    /// The parts do not form a message.
    #[error("the message cannot be put together: {0}")]
    Message(#[from] lettre::error::Error),
}

impl MailError {
    /// Whether a retry is useless. A wrong template is retried: the next release fixes it and still finds the event.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Event(_) | Self::Address | Self::Expired | Self::Attachment | Self::Message(_) => true,
            Self::RecruiterExtras(failure) => failure.remedy == Remedy::DeadLetter,
            Self::Link(_) | Self::Template(_) => false,
        }
    }
}

impl From<MailError> for Failure {
    fn from(error: MailError) -> Self {
        match error {
            MailError::RecruiterExtras(failure) => failure,
            error if error.is_final() => Self::permanent(error),
            error => Self::retry(error),
        }
    }
}
