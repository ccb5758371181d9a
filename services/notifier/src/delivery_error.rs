//! Why an event was not delivered, and what is to become of it.

use site_broker::{GivenBack, Outcome, Pause};

use crate::{mail::MailError, storage::Unavailable, transport::smtp::SmtpError};

/// Why an event was not delivered.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error(transparent)]
    Deliveries(#[from] Unavailable),
    #[error(transparent)]
    Mail(#[from] MailError),
    #[error(transparent)]
    Smtp(#[from] SmtpError),
    #[error(transparent)]
    GivenBack(#[from] GivenBack),
    /// It waited for a mail server that takes nothing for a reason of ours.
    #[error(transparent)]
    Held(GivenBack),
    /// Nothing of it is sent, or kept.
    #[error("the event was erased meanwhile")]
    Erased,
    /// Whoever was to send it with others ended before.
    #[error("the bundle that it was in was not sent")]
    BundleIsGone,
}

impl From<DeliveryError> for Outcome {
    fn from(error: DeliveryError) -> Self {
        let reason = error.to_string();
        match error {
            DeliveryError::Smtp(SmtpError::Refused(_) | SmtpError::NoSuchAddress(_)) => Self::Refused(reason),
            DeliveryError::Smtp(SmtpError::NotBegun) => Self::NotBegun,
            DeliveryError::Erased => Self::Delivered,
            DeliveryError::Mail(error) if error.is_final() => Self::Refused(reason),
            DeliveryError::Smtp(SmtpError::Away { pause, .. }) => Self::Retry(reason, Pause::Just(pause)),
            DeliveryError::Smtp(SmtpError::Held { pause, .. }) => {
                Self::NotYet(reason, pause.map_or(Pause::Backoff, Pause::Just))
            }
            DeliveryError::Held(given_back) => match given_back.into() {
                Self::Retry(reason, pause) => Self::NotYet(reason, pause),
                outcome => outcome,
            },
            DeliveryError::Mail(error) => Self::Retry(reason, error.pause()),
            DeliveryError::GivenBack(given_back) => given_back.into(),
            DeliveryError::Deliveries(error) => error.into(),
            DeliveryError::Smtp(_) | DeliveryError::BundleIsGone => Self::Retry(reason, Pause::Backoff),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_held_for_a_reason_of_ours_is_never_given_up() {
        for pause in [None, Some(Duration::from_secs(5))] {
            let reason = "relaying denied".to_owned();
            let outcome = Outcome::from(DeliveryError::from(SmtpError::Held { reason, pause }));
            assert!(matches!(outcome, Outcome::NotYet(..)), "{outcome:?}");
        }
    }

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
