//! Cause of a rejection: our account, or this mail and its recipient. Servers use enhanced status codes (RFC 3463)
//! and texts; popular relays have their own, which the tests list.

use std::sync::LazyLock;

use regex_lite::Regex;

use super::failure::SmtpStage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Our sender, login or host, or a sending limit.
    Account,
    NoSuchAddress,
    /// This mail: its size or content, or a mailbox that rejects it.
    Mail,
    Unknown,
}

/// About our sender, whatever the status code.
static ABOUT_OUR_SENDER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\b(helo|ehlo)\b|fully[- ]qualified (host|domain)",
        r"send[- ]?as ?denied|\bsend as\b|spoof",
        r"\bsender'?s? (e-?mail )?(address |domain |identity )?(is )?(rejected|refused|denied|blocked|banned|suspended|unverified|unauthenticated|(black|block)listed)",
        r"\bsender'?s? (e-?mail )?(address |domain )?(is )?not (allowed|verified|authori[sz]ed|permitted|confirmed|valid)",
        r"\bsender (verif|signature)|\b(invalid|verified|bad outbound|unauthenticated) senders?\b",
        r"\b(sending|submission|sender|outbound|daily|hourly|monthly|messaging) (\w+ )?(quota|limits?)\b",
    ])
});
/// About us, unless the status code names the recipient. These words occur in no address and no content.
static ABOUT_OUR_ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\brelay(ing)? (access )?(denied|rejected|refused|prohibited|disallowed|(is )?not)\b",
        r"\b(to|not|for|open) relay\b|rcpthosts",
        r"(allowed|authori[sz]ed|permitted|able|permissions?) to send\b|authori[sz]ed to perform .ses:",
        r"\b(from|return-path) (e-?mail )?(address|domain)\b|\bsending from\b|unusual sending",
        r"\bnot verified\b|\bunverified\b",
        r"\buser (\w+ )?(quota|limits?)\b|messages? (quota|rate|limit)\b|quota exceeded for (user|sender)",
        r"\bsending rate\b|\brate (limit|exceed)|throttl|credits exceeded|too many (messages|e-?mails)\b",
        r"\bper (second|minute|hour|day|month)\b.{0,20}(allowed|exceeded)|max emails per",
        r"authenticat(ion|e|ed) (is )?(required|unsuccessful|failed|failure|credentials|needed|first)",
        r"(must|requires?|please|not|need to) (be )?(authenticated?|authentication|log ?in)\b",
        r"\bsmtp[- ]auth\b|\bneed auth\b|\bauth (first|required)|\bstarttls\b|username and password|invalid (login|credentials)",
        r"client (host|was|does not|blocked)|low reputation of|reputation of the|\b(sending|your|source) ip\b|unauthori[sz]ed ip",
        r"\bip (address )?(you're|you are|\S+ is) ",
        r"\byour (\w+ )?account\b|(account|domain|outgoing mail|sending|tenant) .{0,40}(suspended|deactivated|paused|exceeded)",
        r"(free|sandbox) (accounts?|subdomains?)|\bcan only (send|be used)|\bnot logged in\b|credits\b|unconfigured sending",
        r"\b(e-?mail|mail|send) (quota|limits?) (is |was )?(exceeded|reached)|(maximum|max) .{0,20}(messages|e-?mails) (per|in)\b",
        r"too much mail from|limit for sending|\bmail from (must|this (ip|host|domain))\b|\brelaying to\b.{0,20}denied|to send on behalf",
    ])
});
/// About the recipient, whatever else the text says.
static ABOUT_RECIPIENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"recipient address rejected|recipient not found|recipient (does not|doesn't|is not) accept",
        r"restricted recipient|resolver\.(rst|adr)\b|rejected: address (black|block)listed|suppression list",
        r"(mailbox|inbox) .{0,40}(full|exceed|over|quota|storage|inactive)|over ?quota",
        r"\breceiv(e|es|ing) (mail|limit|messages)|to (this|the) (recipient|group|mailbox)\b",
        r"\bsend (e-?mails? |mail |messages )?to (this|the) (address|distribution|list)\b",
    ])
});
static ABOUT_MAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\bsize\b|too (large|big|long)\b|\battachments?\b|file ?(name|type)s?\b|executable|\bbanned: ",
        r"virus|malware|phish|infected|\bcontents?\b|\bcontain(s|ed|ing)?\b|unsolicited|headers?\b",
        r"\bspam(my)?\b|spamassassin|\b(urls?|uris?|links?|body)\b",
    ])
});
/// About us if nothing else matches: blocklists and sender authentication.
static ABOUT_OUR_HOST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\b(black|block|deny) ?-?list(ed|s|ing)?\b|blocked using|\blisted (at|by|in|on)\b|\bdnsbl\b|\brbl\b",
        r"spamhaus|barracuda|sorbs|spamcop|\b(spf|dkim|dmarc|ptr)\b|reverse dns|unauthenticated|banned send",
        r"poor reputation|(your|sender'?s?) (ip|server|host|network|domain)\b",
    ])
});
/// About a missing address, from servers without enhanced codes.
static NO_SUCH_ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[r"\b(user|mailbox|recipient|account|address|unknown|unrouteable|inbox|exist)\b"])
});
/// Other causes with the same codes. Retrying a missing address is cheap; dropping a good one loses a subscriber.
static SOMETHING_ELSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&[
        r"\b(sender|policy|message|full|quota|denied|blocked|listed|reputation|authentication|administrative)\b",
        r"\b(limits?|exceeded|send|sending|from|authori[sz]ed)\b",
    ])
});

fn pattern(alternatives: &[&str]) -> Regex {
    Regex::new(&format!("(?i){}", alternatives.join("|"))).expect("a pattern of ours")
}

impl Refusal {
    /// Cause of a temporary or final rejection. `words` holds no address.
    pub fn of(code: u16, words: &str, stage: SmtpStage) -> Self {
        // After "said:" follows the recipient's server, whose text anyone may control.
        let words = words.split(" said:").next().unwrap_or_default();
        // Before a recipient is named, an answer can only be about us.
        if stage == SmtpStage::Sender || is_about_our_account(code, words) {
            return Self::Account;
        }
        let status = enhanced_status(code, words).filter(|status| *status == (7, 0) || status.1 != 0);
        let no_such_address = match stage {
            SmtpStage::Recipient => Self::NoSuchAddress,
            _ => Self::Mail,
        };
        match status {
            Some((2, 3)) => Self::Mail,
            // RFC 3463, 3.2 and 3.3: 5.1.x is about the address; 5.2.1 is a mailbox that accepts nothing.
            Some((1, _) | (2, 1)) => no_such_address,
            // Exchange Online's code for an unknown recipient.
            Some((4, 1)) if words.to_lowercase().contains("recipient address rejected") => no_such_address,
            Some((2 | 4 | 6, _) | (3, 4) | (7, 12 | 123..=138)) => Self::Mail,
            _ if ABOUT_RECIPIENT.is_match(words) || ABOUT_MAIL.is_match(words) => Self::Mail,
            _ if code >= 500 && ABOUT_OUR_HOST.is_match(words) => Self::Account,
            // RFC 5321, 4.2.3: mailbox unavailable, user not local, name not allowed.
            None if NO_SUCH_ADDRESS.is_match(words) && !SOMETHING_ELSE.is_match(words) => match code {
                550 | 551 | 553 => no_such_address,
                _ => Self::Mail,
            },
            _ if code == 552 => Self::Mail,
            _ => Self::Unknown,
        }
    }
}

fn is_about_our_account(code: u16, words: &str) -> bool {
    let status = enhanced_status(code, words);
    // Rejected logins (RFC 4954, 6).
    if matches!(code, 530 | 534 | 535 | 538) || (code >= 500 && status.is_some_and(is_ours)) {
        return true;
    }
    let is_recipients = matches!(status, Some((1 | 2, 1..)));
    (ABOUT_OUR_SENDER.is_match(words) || (!is_recipients && ABOUT_OUR_ACCOUNT.is_match(words)))
        && !ABOUT_RECIPIENT.is_match(words)
}

/// Codes about the sender's address, the mail system and sender authentication (RFC 3463, RFC 7372). Gmail and
/// Exchange Online have more.
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

/// Subject and detail of the first enhanced status code of the class of `code` (RFC 3463, 2).
pub fn enhanced_status(code: u16, words: &str) -> Option<(u16, u16)> {
    words.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_matches(|c: char| !c.is_ascii_digit()).split('.');
        let mut next = || numbers.next()?.parse::<u16>().ok();
        let status = (next()?, next()?, next()?);
        match (status, next()) {
            ((class, subject, detail), None) if class == code / 100 => Some((subject, detail)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests;
