//! Signing mails, so that receivers can tell ours from a forger's (RFC 6376).

use clap::Args;
use lettre::message::{
    Message,
    dkim::{
        DkimCanonicalization, DkimCanonicalizationType, DkimConfig, DkimSigningAlgorithm, DkimSigningKey,
    },
    header::HeaderName,
};
use rsa::{RsaPrivateKey, pkcs1::DecodeRsaPrivateKey, traits::PublicKeyParts};
use site_service::settings::{ExposeSecret, Secret};

/// What is signed. RFC 8058 (section 4) wants both unsubscribe headers among it. Not
/// Content-Type: lettre keeps a multipart's apart from the headers that it signs.
const SIGNED: [&str; 10] = [
    "From",
    "To",
    "Reply-To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "MIME-Version",
];

/// Receivers must not take a shorter key's signature (RFC 8301, 3.2).
const MIN_RSA_BITS: usize = 1024;
/// What OpenSSL makes unless it is told otherwise.
const PKCS8: &str = "-----BEGIN PRIVATE KEY-----";

/// The key that mails are signed with; without one they are not signed.
#[derive(Args, Debug, Clone, Default)]
pub struct DkimSettings {
    /// Selector under which the public key stands in the DNS
    #[arg(long, env = "DKIM_SELECTOR", requires_all = ["dkim_domain", "dkim_key"], value_parser = dns_name)]
    pub dkim_selector: Option<String>,
    /// Domain that signs
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

/// Signs messages.
pub struct Signer(DkimConfig);

impl Signer {
    /// The signer that the settings ask for, if they ask for one.
    ///
    /// # Errors
    ///
    /// If the key is too short or none that we can read, with the reason.
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

    /// Adds the signature; nothing may change in the message afterwards.
    pub fn sign(&self, message: &mut Message) {
        message.sign(&self.0);
    }
}

/// Refuses an unusable key while the settings are read, so that the start ends there.
fn checked(raw: &str) -> Result<Secret, String> {
    signing_key(raw).map(|_| raw.into())
}

fn signing_key(raw: &str) -> Result<DkimSigningKey, String> {
    let raw = raw.trim();
    if raw.contains(PKCS8) {
        return Err("it is PKCS#8; `openssl rsa -traditional` makes PKCS#1 of it".to_owned());
    }
    let algorithm = if raw.contains("-----BEGIN") {
        ensure_long_enough(raw)?;
        DkimSigningAlgorithm::Rsa
    } else {
        DkimSigningAlgorithm::Ed25519
    };
    DkimSigningKey::new(raw, algorithm).map_err(no_key)
}

fn ensure_long_enough(pem: &str) -> Result<(), String> {
    let bits = RsaPrivateKey::from_pkcs1_pem(pem).map_err(no_key)?.size() * 8;
    if bits < MIN_RSA_BITS {
        return Err(format!(
            "it has {bits} bits, and receivers take no less than {MIN_RSA_BITS}"
        ));
    }
    Ok(())
}

fn no_key(error: impl std::fmt::Display) -> String {
    format!("it is neither an RSA key as PKCS#1 PEM nor an Ed25519 seed in base64 ({error})")
}

/// Labels of letters, digits, hyphens and underscores (RFC 1035, 2.3.4; RFC 6376, 3.1).
fn dns_name(raw: &str) -> Result<String, &'static str> {
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

    /// 32 zero bytes: a key that nobody uses.
    const SEED: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

    /// 512 bits: a key that nobody would take a signature of.
    const SHORT: &str = "-----BEGIN RSA PRIVATE KEY-----
MIIBOgIBAAJBANRN2OG9v7KqzLA6PfAYfsP3j70xZqGJuaNIvOZfMfXsPqu4gS+s
fZZKb0oBT1oNWFidiI8GciF56RhGhZtROzUCAwEAAQJAUP1VlGBXhegkZ8IAKNyf
V1DUk78JwOwSVlkEPvnnzEFeZnJ/vHwuMc387jsU80KMdfDjSMemqBKiQAlhGo01
jQIhAPPJhEHe/9aijqQVmDcnTFNc9idf+WuLgKkCVr2RhgH7AiEA3vCSPrDQlg6R
1arXbJwlHUQtYgGg897lo2HjMgyoYI8CIAbqSXEg5TruY4NuBWJTIAwhT+4v/8A4
Nc8VfOZlsVpvAiEAn9BMxevyWt9u44BolU8JvAUXk14fhzKN46VUPJieSzkCIAru
rX7/8Jlaz+hCkOl4QzEKftCDuS208DvRfY2tDRgI
-----END RSA PRIVATE KEY-----";

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
        let signature = message
            .headers()
            .get_raw("DKIM-Signature")
            .unwrap_or_default()
            .to_owned();
        assert!(signature.contains("d=oculant.example; s=site;"), "{signature}");
        assert!(
            signature.contains("list-unsubscribe:list-unsubscribe-post"),
            "{signature}"
        );
    }

    #[test]
    fn a_key_of_another_form_is_told_how_to_be_mended() {
        let pkcs8 = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----";
        let refusal = checked(pkcs8).err().unwrap_or_default();
        assert!(refusal.contains("openssl rsa -traditional"), "{refusal}");
    }

    #[test]
    fn a_short_key_is_refused_with_its_length() {
        let refusal = checked(SHORT).err().unwrap_or_default();
        assert_eq!(refusal, "it has 512 bits, and receivers take no less than 1024");
    }

    #[test]
    fn names_in_the_dns_are_told_from_others() {
        for good in ["company.com", "mail", "2026-11", "a._domainkey"] {
            assert_eq!(dns_name(good).as_deref(), Ok(good));
        }
        let long = "a".repeat(64);
        for bad in [
            "",
            "company..com",
            "company.com.",
            "-a",
            "a b",
            "müller.de",
            &long,
        ] {
            assert!(dns_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_that_is_none_is_refused_and_not_repeated() {
        for bad in [
            "hunter2",
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nsecret",
        ] {
            let refusal = checked(bad).err().unwrap_or_default();
            assert!(refusal.starts_with("it is neither"), "{refusal}");
            assert!(!refusal.contains(bad));
        }
    }
}
