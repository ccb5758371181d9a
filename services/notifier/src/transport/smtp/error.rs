//! SMTP error: why a message was not taken, in words that are fit for a log.

use std::time::Duration;

use lettre::{address::Envelope, transport::smtp};
use visitor::invisible::is_invisible;

use super::refusal::{Refusal, enhanced_status, is_about_our_account};

/// What stands in logs instead of an address.
const ADDRESS: &str = "[address]";

/// Why a message was not taken. The text is for logs: it names no recipient.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SmtpError {
    /// The server will never take this message for this recipient (RFC 5321, 4.2.1: 5yz).
    #[error("the mail server refused it: {0}")]
    Refused(String),
    /// The server will never take anything for this recipient: there is no such address.
    #[error("the mail server refused it: {0}")]
    NoSuchAddress(String),
    /// The server refused it, and it is not known yet whether that is about the message or about us.
    #[error("the mail server refused it: {0}")]
    Unconfirmed(String),
    /// The server takes nothing from us, which is ours to mend and no fault of the message: it is never given up for that.
    #[error("the mail server refuses our account: {reason}")]
    Held {
        /// What it said.
        reason: String,
        /// How long until it is asked again; none where it takes other messages.
        pause: Option<Duration>,
    },
    /// It may be taken later.
    #[error("the mail server did not take it: {0}")]
    Temporary(String),
    /// It was sent, and it is not known what became of it.
    #[error("the mail server did not take it: {0}")]
    MayBeTaken(String),
    /// The server puts off the recipients of one domain after the other, and it is not known whether these do, or it is away.
    #[error("the mail server did not take it: {0}")]
    DomainsPutOff(String),
    /// The server said that it does not take it now, whoever it is for.
    #[error("the mail server did not take it: {0}")]
    Deferred(String),
    /// The server is away, or takes nothing from us at present.
    #[error("the mail server is away: {reason}")]
    Away {
        /// What it said, or what failed.
        reason: String,
        /// How long until it is asked again.
        pause: Duration,
    },
    /// The server was found away meanwhile, and was not asked.
    #[error("the mail server is away, and is not asked now")]
    NotAsked,
    /// Nothing of it was sent: the notifier stops.
    #[error("the notifier stops before it is sent")]
    NotBegun,
}

/// Why a message was not handed over, and what that says of the server.
#[derive(Debug)]
pub enum HandOverError {
    /// The server refused it for good (5yz), or for a reason of ours.
    Refused(Refusal, String),
    /// The server answered that it does not take the message now (4yz), whoever it is for, and not whose fault that is.
    Deferred(String),
    /// The server answered that it does not take the message now for its recipient (4yz): that one's own matter, as greylisting at its
    /// domain, or the server's, which says so of each.
    RecipientDeferred(String),
    /// The connection ended within the content: the server may have taken the message.
    Interrupted(String),
    /// The server did not say in time whether it took the content.
    Unanswered(String),
    /// The server was reached, and takes nothing at present.
    Failing(String),
    /// The server was not reached.
    Unreachable(String),
}

/// Stage of the SMTP transaction that an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpStage {
    /// Before a message: greeting, encryption and login.
    Greeting,
    /// The sender: to take mails from us.
    Sender,
    /// The recipient: to take a mail for it.
    Recipient,
    /// The command that announces the content.
    Data,
    /// The content: to take the mail itself.
    Content,
}

impl HandOverError {
    /// What an answer means for the message and for the server, or that there is none.
    pub fn of(error: &smtp::Error, stage: SmtpStage, envelope: Option<&Envelope>) -> Self {
        let reason = without_addresses(&error.to_string(), envelope);
        let words = reason.replace(ADDRESS, "");
        let Some(code) = error.status().map(u16::from) else {
            return match stage {
                SmtpStage::Content => Self::Interrupted(reason),
                // It offers no encryption or login of the kind that is set.
                SmtpStage::Greeting if error.is_client() => Self::Refused(Refusal::Account, reason),
                SmtpStage::Greeting => Self::Unreachable(reason),
                _ => Self::Failing(reason),
            };
        };
        if is_about_our_account(code, &words) {
            return Self::Refused(Refusal::Account, reason);
        }
        // RFC 5321, 3.8: by 421 it closes the connection, whatever it was told.
        let is_failing = code == 421 || is_system_failure(code, &words);
        match stage {
            _ if is_failing => Self::Failing(reason),
            // Before a recipient is named it is about nobody but us.
            SmtpStage::Greeting | SmtpStage::Sender if error.is_permanent() => {
                Self::Refused(Refusal::Account, reason)
            }
            SmtpStage::Greeting | SmtpStage::Sender => Self::Failing(reason),
            _ if error.is_permanent() => Self::Refused(Refusal::of(code, &words, stage), reason),
            SmtpStage::Recipient => Self::RecipientDeferred(reason),
            SmtpStage::Data | SmtpStage::Content => Self::Deferred(reason),
        }
    }

    /// Of a recipient whose address only some servers know (RFC 6531).
    pub fn international_address() -> Self {
        let reason = "it takes no address that is not ASCII (SMTPUTF8)";
        Self::Refused(Refusal::Recipient, reason.to_owned())
    }
}

/// Answers about the server itself, which takes nothing then, whatever it is given: the status of the mail system (RFC 3463,
/// 3.4), save for 4.3.4, a message that is too big, and a full storage (RFC 5321, 4.2.3).
fn is_system_failure(code: u16, words: &str) -> bool {
    match enhanced_status(4, words) {
        Some((subject, detail)) => subject == 3 && detail != 4,
        None => code == 452,
    }
}

/// Servers like to repeat the address that they refuse, or the part before its `@`; logs must not hold it. What nobody sees is
/// left out: it could turn round the words beside it.
fn without_addresses(reason: &str, envelope: Option<&Envelope>) -> String {
    let is_local_part = |word: &str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let mut recipients = envelope.iter().flat_map(|envelope| envelope.to());
        recipients.any(|address| address.user().eq_ignore_ascii_case(word))
    };
    let is_shown = |c: &char| c.is_whitespace() || !(c.is_control() || is_invisible(*c));
    let reason: String = reason.chars().filter(is_shown).collect();
    let words = reason.split_whitespace().map(|word| {
        let mut pieces = word.split(|c: char| !c.is_alphanumeric() && !".-_+".contains(c));
        if word.contains('@') || is_local_part(word) || pieces.any(is_local_part) {
            ADDRESS
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope() -> Envelope {
        let to = "asha.rao@example.com".parse().expect("an address");
        Envelope::new(None, vec![to]).expect("an envelope")
    }

    #[test]
    fn a_refusal_is_logged_without_the_address() {
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
            assert_eq!(without_addresses(said, Some(&envelope())), logged);
        }
    }

    #[test]
    fn what_is_about_the_server_is_told_from_what_is_about_a_message() {
        for (code, words, about_the_server) in [
            (
                450,
                "transient error (450): 4.3.2 System not accepting messages",
                true,
            ),
            (451, "transient error (451): 4.3.0 Queue file write error", true),
            (452, "transient error (452): Insufficient system storage", true),
            (452, "transient error (452): 4.3.4 Message too big", false),
            (452, "transient error (452): 4.5.3 Too many recipients", false),
            (450, "transient error (450): 4.2.0 Greylisted", false),
            (451, "transient error (451): Local error", false),
        ] {
            assert_eq!(is_system_failure(code, words), about_the_server, "{words}");
        }
    }
}
