//! Why a mail could not be written, and whether trying again is in vain.

use site_broker::{Failure, Remedy};

/// Why a mail could not be written.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The event is not what its channel takes. Only the place is told: the reader's own
    /// words repeat the value, which may be a visitor's name or message.
    #[error("the event cannot be read: it is not what its type says (line {}, column {})", .0.line(), .0.column())]
    Event(#[from] serde_json::Error),
    /// The library that writes mails does not take the address.
    #[error("the visitor's address is not one that a mail can go to")]
    Address,
    /// The link to the résumé could not be made.
    #[error(transparent)]
    Link(#[from] resumes::ResumeStoreError),
    /// The extras of the mail cannot be loaded now.
    #[error(transparent)]
    RecruiterExtras(#[from] Failure),
    /// The link that the mail is for leads nowhere any more.
    #[error("the sign-up expired before its mail could be sent")]
    Expired,
    /// The résumé says of itself what no file is.
    #[error("the résumé has no media type")]
    Attachment,
    /// A template asks for what it is not given.
    #[error("the template is wrong: {0}")]
    Template(#[from] minijinja::Error),
    /// The parts do not make a message.
    #[error("the message cannot be put together: {0}")]
    Message(#[from] lettre::error::Error),
}

impl MailError {
    /// Whether trying again is in vain. A template that is wrong is not: the next
    /// release mends it, and the event is still there.
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
