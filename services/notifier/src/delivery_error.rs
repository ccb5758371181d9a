//! Why an event was not delivered, and what is to become of it.

use site_broker::{GivenBack, Outcome, Pause};

use crate::{mail::MailError, storage::Unavailable, transport::smtp::SmtpFailure};

/// Why an event was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error(transparent)]
    Deliveries(#[from] Unavailable),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Smtp(#[from] SmtpFailure),
    #[error(transparent)]
    GivenBack(#[from] GivenBack),
    /// Nothing of it is sent, or kept.
    #[error("the event was erased meanwhile")]
    Erased,
}

impl From<DeliveryError> for Outcome {
    fn from(error: DeliveryError) -> Self {
        let reason = error.to_string();
        match error {
            DeliveryError::Smtp(error) => error.failure.into(),
            DeliveryError::Erased => Self::Delivered,
            DeliveryError::Mail(error) if error.is_final() => Self::Refused(reason),
            DeliveryError::Mail(error) => Self::Retry(reason, error.pause()),
            DeliveryError::GivenBack(given_back) => given_back.into(),
            DeliveryError::Deliveries(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_is_wrong_costs_no_event() {
        let wrong = minijinja::Error::from(minijinja::ErrorKind::UndefinedError);
        let outcome = Outcome::from(DeliveryError::from(MailError::from(wrong)));
        assert!(
            matches!(outcome, Outcome::Retry(_, Pause::Backoff)),
            "{outcome:?}"
        );
    }
}
