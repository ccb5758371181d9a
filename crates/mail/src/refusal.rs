//! Finds out whether an SMTP rejection is about our account or about one mail. Servers answer with enhanced status
//! codes (RFC 3463) and texts. `words.txt` has the texts of popular relays.

use std::sync::LazyLock;

use regex_lite::Regex;

/// Step of an SMTP transaction (RFC 5321, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpStage {
    /// Before a recipient is named: greeting, TLS, login and sender.
    Sender,
    /// RCPT TO.
    Recipient,
    /// DATA and the message.
    Content,
}

/// Cause of a rejection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Our sender, login or host, or a sending limit.
    Account,
    /// The recipient does not exist.
    NoSuchAddress,
    /// The mail's size or content, or a mailbox that rejects the mail.
    Mail,
    /// No cause is recognized.
    Unknown,
}

// Patterns of `words.txt`, by kind.
static ABOUT_OUR_SENDER: LazyLock<Regex> = LazyLock::new(|| pattern("our-sender"));
static ABOUT_OUR_ACCOUNT: LazyLock<Regex> = LazyLock::new(|| pattern("our-account"));
static ABOUT_RECIPIENT: LazyLock<Regex> = LazyLock::new(|| pattern("recipient"));
static ABOUT_MAIL: LazyLock<Regex> = LazyLock::new(|| pattern("mail"));
static ABOUT_OUR_HOST: LazyLock<Regex> = LazyLock::new(|| pattern("our-host"));
static NO_SUCH_ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern("no-such-address"));
static SOMETHING_ELSE: LazyLock<Regex> = LazyLock::new(|| pattern("something-else"));

fn pattern(kind: &str) -> Regex {
    let lines = include_str!("refusal/words.txt").lines();
    let lines = lines.filter_map(|line| line.split_once(' '));
    let of_kind: Vec<&str> = lines.filter(|line| line.0 == kind).map(|line| line.1).collect();
    Regex::new(&format!("(?i){}", of_kind.join("|"))).expect("a pattern of ours")
}

impl Refusal {
    /// Cause of a temporary or permanent rejection. `text` must not contain addresses.
    pub fn of(code: u16, text: &str, stage: SmtpStage) -> Self {
        // The text after "said:" comes from the recipient's server, which anyone may control.
        let text = text.split(" said:").next().unwrap_or_default();
        // Before RCPT TO, an answer can only be about our account.
        if stage == SmtpStage::Sender || is_about_our_account(code, text) {
            return Self::Account;
        }
        let status = enhanced_status(code, text).filter(|status| *status == (7, 0) || status.1 != 0);
        let no_such_address = match stage {
            SmtpStage::Recipient => Self::NoSuchAddress,
            _ => Self::Mail,
        };
        match status {
            Some((2, 3)) => Self::Mail,
            // RFC 3463, 3.2 and 3.3: 5.1.x is about the address; 5.2.1 means a disabled mailbox.
            Some((1, _) | (2, 1)) => no_such_address,
            // Exchange Online's code for an unknown recipient.
            Some((4, 1)) if text.to_lowercase().contains("recipient address rejected") => no_such_address,
            Some((2 | 4 | 6, _) | (3, 4) | (7, 12 | 123..=138)) => Self::Mail,
            _ if ABOUT_RECIPIENT.is_match(text) || ABOUT_MAIL.is_match(text) => Self::Mail,
            _ if code >= 500 && ABOUT_OUR_HOST.is_match(text) => Self::Account,
            // 550: mailbox unavailable; 551: user not local; 553: name not allowed (RFC 5321, 4.2.3).
            None if NO_SUCH_ADDRESS.is_match(text) && !SOMETHING_ELSE.is_match(text) => match code {
                550 | 551 | 553 => no_such_address,
                _ => Self::Mail,
            },
            _ if code == 552 => Self::Mail,
            _ => Self::Unknown,
        }
    }
}

fn is_about_our_account(code: u16, text: &str) -> bool {
    let status = enhanced_status(code, text);
    // These codes reject a login (RFC 4954, 6).
    if matches!(code, 530 | 534 | 535 | 538) || (code >= 500 && status.is_some_and(is_ours)) {
        return true;
    }
    let is_recipients = matches!(status, Some((1 | 2, 1..)));
    (ABOUT_OUR_SENDER.is_match(text) || (!is_recipients && ABOUT_OUR_ACCOUNT.is_match(text)))
        && !ABOUT_RECIPIENT.is_match(text)
}

/// Whether a status is about our address, system or authentication (RFC 3463, RFC 7372). Some of these codes
/// exist only at Gmail or Exchange Online.
fn is_ours(status: (u16, u16)) -> bool {
    matches!(
        status,
        (1, 7 | 8 | 90)
            | (2, 252)
            | (3, 2 | 5)
            | (4, 5)
            | (7, 3 | 8 | 9 | 11 | 14 | 20..=30 | 54 | 57 | 60 | 64 | 139)
            | (7, 501..=503 | 506..=509 | 511 | 515 | 600..=799)
    )
}

/// Subject and detail of the first enhanced status code (RFC 3463, 2) with the same class as `code`.
fn enhanced_status(code: u16, text: &str) -> Option<(u16, u16)> {
    text.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_matches(|c: char| !c.is_ascii_digit()).split('.');
        let mut next = || numbers.next()?.parse::<u16>().ok();
        let status = (next()?, next()?, next()?);
        match (status, next()) {
            ((class, subject, detail), None) if class == code / 100 => Some((subject, detail)),
            _ => None,
        }
    })
}

/// Whether the mail system itself fails: 4.3.x (RFC 3463, 3.4) except 4.3.4 (message too big). Without an enhanced
/// code, 452 means that the storage is full (RFC 5321, 4.2.3).
pub fn is_system_failure(code: u16, text: &str) -> bool {
    match enhanced_status(code, text) {
        Some((subject, detail)) => subject == 3 && detail != 4,
        None => code == 452,
    }
}

#[cfg(test)]
mod tests;
