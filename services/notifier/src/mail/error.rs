//! Errors of writing a mail, and whether a retry can help.

use site_broker::Failure;

/// Why a mail could not be written.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The event does not match its channel. Only the position is shown, because serde's text may repeat a visitor's
    /// name or message.
    #[error("the event does not match its type (line {}, column {})", .0.line(), .0.column())]
    Event(#[from] serde_json::Error),
    /// lettre rejects the address.
    #[error("the visitor's address is invalid")]
    Address,
    /// The link to the résumé could not be signed.
    #[error(transparent)]
    Link(#[from] resumes::ResumeStoreError),
    /// Earlier applications or the résumé cannot be read now.
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
    #[error("the message cannot be built: {0}")]
    Message(#[from] lettre::error::Error),
}

impl From<MailError> for Failure {
    fn from(error: MailError) -> Self {
        match error {
            MailError::RecruiterExtras(failure) => failure,
            // A wrong template is retried, because the next release can fix it.
            MailError::Link(_) | MailError::Template(_) => Self::retry(error),
            _ => Self::permanent(error),
        }
    }
}
