//! SMTP error: why a message was not taken, in words that are fit for a log.

use std::time::Duration;

use lettre::{
    address::Envelope,
    transport::smtp::{
        self,
        response::{Code, Severity},
    },
};
use site_broker::Away;
use visitor::invisible::is_invisible;

use super::{enhanced_status::enhanced_status, no_such_address::says_no_such_address};

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
    /// The server answered: this is about the message, or it is not known what became of it.
    Message(SmtpError),
    /// The server answered that it does not take the message now (4yz), whoever it is for, and not whose fault that is.
    Deferred(String),
    /// The server answered that it does not take the message now for its recipient (4yz): that one's own matter, as greylisting at its
    /// domain, or the server's, which says so of each.
    RecipientDeferred(String),
    /// The connection ended within the content: the server may have taken the message.
    Interrupted(String),
    /// The server is away.
    Away(Away, String),
}

impl HandOverError {
    /// Of a server that was reached, and takes nothing at present.
    pub fn failing(reason: String) -> Self {
        Self::Away(Away::Failing { retry_after: None }, reason)
    }
}

/// Stage of the SMTP transaction that an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpStage {
    /// The sender: to take mails from us.
    Sender,
    /// The recipient: to take a mail for it.
    Recipient,
    /// A sender whose address only some servers know.
    InternationalSender,
    /// The command that announces the content.
    Data,
    /// The content: to take the mail itself.
    Content,
}

impl SmtpStage {
    /// The kind of answer that lets the transaction go on: only the announcement of the content is answered by a word to go ahead
    /// (RFC 5321, 4.3.2).
    pub fn goes_on_by(self) -> Severity {
        match self {
            Self::Data => Severity::PositiveIntermediate,
            Self::Sender | Self::InternationalSender | Self::Recipient | Self::Content => {
                Severity::PositiveCompletion
            }
        }
    }
}

/// What a positive answer means that is none to what was asked. Whoever answers so after the content may have taken it.
pub fn out_of_turn(code: Code, stage: SmtpStage) -> HandOverError {
    let reason = format!("it answered {code}, which is no answer to what was asked");
    match stage {
        SmtpStage::Content => HandOverError::Interrupted(reason),
        _ => HandOverError::failing(reason),
    }
}

/// Classifies an answer, or that there is none: what it means for the message, and for the server.
pub fn classify(error: &smtp::Error, stage: SmtpStage, envelope: &Envelope) -> HandOverError {
    let reason = without_addresses(&error.to_string(), envelope);
    match error.status().map(u16::from) {
        // RFC 5321, 3.8: it closes the connection, whatever it was told.
        Some(421) => HandOverError::failing(reason),
        Some(code) if stage == SmtpStage::Sender || is_authentication_failure(code) => {
            HandOverError::failing(reason)
        }
        Some(code) if error.is_permanent() => {
            let words = reason.replace(ADDRESS, "");
            HandOverError::Message(
                if stage == SmtpStage::Recipient && says_no_such_address(code, &words) {
                    SmtpError::NoSuchAddress(reason)
                } else {
                    SmtpError::Refused(reason)
                },
            )
        }
        Some(code) if is_system_failure(code, &reason) => HandOverError::failing(reason),
        None if stage == SmtpStage::Content => HandOverError::Interrupted(reason),
        None => HandOverError::failing(reason),
        Some(_) if stage == SmtpStage::Recipient => HandOverError::RecipientDeferred(reason),
        Some(_) => HandOverError::Deferred(reason),
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

/// Refusals of our login (RFC 4954, 6): the operator's to mend, no reason to give up on
/// a message.
fn is_authentication_failure(code: u16) -> bool {
    matches!(code, 530 | 534 | 535 | 538)
}

/// Servers like to repeat the address that they refuse, or the part before its `@`; logs must not hold it. What nobody sees is
/// left out: it could turn round the words beside it.
pub fn without_addresses(reason: &str, envelope: &Envelope) -> String {
    let is_local_part = |word: &str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        let mut recipients = envelope.to().iter();
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
    use lettre::transport::smtp::response::{Category, Detail};

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
            assert_eq!(without_addresses(said, &envelope()), logged);
        }
    }

    #[test]
    fn a_mail_is_taken_by_the_answer_to_its_content_and_by_no_word_to_go_ahead() {
        let go_ahead = Code::new(Severity::PositiveIntermediate, Category::MailSystem, Detail::Four);
        assert_eq!(SmtpStage::Data.goes_on_by(), go_ahead.severity);
        for stage in [
            SmtpStage::Sender,
            SmtpStage::InternationalSender,
            SmtpStage::Recipient,
            SmtpStage::Content,
        ] {
            assert_eq!(stage.goes_on_by(), Severity::PositiveCompletion, "{stage:?}");
            let may_be_taken = matches!(out_of_turn(go_ahead, stage), HandOverError::Interrupted(_));
            assert_eq!(may_be_taken, stage == SmtpStage::Content, "{stage:?}");
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

    #[test]
    fn a_refused_login_is_not_the_fault_of_the_message() {
        assert!(is_authentication_failure(535));
        assert!(!is_authentication_failure(550));
    }
}
