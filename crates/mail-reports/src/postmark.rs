//! Postmark's webhooks, which carry no signature but the password that they were set up with (HTTP basic authentication;
//! <https://postmarkapp.com/developer/webhooks/webhooks-overview>).

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;
use site_events::event::BounceKind;

use crate::posted::{Post, PostError, PostedReport, Repetition};

const PROVIDER: &str = "Postmark";
/// The fewest characters of a password that cannot be guessed.
const MIN_PASSWORD_BYTES: usize = 24;
/// What is compared is made of the passwords, so that how long it takes tells nothing of ours.
const COMPARED: &[u8] = b"postmark webhook";

/// Postmark, by the password that its webhooks come with.
#[derive(Clone)]
pub struct Postmark(Vec<u8>);

impl fmt::Debug for Postmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Postmark(…)")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Body {
    record_type: String,
    #[serde(default, rename = "ID")]
    id: i64,
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    email: String,
}

impl Postmark {
    /// Takes the password as it stands in the settings.
    ///
    /// # Errors
    ///
    /// If it is too short.
    pub fn new(password: &str) -> Result<Self, String> {
        if password.len() < MIN_PASSWORD_BYTES {
            return Err(format!("it has fewer than {MIN_PASSWORD_BYTES} characters"));
        }
        Ok(Self(password.as_bytes().to_owned()))
    }

    /// Reads a request, which came with this header `Authorization`.
    ///
    /// # Errors
    ///
    /// If it does not come with the password, or is not what Postmark documents.
    pub fn read(&self, authorization: &str, body: &[u8]) -> Result<Post, PostError> {
        let password = password(authorization).ok_or(PostError::Forged)?;
        let ours = keyed(&self.0)?.finalize().into_bytes();
        keyed(&password)?.verify(&ours).map_err(|_| PostError::Forged)?;
        let body: Body = serde_json::from_slice(body)?;
        let name = format!("{} {} {}", body.record_type, body.id, body.email);
        Ok(Post::new(PROVIDER, &name, Repetition::Harmless, body.report()))
    }
}

impl Body {
    /// What it tells of its recipient, by Postmark's types of bounces
    /// (<https://postmarkapp.com/developer/api/bounce-api#bounce-types>). `Transient` is still tried, and others, such as an
    /// out-of-office note, say nothing of the address.
    fn report(&self) -> Option<PostedReport> {
        let kind = match (&*self.record_type, &*self.r#type) {
            ("SpamComplaint", _) | ("Bounce", "SpamComplaint") => BounceKind::Complaint,
            ("Bounce", "HardBounce" | "BadEmailAddress") => BounceKind::Hard,
            ("Bounce", "SoftBounce" | "DnsError" | "Blocked" | "SpamNotification" | "DMARCPolicy") => {
                BounceKind::Soft
            }
            _ => return None,
        };
        PostedReport::new(&self.email, kind, PROVIDER, &self.r#type)
    }
}

/// The password of basic authentication (RFC 7617), whatever user it is of.
fn password(authorization: &str) -> Option<Vec<u8>> {
    let (scheme, credentials) = authorization.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let credentials = STANDARD.decode(credentials.trim()).ok()?;
    let colon = credentials.iter().position(|byte| *byte == b':')?;
    Some(credentials[colon + 1..].to_owned())
}

fn keyed(password: &[u8]) -> Result<Hmac<Sha256>, PostError> {
    let keyed = Hmac::<Sha256>::new_from_slice(password).map_err(|_| PostError::Forged)?;
    Ok(keyed.chain_update(COMPARED))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWORD: &str = "a password of a test: with a colon";

    /// A request as documented (<https://postmarkapp.com/developer/webhooks/bounce-webhook>, read in November 2026).
    fn request(record: &str, kind: &str, code: u32) -> String {
        format!(
            r#"{{"RecordType": "{record}", "MessageStream": "outbound", "ID": 4323372036854775807, "Type": "{kind}", "TypeCode": {code},
            "Name": "Hard bounce", "Tag": "Test", "MessageID": "883953f4-6105-42a2-a16a-77a8eac79483", "Metadata": {{"a_key": "a_value"}},
            "ServerID": 1234, "Description": "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
            "Details": "Test bounce details", "Email": "john@example.com", "From": "sender@example.com",
            "BouncedAt": "2019-11-05T16:33:54.9070259Z", "DumpAvailable": true, "Inactive": true, "CanActivate": true,
            "Subject": "Test subject", "Content": "<Full dump of bounce>"}}"#
        )
    }

    fn read(credentials: &str, body: &str) -> Result<Post, PostError> {
        let authorization = format!("Basic {}", STANDARD.encode(credentials));
        Postmark::new(PASSWORD)
            .expect("a password")
            .read(&authorization, body.as_bytes())
    }

    #[test]
    fn a_bounce_is_what_postmarks_types_say() -> Result<(), PostError> {
        for (record, kind, code, expected) in [
            ("Bounce", "HardBounce", 1, Some(BounceKind::Hard)),
            ("Bounce", "BadEmailAddress", 100_000, Some(BounceKind::Hard)),
            ("Bounce", "SoftBounce", 4096, Some(BounceKind::Soft)),
            ("Bounce", "DMARCPolicy", 100_009, Some(BounceKind::Soft)),
            ("Bounce", "Transient", 2, None),
            ("Bounce", "AutoResponder", 64, None),
            ("Bounce", "ManuallyDeactivated", 100_002, None),
            (
                "SpamComplaint",
                "SpamComplaint",
                100_001,
                Some(BounceKind::Complaint),
            ),
            ("Delivery", "", 0, None),
            ("ALaterOne", "HardBounce", 1, None),
        ] {
            let post = read(&format!("postmark:{PASSWORD}"), &request(record, kind, code))?;
            let reported = post.reports.first();
            assert_eq!(reported.map(|report| report.kind.clone()), expected, "{kind}");
            assert!(reported.is_none_or(|report| report.email.as_str() == "john@example.com"));
        }
        Ok(())
    }

    #[test]
    fn what_comes_without_the_password_is_refused() {
        let body = request("Bounce", "HardBounce", 1);
        for credentials in [
            "",
            "postmark",
            "postmark:",
            "postmark:another password of a test",
            PASSWORD,
        ] {
            assert_eq!(read(credentials, &body), Err(PostError::Forged), "{credentials}");
        }
        let postmark = Postmark::new(PASSWORD).expect("a password");
        let bearer = format!("Bearer {}", STANDARD.encode(format!("postmark:{PASSWORD}")));
        for authorization in ["", "Basic", "Basic ?", &bearer] {
            assert_eq!(
                postmark.read(authorization, body.as_bytes()),
                Err(PostError::Forged)
            );
        }
        assert!(matches!(
            read(&format!(":{PASSWORD}"), "[]"),
            Err(PostError::Unreadable(_))
        ));
        assert!(Postmark::new("guessable").is_err());
    }
}
