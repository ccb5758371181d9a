//! Signing mails, so that receivers can tell ours from a forger's (RFC 6376).

use clap::Args;
use lettre::message::{
    Message,
    dkim::{
        DkimCanonicalization, DkimCanonicalizationType, DkimConfig, DkimSigningAlgorithm, DkimSigningKey,
    },
    header::HeaderName,
};
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

/// The key that mails are signed with; without one they are not signed.
#[derive(Args, Debug, Clone, Default)]
pub struct DkimSettings {
    /// Selector under which the public key stands in the DNS
    #[arg(long, env = "DKIM_SELECTOR", requires_all = ["dkim_domain", "dkim_key"])]
    pub dkim_selector: Option<String>,
    /// Domain that signs
    #[arg(long, env = "DKIM_DOMAIN", requires_all = ["dkim_selector", "dkim_key"])]
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
    let algorithm = if raw.contains("-----BEGIN") {
        DkimSigningAlgorithm::Rsa
    } else {
        DkimSigningAlgorithm::Ed25519
    };
    DkimSigningKey::new(raw.trim(), algorithm).map_err(|error| {
        format!("it is neither an RSA key as PKCS#1 PEM nor an Ed25519 seed in base64 ({error})")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 32 zero bytes: a key that nobody uses.
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
    fn a_key_that_is_none_is_refused_and_not_repeated() {
        for bad in [
            "hunter2",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] {
            let refusal = checked(bad).err().unwrap_or_default();
            assert!(refusal.starts_with("it is neither"), "{refusal}");
            assert!(!refusal.contains(bad));
        }
    }
}
