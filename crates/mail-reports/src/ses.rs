//! Amazon SES, which reports by way of a topic of SNS
//! (<https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html>,
//! <https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html>).
//!
//! Anybody may have a topic, and Amazon signs for all: a message is believed that is signed and of our own topic.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use site_events::event::BounceKind;
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject as _};
use url::Url;
use webpki::{EndEntityCert, ring};

use crate::posted::{Post, PostError, PostedReport, Repetition, refusal};

const PROVIDER: &str = "Amazon SES";
/// How long a message is good: longer than SNS repeats one.
const GOOD_FOR: Duration = Duration::HOUR;
/// The most recipients of one message that SES sends to.
const MAX_RECIPIENTS: usize = 50;

/// The topic that reports come by.
#[derive(Debug, Clone)]
pub struct SesTopic {
    arn: String,
    host: String,
}

/// A message that says it is of the topic. Whether it is, its signature shows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SnsMessage {
    r#type: String,
    message_id: String,
    topic_arn: String,
    subject: Option<String>,
    message: String,
    timestamp: String,
    token: Option<String>,
    signature_version: String,
    signature: String,
    #[serde(rename = "SigningCertURL")]
    signing_cert_url: String,
    #[serde(rename = "SubscribeURL")]
    subscribe_url: Option<String>,
}

/// What a message is that is Amazon's.
#[derive(Debug, PartialEq, Eq)]
pub enum SnsPost {
    /// What SES reports.
    Post(Post),
    /// The topic asks whether reports are wanted; who fetches this path says yes.
    Confirm(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notification {
    #[serde(alias = "eventType")]
    notification_type: String,
    bounce: Option<Bounce>,
    complaint: Option<Complaint>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    bounce_type: String,
    #[serde(default)]
    bounce_sub_type: String,
    bounced_recipients: Vec<Recipient>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    complaint_feedback_type: Option<String>,
    complained_recipients: Vec<Recipient>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recipient {
    email_address: String,
    status: Option<String>,
}

impl SesTopic {
    /// Takes the topic's name (ARN) as it stands in the settings.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn new(arn: &str) -> Result<Self, String> {
        let wrong = || "it is no topic such as arn:aws:sns:eu-central-1:123456789012:mail-reports".to_owned();
        let parts: Vec<&str> = arn.split(':').collect();
        let &["arn", partition, "sns", region, account, name] = parts.as_slice() else {
            return Err(wrong());
        };
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let domain = match partition {
            "aws-cn" => "amazonaws.com.cn",
            _ => "amazonaws.com",
        };
        (is_word(region) && is_word(account) && !name.is_empty())
            .then(|| Self {
                arn: arn.to_owned(),
                host: format!("sns.{region}.{domain}"),
            })
            .ok_or_else(wrong)
    }

    /// Where SNS is, in the topic's region.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Reads a message.
    ///
    /// # Errors
    ///
    /// If it is of another topic, signed with SHA-1, or by a certificate that is not at Amazon's; or it is not what SNS documents.
    pub fn read(&self, body: &[u8]) -> Result<SnsMessage, PostError> {
        let message: SnsMessage = serde_json::from_slice(body)?;
        let is_ours = message.topic_arn == self.arn && message.signature_version == "2";
        let certificate = self.path_of(&message.signing_cert_url);
        let is_certificate = certificate.is_some_and(|path| is_name_of_certificate(&path));
        (is_ours && is_certificate)
            .then_some(message)
            .ok_or(PostError::Forged)
    }

    /// The path and query of an address at SNS.
    fn path_of(&self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let is_at_sns = url.scheme() == "https"
            && url.host_str() == Some(&*self.host)
            && url.port().is_none()
            && url.username().is_empty();
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        is_at_sns.then(|| path.to_owned())
    }
}

impl SnsMessage {
    /// The path of the certificate that it is signed by, at SNS.
    pub fn certificate_path(&self) -> &str {
        let (_, rest) = self.signing_cert_url.split_once("://").unwrap_or_default();
        rest.find('/').map_or("/", |slash| &rest[slash..])
    }

    /// What it says, where it is signed by this certificate (PEM).
    ///
    /// # Errors
    ///
    /// If it is not, or was signed too long ago; or it is not what SES documents.
    pub fn verified(
        &self,
        topic: &SesTopic,
        certificate: &[u8],
        now: OffsetDateTime,
    ) -> Result<SnsPost, PostError> {
        self.verify(certificate).ok_or(PostError::Forged)?;
        let at = OffsetDateTime::parse(&self.timestamp, &Rfc3339).map_err(|_| PostError::Forged)?;
        if (now - at).abs() > GOOD_FOR {
            return Err(PostError::Stale);
        }
        let reports = match &*self.r#type {
            "Notification" => self.reports()?,
            "SubscriptionConfirmation" => {
                let path = self.subscribe_url.as_deref().and_then(|url| topic.path_of(url));
                return path.map(SnsPost::Confirm).ok_or(PostError::Forged);
            }
            _ => Vec::new(),
        };
        Ok(SnsPost::Post(Post {
            reports,
            ..Post::new(PROVIDER, &self.message_id, Repetition::Harmless, None)
        }))
    }

    fn verify(&self, certificate: &[u8]) -> Option<()> {
        let certificate = CertificateDer::from_pem_slice(certificate).ok()?;
        let certificate = EndEntityCert::try_from(&certificate).ok()?;
        let signature = STANDARD.decode(&self.signature).ok()?;
        certificate
            .verify_signature(
                ring::RSA_PKCS1_2048_8192_SHA256,
                self.signed().as_bytes(),
                &signature,
            )
            .ok()
    }

    /// What is signed: the names and values of these fields, in this order, a line each.
    fn signed(&self) -> String {
        let (subscribe_url, token) = match &*self.r#type {
            "Notification" => (None, None),
            _ => (self.subscribe_url.as_deref(), self.token.as_deref()),
        };
        let subject = self.subject.as_deref().filter(|_| token.is_none());
        [
            ("Message", Some(&*self.message)),
            ("MessageId", Some(&*self.message_id)),
            ("Subject", subject),
            ("SubscribeURL", subscribe_url),
            ("Timestamp", Some(&*self.timestamp)),
            ("Token", token),
            ("TopicArn", Some(&*self.topic_arn)),
            ("Type", Some(&*self.r#type)),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name}\n{}\n", value?)))
        .collect()
    }

    /// SNS says by a message of its own, which is none of SES's, that a topic was set up.
    fn reports(&self) -> Result<Vec<PostedReport>, PostError> {
        if !self.message.starts_with('{') {
            return Ok(Vec::new());
        }
        let notification: Notification = serde_json::from_str(&self.message)?;
        let reports = match (
            &*notification.notification_type,
            notification.bounce,
            notification.complaint,
        ) {
            ("Bounce", Some(bounce), _) => bounce.reports(),
            ("Complaint", _, Some(complaint)) => complaint.reports(),
            _ => Vec::new(),
        };
        Ok(reports)
    }
}

impl Bounce {
    /// A transient one is final, too: SES has tried for as long as it does.
    fn reports(&self) -> Vec<PostedReport> {
        let is_suppressed = ["Suppressed", "OnAccountSuppressionList"].contains(&&*self.bounce_sub_type);
        let is_for_good = self.bounce_type == "Permanent";
        let recipients = self.bounced_recipients.iter().take(MAX_RECIPIENTS);
        let reports = recipients.filter_map(|recipient| {
            let status = recipient.status.as_deref().filter(|_| !is_suppressed);
            let kind = if is_for_good {
                refusal(status, true)
            } else {
                BounceKind::Soft
            };
            let word = status.unwrap_or(&self.bounce_sub_type);
            PostedReport::new(&recipient.email_address, kind, PROVIDER, word)
        });
        reports.collect()
    }
}

impl Complaint {
    fn reports(&self) -> Vec<PostedReport> {
        let kind = self.complaint_feedback_type.as_deref().unwrap_or("complaint");
        // RFC 5965, 7.3: the reader says that the mail is none.
        if kind == "not-spam" {
            return Vec::new();
        }
        let recipients = self.complained_recipients.iter().take(MAX_RECIPIENTS);
        let reports = recipients.filter_map(|recipient| {
            PostedReport::new(&recipient.email_address, BounceKind::Complaint, PROVIDER, kind)
        });
        reports.collect()
    }
}

fn is_name_of_certificate(path: &str) -> bool {
    let name = path.strip_prefix("/SimpleNotificationService-");
    name.and_then(|name| name.strip_suffix(".pem"))
        .is_some_and(|name| {
            !name.is_empty() && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use testkit::SnsSigner;
    use time::macros::datetime;

    use super::*;

    const ARN: &str = "arn:aws:sns:us-west-2:123456789012:mail-reports";
    const CERTIFICATE: &str =
        "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem";
    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    /// What is signed well, and all the same not to be believed.
    const FORGED: [(&str, &str); 9] = [
        ("TopicArn", "arn:aws:sns:us-west-2:999999999999:mail-reports"),
        ("SignatureVersion", "1"),
        (
            "SigningCertURL",
            "https://sns.us-west-2.amazonaws.com.evil.example/SimpleNotificationService-f3.pem",
        ),
        (
            "SigningCertURL",
            "https://evil.example/SimpleNotificationService-f3.pem",
        ),
        (
            "SigningCertURL",
            "http://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3.pem",
        ),
        (
            "SigningCertURL",
            "https://sns.us-west-2.amazonaws.com:8443/SimpleNotificationService-f3.pem",
        ),
        (
            "SigningCertURL",
            "https://evil@sns.us-west-2.amazonaws.com/SimpleNotificationService-f3.pem",
        ),
        (
            "SigningCertURL",
            "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3.pem?x=1",
        ),
        (
            "SigningCertURL",
            "https://sns.us-west-2.amazonaws.com/bucket/own.pem",
        ),
    ];

    fn topic() -> SesTopic {
        SesTopic::new(ARN).expect("a topic")
    }

    /// A message as documented (read in November 2026), without its signature.
    fn message(kind: &str, message: &str) -> Value {
        json!({
            "Type": kind, "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324", "TopicArn": ARN, "Message": message,
            "Timestamp": "2026-11-20T11:30:06.655Z", "SignatureVersion": "2", "Signature": "", "SigningCertURL": CERTIFICATE,
            "UnsubscribeURL": "https://sns.us-west-2.amazonaws.com/?Action=Unsubscribe",
        })
    }

    fn signed(mut message: Value, signer: &SnsSigner) -> anyhow::Result<Value> {
        let parsed: SnsMessage = serde_json::from_value(message.clone())?;
        message["Signature"] = signer.sign(&parsed.signed())?.into();
        Ok(message)
    }

    fn read(message: &Value, signer: &SnsSigner) -> anyhow::Result<Result<SnsPost, PostError>> {
        let topic = topic();
        let read = topic.read(message.to_string().as_bytes());
        let certificate = signer.certificate()?;
        Ok(read.and_then(|read| read.verified(&topic, certificate.as_bytes(), NOW)))
    }

    fn bounce(kind: &str, sub_type: &str, status: Option<&str>) -> String {
        let recipient = json!({
            "emailAddress": "jane@example.com", "status": status, "action": "failed",
            "diagnosticCode": "smtp; 550 5.1.1 <jane@example.com>... User",
        });
        json!({
            "notificationType": "Bounce",
            "bounce": {
                "bounceType": kind, "reportingMTA": "dns; email.example.com", "bouncedRecipients": [recipient],
                "bounceSubType": sub_type, "timestamp": "2016-01-27T14:59:38.237Z",
                "feedbackId": "00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa068a-000000", "remoteMtaIp": "127.0.2.0",
            },
            "mail": { "timestamp": "2016-01-27T14:59:38.237Z", "source": "john@example.com", "destination": ["jane@example.com"] },
        })
        .to_string()
    }

    fn complaint(feedback: &str) -> String {
        json!({
            "eventType": "Complaint",
            "complaint": {
                "complainedRecipients": [{ "emailAddress": "jane@example.com" }], "timestamp": "2016-01-27T14:59:38.237Z",
                "feedbackId": "000001378603177f-18c07c78-fa81-4a58-9dd1-fedc3cb8f49a-000000",
                "userAgent": "AnyCompany Feedback Loop (V0.01)", "complaintFeedbackType": feedback,
            },
            "mail": { "source": "john@example.com", "destination": ["jane@example.com"] },
        })
        .to_string()
    }

    #[test]
    fn a_report_is_what_ses_says_of_its_recipients() -> anyhow::Result<()> {
        let signer = SnsSigner::new()?;
        for (said, expected) in [
            (
                bounce("Permanent", "General", Some("5.1.1")),
                Some(BounceKind::Hard),
            ),
            (
                bounce("Permanent", "General", Some("5.7.1")),
                Some(BounceKind::Soft),
            ),
            (
                bounce("Permanent", "OnAccountSuppressionList", Some("5.0.0")),
                Some(BounceKind::Hard),
            ),
            (bounce("Permanent", "NoEmail", None), Some(BounceKind::Hard)),
            (
                bounce("Transient", "MailboxFull", Some("4.2.2")),
                Some(BounceKind::Soft),
            ),
            (complaint("abuse"), Some(BounceKind::Complaint)),
            (complaint("not-spam"), None),
            (
                r#"{"notificationType": "Delivery", "delivery": {}}"#.to_owned(),
                None,
            ),
            (
                "Successfully validated SNS topic for Amazon SES event publishing.".to_owned(),
                None,
            ),
        ] {
            let post = read(&signed(message("Notification", &said), &signer)?, &signer)??;
            let SnsPost::Post(post) = post else {
                anyhow::bail!("it is a report: {said}");
            };
            let reported = post.reports.first();
            assert_eq!(reported.map(|report| report.kind.clone()), expected, "{said}");
            assert!(reported.is_none_or(|report| report.email.as_str() == "jane@example.com"));
            assert!(
                reported.is_none_or(|report| !report.reason.contains('@')),
                "{reported:?}"
            );
        }
        Ok(())
    }

    #[test]
    fn a_message_that_is_not_amazons_of_our_topic_or_old_is_refused() -> anyhow::Result<()> {
        let (signer, other) = (SnsSigner::new()?, SnsSigner::new()?);
        let good = signed(message("Notification", &complaint("abuse")), &signer)?;
        assert!(read(&good, &signer)?.is_ok());
        assert_eq!(
            read(&good, &other)?,
            Err(PostError::Forged),
            "another certificate"
        );
        for (field, value) in [
            ("Message", complaint("fraud")),
            ("MessageId", "another".to_owned()),
            ("Subject", "added".to_owned()),
            ("Signature", "bm9uZQ==".to_owned()),
        ] {
            let mut changed = good.clone();
            changed[field] = value.into();
            assert_eq!(read(&changed, &signer)?, Err(PostError::Forged), "{field}");
        }
        let mut old = message("Notification", &complaint("abuse"));
        old["Timestamp"] = "2026-11-20T10:59:00.000Z".into();
        assert_eq!(read(&signed(old, &signer)?, &signer)?, Err(PostError::Stale));
        Ok(())
    }

    #[test]
    fn what_amazon_signs_for_others_is_refused() -> anyhow::Result<()> {
        let signer = SnsSigner::new()?;
        for (field, value) in FORGED {
            let mut forged = message("Notification", &complaint("abuse"));
            forged[field] = value.into();
            let read = read(&signed(forged, &signer)?, &signer)?;
            assert_eq!(read, Err(PostError::Forged), "{field}: {value}");
        }
        Ok(())
    }

    #[test]
    fn a_topic_that_asks_is_answered_at_amazons_alone() -> anyhow::Result<()> {
        let signer = SnsSigner::new()?;
        let asks = |url: &str| {
            let mut asks = message(
                "SubscriptionConfirmation",
                "You have chosen to subscribe to the topic.",
            );
            asks["Token"] = "2336412f37fb687f5d51e6e2425dacbb".into();
            asks["SubscribeURL"] = url.into();
            read(&signed(asks, &signer)?, &signer)
        };
        let path = "/?Action=ConfirmSubscription&TopicArn=arn&Token=2336412f";
        let confirmed = asks(&format!("https://sns.us-west-2.amazonaws.com{path}"))?;
        assert_eq!(confirmed, Ok(SnsPost::Confirm(path.to_owned())));
        assert_eq!(
            asks("https://evil.example/?Action=ConfirmSubscription")?,
            Err(PostError::Forged)
        );
        Ok(())
    }

    #[test]
    fn a_topic_is_named_as_amazon_names_it() {
        let china = SesTopic::new("arn:aws-cn:sns:cn-north-1:123456789012:x").map(|topic| topic.host);
        assert_eq!(china.as_deref(), Ok("sns.cn-north-1.amazonaws.com.cn"));
        for wrong in [
            "",
            "mail-reports",
            "arn:aws:sqs:us-west-2:1:x",
            "arn:aws:sns:a.b/c:1:x",
            "arn:aws:sns::1:x",
        ] {
            assert!(SesTopic::new(wrong).is_err(), "{wrong}");
        }
    }
}
