//! Reports about a mail: that it was not delivered (RFC 3464), or that its reader complained (RFC 5965).

use mail_parser::{Message, MessageParser, MimeHeaders as _, PartType};
use site_events::event::BounceKind;
use uuid::Uuid;

use crate::posted::refusal;

/// The namespace of mails whose own id is not in the report.
const REPORTS: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_7265_706f_7274);
/// The longest report that is read whole: behind its beginning follows the mail that it is about.
pub const MAX_BYTES: u64 = 1_000_000;
/// The longest reason that is kept.
const MAX_REASON_CHARACTERS: usize = 200;

/// What a mail in the mailbox is.
#[derive(Debug, PartialEq, Eq)]
pub enum Reading {
    /// A report about one of our mails, as far as it says.
    Report(Report),
    /// The mail is still tried.
    Delayed,
    /// Anything else: an out-of-office note, somebody's answer.
    Other,
}

/// What a report says.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    /// What kind of refusal it tells of.
    pub kind: BounceKind,
    /// The token of our mail's link to unsubscribe.
    pub token: String,
    /// Which mail it was.
    pub mail: Uuid,
    /// The status, without an address.
    pub reason: String,
}

/// Reads a mail.
pub fn read(raw: &[u8]) -> Reading {
    let Some(message) = MessageParser::default().parse(raw) else {
        return Reading::Other;
    };
    let (kind, reason) = match verdict(&message) {
        Some(Verdict::Failed(kind, reason)) => (kind, reason),
        Some(Verdict::Delayed) => return Reading::Delayed,
        None => return Reading::Other,
    };
    let Some(original) = original(&message) else {
        return Reading::Other;
    };
    let Some(token) = token(&original) else {
        return Reading::Other;
    };
    Reading::Report(Report {
        mail: mail_of(&original).unwrap_or_else(|| Uuid::new_v5(&REPORTS, raw)),
        kind,
        token,
        reason,
    })
}

enum Verdict {
    Failed(BounceKind, String),
    Delayed,
}

/// What the report's machine-readable part says.
fn verdict(message: &Message<'_>) -> Option<Verdict> {
    let status = part(message, "delivery-status").map(|status| delivery_verdict(&status));
    status.flatten().or_else(|| {
        let feedback = part(message, "feedback-report")?;
        let kind = field(&feedback, "Feedback-Type")?;
        // Another type, such as `not-spam`, is no complaint (RFC 5965, 7.3).
        ["abuse", "fraud", "opt-out"]
            .contains(&kind.to_ascii_lowercase().as_str())
            .then(|| Verdict::Failed(BounceKind::Complaint, format!("complaint ({kind})")))
    })
}

fn delivery_verdict(status: &str) -> Option<Verdict> {
    let action = field(status, "Action")?.to_ascii_lowercase();
    let code = field(status, "Status").unwrap_or_default();
    let code: String = code
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    match action.as_str() {
        "failed" => {
            let reason = format!("reported as failed: {code}");
            let reason = reason.chars().take(MAX_REASON_CHARACTERS).collect();
            Some(Verdict::Failed(refusal(Some(&code), false), reason))
        }
        "delayed" => Some(Verdict::Delayed),
        _ => None,
    }
}

/// The text of the part `message/<subtype>`.
fn part(message: &Message<'_>, subtype: &str) -> Option<String> {
    let is_it = |part: &&mail_parser::MessagePart<'_>| {
        part.content_type().is_some_and(|kind| {
            let found = kind.subtype().unwrap_or_default();
            kind.ctype().eq_ignore_ascii_case("message") && found.eq_ignore_ascii_case(subtype)
        })
    };
    let found = message.parts.iter().find(is_it)?;
    Some(String::from_utf8_lossy(found.contents()).into_owned())
}

/// The headers of our mail, which follow in the report (RFC 6522, 3).
fn original(message: &Message<'_>) -> Option<String> {
    message.parts.iter().find_map(|part| {
        if let PartType::Message(original) = &part.body {
            return Some(String::from_utf8_lossy(original.raw_message()).into_owned());
        }
        let is_headers = part.content_type().is_some_and(|kind| {
            kind.subtype()
                .is_some_and(|subtype| subtype.eq_ignore_ascii_case("rfc822-headers"))
        });
        is_headers.then(|| String::from_utf8_lossy(part.contents()).into_owned())
    })
}

/// The token in the header `List-Unsubscribe`.
fn token(original: &str) -> Option<String> {
    let links = field(original, "List-Unsubscribe")?;
    let (_, rest) = links.split_once("token=")?;
    let is_in_token = |c: char| c.is_ascii_alphanumeric() || "-_.=".contains(c);
    let token: String = rest.chars().take_while(|c| is_in_token(*c)).collect();
    (!token.is_empty()).then_some(token)
}

/// The id that stands before the first dot of our `Message-ID`.
fn mail_of(original: &str) -> Option<Uuid> {
    let id = field(original, "Message-ID")?;
    let (id, _) = id.trim_start_matches('<').split_once('.')?;
    Uuid::try_parse(id).ok()
}

/// The first field of this name; one that is folded is unfolded (RFC 5322, 2.2.3).
fn field(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| {
        let named = line.split_once(':');
        !named.is_some_and(|(found, _)| found.trim().eq_ignore_ascii_case(name))
    });
    let (_, first) = lines.next()?.split_once(':')?;
    let folded = lines.take_while(|line| line.starts_with([' ', '\t']));
    let value: String = std::iter::once(first)
        .chain(folded.map(str::trim_start))
        .collect();
    Some(value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGINAL: &str = "From: Oculant <hello@oculant.example>\r\nTo: zoe@example.org\r\n\
        Message-ID: <00000000-0000-0000-0000-000000000007.newsletter-issue@oculant.example>\r\n\
        List-Unsubscribe:\r\n <https://oculant.example/api/newsletter/unsubscribe?token=abc-_.DEF>\r\n\
        Subject: The smart home\r\n";

    fn report(kind: &str, machine: &str, original: &str) -> String {
        format!(
            "From: MAILER-DAEMON@mx.example.org\r\nTo: hello@oculant.example\r\nSubject: Undelivered\r\n\
             MIME-Version: 1.0\r\nContent-Type: multipart/report; report-type={kind}; boundary=\"b\"\r\n\r\n\
             --b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n\
             --b\r\nContent-Type: message/{kind}\r\n\r\n{machine}\r\n\
             --b\r\nContent-Type: {original}\r\n\r\n{ORIGINAL}\r\n--b--\r\n"
        )
    }

    fn delivery(action: &str, status: &str) -> String {
        format!(
            "Reporting-MTA: dns; mx.example.org\r\n\r\nFinal-Recipient: rfc822; zoe@example.org\r\n\
             Action: {action}\r\nStatus: {status}\r\nDiagnostic-Code: smtp; 550 5.1.1 <zoe@example.org> no\r\n"
        )
    }

    fn kind_of(raw: &str) -> Option<BounceKind> {
        match read(raw.as_bytes()) {
            Reading::Report(report) => {
                assert_eq!(
                    (report.token.as_str(), report.mail),
                    ("abc-_.DEF", Uuid::from_u128(7))
                );
                assert!(!report.reason.contains("zoe"), "{}", report.reason);
                Some(report.kind)
            }
            Reading::Delayed | Reading::Other => None,
        }
    }

    #[test]
    fn a_report_says_which_mail_came_back_and_whether_for_good() {
        for original in ["text/rfc822-headers", "message/rfc822"] {
            for (status, kind) in [
                ("5.1.1", BounceKind::Hard),
                ("5.1.10 (null MX)", BounceKind::Hard),
                ("5.2.1", BounceKind::Hard),
                ("5.2.2", BounceKind::Soft),
                ("4.4.7", BounceKind::Soft),
                ("5.1.8", BounceKind::Soft),
                ("5.7.1", BounceKind::Soft),
            ] {
                let raw = report("delivery-status", &delivery("failed", status), original);
                assert_eq!(kind_of(&raw), Some(kind), "{status} in {original}");
            }
            let raw = report(
                "feedback-report",
                "Feedback-Type: abuse\r\nVersion: 1\r\n",
                original,
            );
            assert_eq!(kind_of(&raw), Some(BounceKind::Complaint));
        }
    }

    #[test]
    fn what_is_delayed_or_no_report_of_our_mails_is_told_from_it() {
        let headers = "text/rfc822-headers";
        let delayed = report("delivery-status", &delivery("delayed", "4.4.1"), headers);
        assert_eq!(read(delayed.as_bytes()), Reading::Delayed);
        let delivered = report("delivery-status", &delivery("delivered", "2.0.0"), headers);
        let praise = report("feedback-report", "Feedback-Type: not-spam\r\n", headers);
        let of_others = report("delivery-status", &delivery("failed", "5.1.1"), headers)
            .replace("List-Unsubscribe", "X-Other");
        for other in [
            delivered.as_str(),
            &praise,
            &of_others,
            "Subject: I am away\r\n\r\nUntil Monday.",
            "",
            "\0",
        ] {
            assert_eq!(read(other.as_bytes()), Reading::Other, "{other}");
        }
    }
}
