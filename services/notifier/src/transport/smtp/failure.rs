//! SMTP failures, with texts that are safe to log.

use std::fmt::Display;

use lettre::{Address, transport::smtp::Error};
use site_broker::Failure;
use visitor::invisible::is_invisible;

use site_mail::refusal::{Refusal, SmtpStage, is_system_failure};

const ADDRESS: &str = "[address]";

/// Why a mail was not accepted, with the cause of a rejection. The text names no recipient.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{failure}")]
pub struct SmtpFailure {
    pub failure: Failure,
    pub refusal: Option<Refusal>,
}

impl From<Failure> for SmtpFailure {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            refusal: None,
        }
    }
}

impl SmtpFailure {
    pub fn unavailable(reason: impl Display) -> Self {
        Failure::retry_later(format!("the mail server is unavailable: {reason}")).into()
    }

    pub fn unanswered(stage: SmtpStage, reason: impl Display) -> Self {
        match stage {
            SmtpStage::Sender => Self::unavailable(reason),
            SmtpStage::Recipient | SmtpStage::Content => Self::deferred(reason),
        }
    }

    /// The server deferred this mail, or its answer was lost.
    fn deferred(reason: impl Display) -> Self {
        Failure::retry(format!("the mail server did not accept it: {reason}")).into()
    }

    pub fn refused(refusal: Refusal, reason: impl Display) -> Self {
        Self {
            failure: Failure::permanent(format!("the mail server refused it: {reason}")),
            refusal: Some(refusal),
        }
    }

    pub fn of(error: &Error, stage: SmtpStage, recipients: &[Address]) -> Self {
        let reason = without_addresses(&error.to_string(), recipients);
        let text = reason.replace(ADDRESS, "");
        let Some(code) = error.status().map(u16::from) else {
            return match stage {
                // The server does not support the configured encryption or login.
                SmtpStage::Sender if error.is_client() => Self::refused(Refusal::Account, reason),
                _ => Self::unanswered(stage, reason),
            };
        };
        let refusal = Refusal::of(code, &text, stage);
        if error.is_permanent() {
            return Self::refused(refusal, reason);
        }
        // The server may answer 421 to any command and close the connection (RFC 5321, 3.8).
        match refusal == Refusal::Account || code == 421 || is_system_failure(code, &text) {
            true => Self::unavailable(reason),
            false => Self::deferred(reason),
        }
    }
}

/// Removes addresses and their local parts, and invisible characters, which could reverse the text around them.
fn without_addresses(reason: &str, recipients: &[Address]) -> String {
    let is_local_part = |word: &str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let mut users = recipients.iter().map(Address::user);
        users.any(|user| user.eq_ignore_ascii_case(word))
    };
    let is_shown = |c: &char| c.is_whitespace() || !(c.is_control() || is_invisible(*c));
    let reason: String = reason.chars().filter(is_shown).collect();
    let words = reason.split_whitespace().map(|word| {
        let mut pieces = word.split(|c: char| !c.is_alphanumeric() && !".-_+".contains(c));
        let is_address = word.contains('@') || is_local_part(word) || pieces.any(is_local_part);
        if is_address { ADDRESS } else { word }
    });
    words.collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_logged_without_the_address() {
        let recipients = ["asha.rao@example.com".parse().expect("an address")];
        for (said, logged) in [
            (
                "permanent error (550): 5.1.1 <asha.rao@example.com>: Recipient address rejected",
                "permanent error (550): 5.1.1 [address] Recipient address rejected",
            ),
            ("550 No such user: ASHA.RAO.", "550 No such user: [address]"),
            ("550 to=<asha.rao>;user:Asha.Rao unknown", "550 [address] unknown"),
            ("550 asha\u{200b}.rao\0 gone", "550 [address] gone"),
            ("421 Too\u{202e} bu\u{1b}sy", "421 Too busy"),
        ] {
            assert_eq!(without_addresses(said, &recipients), logged);
        }
    }
}
