//! The private key, and the DNS record of the public key.

use std::fmt::Display;

use base64::{Engine, engine::general_purpose::STANDARD};
use ed25519_dalek::SigningKey;
use lettre::message::dkim::{DkimSigningAlgorithm, DkimSigningKey};
use rsa::{RsaPrivateKey, pkcs1::DecodeRsaPrivateKey, pkcs8::EncodePublicKey, traits::PublicKeyParts};

/// Receivers must reject signatures by shorter keys (RFC 8301, 3.2).
const MIN_RSA_BITS: usize = 1024;
const PEM: &str = "-----BEGIN";
/// First line of a PKCS#8 key, OpenSSL's default format.
const PKCS8: &str = "-----BEGIN PRIVATE KEY-----";

/// Parses the private key.
///
/// # Errors
///
/// If the key is too short or unreadable, with the reason.
pub(crate) fn signing_key(raw: &str) -> Result<DkimSigningKey, String> {
    public_record(raw)?;
    let algorithm = if raw.contains(PEM) {
        DkimSigningAlgorithm::Rsa
    } else {
        DkimSigningAlgorithm::Ed25519
    };
    DkimSigningKey::new(raw.trim(), algorithm).map_err(no_key)
}

/// TXT record of the public key (RFC 6376, 3.6.1; RFC 8463, 4).
///
/// # Errors
///
/// As [`signing_key`].
pub(crate) fn public_record(raw: &str) -> Result<String, String> {
    let raw = raw.trim();
    let (name, public) = if raw.contains(PEM) {
        ("rsa", rsa(raw)?)
    } else {
        let seed = STANDARD.decode(raw).map_err(no_key)?;
        let seed = <[u8; 32]>::try_from(seed).map_err(|_| no_key("a seed has 32 bytes"))?;
        let public = SigningKey::from_bytes(&seed).verifying_key();
        ("ed25519", public.to_bytes().to_vec())
    };
    Ok(format!("v=DKIM1; k={name}; p={}", STANDARD.encode(public)))
}

fn rsa(pem: &str) -> Result<Vec<u8>, String> {
    if pem.contains(PKCS8) {
        return Err("it is PKCS#8; `openssl rsa -traditional` makes PKCS#1 of it".to_owned());
    }
    let key = RsaPrivateKey::from_pkcs1_pem(pem).map_err(no_key)?;
    let bits = key.size() * 8;
    if bits < MIN_RSA_BITS {
        return Err(format!(
            "it has {bits} bits, and receivers accept no fewer than {MIN_RSA_BITS}"
        ));
    }
    let public = key.to_public_key().to_public_key_der().map_err(no_key)?;
    Ok(public.as_bytes().to_vec())
}

fn no_key(error: impl Display) -> String {
    format!("it is neither an RSA key as PKCS#1 PEM nor an Ed25519 seed in base64 ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RSA key of 512 bits, too short for any receiver.
    const SHORT: &str = "-----BEGIN RSA PRIVATE KEY-----
MIIBOgIBAAJBANRN2OG9v7KqzLA6PfAYfsP3j70xZqGJuaNIvOZfMfXsPqu4gS+s
fZZKb0oBT1oNWFidiI8GciF56RhGhZtROzUCAwEAAQJAUP1VlGBXhegkZ8IAKNyf
V1DUk78JwOwSVlkEPvnnzEFeZnJ/vHwuMc387jsU80KMdfDjSMemqBKiQAlhGo01
jQIhAPPJhEHe/9aijqQVmDcnTFNc9idf+WuLgKkCVr2RhgH7AiEA3vCSPrDQlg6R
1arXbJwlHUQtYgGg897lo2HjMgyoYI8CIAbqSXEg5TruY4NuBWJTIAwhT+4v/8A4
Nc8VfOZlsVpvAiEAn9BMxevyWt9u44BolU8JvAUXk14fhzKN46VUPJieSzkCIAru
rX7/8Jlaz+hCkOl4QzEKftCDuS208DvRfY2tDRgI
-----END RSA PRIVATE KEY-----";

    fn refusal(raw: &str) -> String {
        signing_key(raw).err().unwrap_or_default()
    }

    #[test]
    fn a_key_of_another_form_is_refused_with_a_remedy() {
        let refusal = refusal("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----");
        assert!(refusal.contains("openssl rsa -traditional"), "{refusal}");
    }

    #[test]
    fn a_short_key_is_refused_with_its_length() {
        assert_eq!(
            refusal(SHORT),
            "it has 512 bits, and receivers accept no fewer than 1024"
        );
    }

    #[test]
    fn an_invalid_key_is_refused_and_not_repeated() {
        for bad in [
            "hunter2",
            "AAAA",
            "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nsecret",
        ] {
            let refusal = refusal(bad);
            assert!(refusal.starts_with("it is neither"), "{refusal}");
            assert!(!refusal.contains(bad));
        }
    }
}
