//! DKIM (RFC 6376): signs mails and makes the DNS record that verifies them.

mod key;

use clap::Args;
use lettre::message::{
    Message,
    dkim::{DkimCanonicalization, DkimCanonicalizationType, DkimConfig},
    header::HeaderName,
};
use site_service::settings::{ExposeSecret, Secret};

use self::key::{public_record, signing_key};

/// Signed headers. RFC 8058 (section 4) requires both unsubscribe headers. lettre cannot sign the Content-Type of
/// multipart mails, because it keeps this header apart from the others.
const SIGNED: [&str; 12] = [
    "From",
    "To",
    "Reply-To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "List-Id",
    "Feedback-ID",
    "MIME-Version",
];

/// Key that signs mails. Without a key, mails are not signed.
#[derive(Args, Debug, Clone, Default)]
pub struct DkimSettings {
    /// Selector of the public key in the DNS
    #[arg(long, env = "DKIM_SELECTOR", requires_all = ["dkim_domain", "dkim_key"], value_parser = dns_name)]
    pub dkim_selector: Option<String>,
    /// Domain in the signature (`d=`)
    #[arg(long, env = "DKIM_DOMAIN", requires_all = ["dkim_selector", "dkim_key"], value_parser = dns_name)]
    pub dkim_domain: Option<String>,
    /// Private key: RSA as PKCS#1 PEM (`openssl genrsa -traditional 2048`) or an Ed25519 seed in base64
    #[arg(
        long,
        env = "DKIM_KEY",
        hide_env_values = true,
        requires_all = ["dkim_selector", "dkim_domain"],
        value_parser = checked
    )]
    pub dkim_key: Option<Secret>,
}

impl DkimSettings {
    /// Name and content of the TXT record that publishes the key, or `None` without a key.
    ///
    /// # Errors
    ///
    /// If the key is too short or unreadable, with the reason.
    pub fn dns_record(&self) -> Result<Option<(String, String)>, String> {
        let (Some(selector), Some(domain), Some(key)) =
            (&self.dkim_selector, &self.dkim_domain, &self.dkim_key)
        else {
            return Ok(None);
        };
        let name = format!("{selector}._domainkey.{domain}");
        Ok(Some((name, public_record(key.expose_secret())?)))
    }
}

/// Signs messages.
pub struct Signer(DkimConfig);

impl Signer {
    /// Creates the signer, or returns `None` if no key is set.
    ///
    /// # Errors
    ///
    /// If the key is too short or unreadable, with the reason.
    pub fn new(settings: &DkimSettings) -> Result<Option<Self>, String> {
        let (Some(selector), Some(domain), Some(key)) =
            (&settings.dkim_selector, &settings.dkim_domain, &settings.dkim_key)
        else {
            return Ok(None);
        };
        Ok(Some(Self(DkimConfig::new(
            selector.clone(),
            domain.clone(),
            signing_key(key.expose_secret())?,
            SIGNED.map(HeaderName::new_from_ascii_str).into(),
            // Relays refold headers and trim lines; "relaxed" survives both.
            DkimCanonicalization {
                header: DkimCanonicalizationType::Relaxed,
                body: DkimCanonicalizationType::Relaxed,
            },
        ))))
    }

    /// Signs the message. Later changes of the message would break the signature.
    pub fn sign(&self, message: &mut Message) {
        message.sign(&self.0);
    }
}

/// Rejects an unusable key while settings are parsed.
fn checked(raw: &str) -> Result<Secret, String> {
    signing_key(raw).map(|_| raw.into())
}

/// Parses a name of labels of letters, digits, hyphens and underscores (RFC 1035, 2.3.4; RFC 6376, 3.1).
///
/// # Errors
///
/// If it is no DNS name.
pub fn dns_name(raw: &str) -> Result<String, &'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(fits)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if raw.len() <= 253 && raw.split('.').all(is_label) {
        Ok(raw.to_owned())
    } else {
        Err("it is no DNS name such as company.com")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ed25519 seed of 32 zero bytes.
    const SEED: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    fn message() -> Message {
        Message::builder()
            .from("hello@oculant.example".parse().expect("an address"))
            .to("asha@example.com".parse().expect("an address"))
            .subject("Hello")
            .body("Hello".to_owned())
            .expect("a message")
    }

    #[test]
    fn without_a_key_nothing_is_signed() {
        assert!(matches!(Signer::new(&DkimSettings::default()), Ok(None)));
    }

    #[test]
    fn a_signature_covers_the_unsubscribe_headers() {
        let settings = DkimSettings {
            dkim_selector: Some("site".into()),
            dkim_domain: Some("oculant.example".into()),
            dkim_key: Some(SEED.into()),
        };
        let signer = Signer::new(&settings).ok().flatten().expect("a signer");
        let mut message = message();
        signer.sign(&mut message);
        let signature = message.headers().get_raw("DKIM-Signature").unwrap_or_default();
        assert!(signature.contains("d=oculant.example; s=site;"), "{signature}");
        assert!(
            signature.contains("list-unsubscribe:list-unsubscribe-post"),
            "{signature}"
        );
    }

    #[test]
    fn only_names_in_the_dns_are_accepted() {
        for good in ["company.com", "mail", "2026-11", "a._domainkey"] {
            assert_eq!(dns_name(good).as_deref(), Ok(good));
        }
        let long = "a".repeat(64);
        assert!(dns_name(&long).is_err());
        for bad in "|company..com|company.com.|-a|a b|müller.de".split('|') {
            assert!(dns_name(bad).is_err(), "{bad}");
        }
    }
}
