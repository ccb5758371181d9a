//! Mailgun's webhooks: signed by HMAC-SHA256 of a time and a token
//! (<https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks>).
//!
//! The signature says nothing of the event beside it. So a token is good for one event: the request's id is made of it.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;
use site_events::event::BounceKind;
use time::{Duration, OffsetDateTime};

use crate::{
    enhanced_status,
    posted::{Post, PostError, PostedReport, Repetition, refusal},
};

const PROVIDER: &str = "Mailgun";
/// The fewest characters that a signing key has.
const MIN_KEY_BYTES: usize = 16;
/// How long a signature is good: as long as the broker knows the id of an event.
const GOOD_FOR: Duration = Duration::HOUR;

/// Mailgun, by the key that it signs webhooks with.
#[derive(Clone)]
pub struct Mailgun(Hmac<Sha256>);

impl fmt::Debug for Mailgun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mailgun(…)")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Body {
    signature: Signature,
    event_data: EventData,
}

#[derive(Deserialize)]
struct Signature {
    timestamp: String,
    token: String,
    signature: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct EventData {
    event: String,
    severity: Option<String>,
    reason: Option<String>,
    recipient: Option<String>,
    delivery_status: Option<DeliveryStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct DeliveryStatus {
    enhanced_code: Option<String>,
    message: Option<String>,
}

impl Mailgun {
    /// Takes the HTTP webhook signing key as it stands in the settings.
    ///
    /// # Errors
    ///
    /// If it is too short to be one.
    pub fn new(key: &str) -> Result<Self, String> {
        if key.len() < MIN_KEY_BYTES {
            return Err("it is too short for a signing key".to_owned());
        }
        let key = Hmac::new_from_slice(key.as_bytes());
        key.map(Self).map_err(|error| error.to_string())
    }

    /// Reads a request.
    ///
    /// # Errors
    ///
    /// If it is not signed by Mailgun within the last hour, or not what Mailgun documents.
    pub fn read(&self, body: &[u8], now: OffsetDateTime) -> Result<Post, PostError> {
        let Body {
            signature,
            event_data,
        } = serde_json::from_slice(body)?;
        self.verify(&signature, now)?;
        let report = event_data.report();
        Ok(Post::new(PROVIDER, &signature.token, Repetition::Refused, report))
    }

    fn verify(&self, signature: &Signature, now: OffsetDateTime) -> Result<(), PostError> {
        let Signature {
            timestamp,
            token,
            signature,
        } = signature;
        let tag = base16ct::mixed::decode_vec(signature).map_err(|_| PostError::Forged)?;
        let signed = self.0.clone().chain_update(timestamp).chain_update(token);
        signed.verify_slice(&tag).map_err(|_| PostError::Forged)?;
        let seconds: i64 = timestamp.parse().map_err(|_| PostError::Forged)?;
        let at = OffsetDateTime::from_unix_timestamp(seconds).map_err(|_| PostError::Forged)?;
        ((now - at).abs() <= GOOD_FOR)
            .then_some(())
            .ok_or(PostError::Stale)
    }
}

impl EventData {
    /// What it tells of its recipient: `temporary` is still tried by Mailgun, and what it gives up comes as `permanent`.
    fn report(&self) -> Option<PostedReport> {
        let code = self.delivery_status.as_ref().and_then(DeliveryStatus::code);
        let severity = self.severity.as_deref().unwrap_or_default();
        let reason = self.reason.as_deref().unwrap_or_default();
        let (kind, word) = match (&*self.event, severity, reason) {
            ("complained", _, _) => (BounceKind::Complaint, "complained"),
            ("failed", "permanent", "suppress-complaint") => (BounceKind::Complaint, "suppress-complaint"),
            // They told Mailgun, which says so by an event of its own.
            ("failed", "permanent", "suppress-unsubscribe") => return None,
            ("failed", "permanent", reason) => {
                let is_hard = ["bounce", "suppress-bounce"].contains(&reason);
                (refusal(code, is_hard), code.unwrap_or(reason))
            }
            _ => return None,
        };
        PostedReport::new(self.recipient.as_deref()?, kind, PROVIDER, word)
    }
}

impl DeliveryStatus {
    fn code(&self) -> Option<&str> {
        let code = self.enhanced_code.as_deref().filter(|code| !code.is_empty());
        code.or_else(|| enhanced_status::in_words(self.message.as_deref()?))
    }
}

#[cfg(test)]
pub mod tests {
    use time::macros::datetime;

    use super::*;

    pub const KEY: &str = "a-signing-key-of-a-test-0123456789";
    pub const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const TOKEN: &str = "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0";

    /// A request as documented (<https://documentation.mailgun.com/docs/mailgun/user-manual/events/event-structure>, read in
    /// November 2026), signed at this time.
    pub fn request(event: &str, at: OffsetDateTime) -> String {
        let timestamp = at.unix_timestamp().to_string();
        let tag = Mailgun::new(KEY).expect("a key").0;
        let tag = tag.chain_update(&timestamp).chain_update(TOKEN).finalize();
        let tag = base16ct::lower::encode_string(&tag.into_bytes());
        format!(
            r#"{{"signature": {{"timestamp": "{timestamp}", "token": "{TOKEN}", "signature": "{tag}"}},
            "event-data": {{"id": "G9Bn5sl1TC6nu79C8C0bwg", "timestamp": 1521233195.375624, "log-level": "error", {event},
            "flags": {{"is-routed": false, "is-authenticated": true, "is-system-test": false, "is-test-mode": false}},
            "message": {{"headers": {{"to": "Alice <alice@example.com>", "message-id": "20130503192659.13651.20287@example.com",
            "from": "Bob <bob@example.com>", "subject": "Test"}}, "attachments": [], "size": 111}},
            "recipient": "alice@example.com", "recipient-domain": "example.com", "campaigns": [], "tags": ["my_tag_1"],
            "user-variables": {{}}}}}}"#
        )
    }

    fn read(body: &str) -> Result<Post, PostError> {
        Mailgun::new(KEY).expect("a key").read(body.as_bytes(), NOW)
    }

    fn failed(reason: &str, status: &str) -> String {
        format!(
            r#""event": "failed", "severity": "permanent", "reason": "{reason}", "delivery-status": {{{status}}}"#
        )
    }

    #[test]
    fn a_failure_for_good_is_hard_by_its_status_or_by_mailguns_word() -> Result<(), PostError> {
        let dropped = r#""attempt-no": 1, "message": "", "code": 605, "enhanced-code": "",
            "description": "Not delivering to previously bounced address", "session-seconds": 0.0"#;
        let unknown = r#""code": 550, "message": "5.1.1 The email account that you tried to reach does not exist.", "description": """#;
        let full = r#""code": 552, "enhanced-code": "5.2.2", "message": "mailbox full""#;
        let spam = r#""code": 550, "message": "5.7.1 looks like spam""#;
        for (event, kind) in [
            (failed("suppress-bounce", dropped), Some(BounceKind::Hard)),
            (failed("bounce", unknown), Some(BounceKind::Hard)),
            (failed("bounce", full), Some(BounceKind::Soft)),
            (failed("bounce", spam), Some(BounceKind::Soft)),
            (
                failed("old", r#""code": 602, "message": null"#),
                Some(BounceKind::Soft),
            ),
            (failed("suppress-complaint", dropped), Some(BounceKind::Complaint)),
            (failed("suppress-unsubscribe", dropped), None),
            (r#""event": "complained""#.to_owned(), Some(BounceKind::Complaint)),
            (failed("generic", unknown).replace("permanent", "temporary"), None),
            (
                r#""event": "delivered", "delivery-status": {"code": 250, "message": "OK"}"#.to_owned(),
                None,
            ),
            (r#""event": "a later one", "reason": null"#.to_owned(), None),
        ] {
            let post = read(&request(&event, NOW))?;
            let reported = post.reports.first();
            assert_eq!(reported.map(|report| report.kind.clone()), kind, "{event}");
            assert!(reported.is_none_or(|report| report.email.as_str() == "alice@example.com"));
            assert!(
                reported.is_none_or(|report| !report.reason.contains('@')),
                "{reported:?}"
            );
        }
        Ok(())
    }

    #[test]
    fn what_is_not_signed_by_mailgun_within_the_hour_is_refused() {
        let complaint = r#""event": "complained""#;
        let good = request(complaint, NOW);
        let forged = [
            good.replace(TOKEN, &TOKEN.replace('a', "b")),
            good.replace(r#""signature": ""#, r#""signature": "0"#),
            good.replace(r#""signature": ""#, r#""signature": "é"#),
        ];
        for body in forged {
            assert_eq!(read(&body), Err(PostError::Forged));
        }
        let other = Mailgun::new("another-signing-key-of-a-test").expect("a key");
        assert_eq!(other.read(good.as_bytes(), NOW), Err(PostError::Forged));
        for (minutes, expected) in [(-61, false), (-59, true), (59, true), (61, false)] {
            let body = request(complaint, NOW + Duration::minutes(minutes));
            assert_eq!(read(&body).is_ok(), expected, "{minutes} minutes");
        }
        assert!(matches!(read("{}"), Err(PostError::Unreadable(_))));
    }

    #[test]
    fn a_request_is_named_by_its_token_whatever_event_stands_beside_it() {
        let [complaint, failure] = [r#""event": "complained""#.to_owned(), failed("bounce", "")]
            .map(|event| read(&request(&event, NOW)));
        let id = |post: Result<Post, PostError>| post.map(|post| post.id);
        assert_eq!(id(complaint), id(failure));
    }
}
