//! Root certificates from a file: authorities to trust besides the system's.

use lettre::transport::smtp::client::Certificate;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// Authorities to trust, at least one.
#[derive(Debug, Clone)]
pub struct RootCertificates(Vec<CertificateDer<'static>>);

impl RootCertificates {
    /// Reads them; what cannot be used is refused while the settings are read.
    pub(crate) fn read(path: &str) -> Result<Self, String> {
        let pem = std::fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
        let certificates = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
        let certificates = certificates.ok().filter(|certificates| are_usable(certificates));
        certificates
            .map(Self)
            .ok_or_else(|| "it holds no certificates as PEM".to_owned())
    }

    /// As an SMTP connection takes them that is encrypted later.
    pub(super) fn for_smtp(&self) -> impl Iterator<Item = Certificate> {
        self.0
            .iter()
            .filter_map(|certificate| Certificate::from_der(certificate.to_vec()).ok())
    }
}

/// What a client trusts: the system's authorities, and these.
///
/// # Errors
///
/// If there is none.
pub fn tls_config(trusted: Option<&RootCertificates>) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // What cannot be read of the system's is missed where it is needed.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots.add_parsable_certificates(trusted.into_iter().flat_map(|trusted| trusted.0.iter().cloned()));
    anyhow::ensure!(!roots.is_empty(), "there is no usable root certificate");
    Ok(ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth())
}

fn are_usable(certificates: &[CertificateDer<'static>]) -> bool {
    let mut roots = RootCertStore::empty();
    let (usable, unusable) = roots.add_parsable_certificates(certificates.iter().cloned());
    usable > 0 && unusable == 0
}

#[cfg(test)]
mod tests {
    use testkit::CertificateAuthority;
    use tokio_rustls::rustls::ProtocolVersion;

    use super::*;

    #[test]
    fn nothing_older_than_tls_1_2_is_spoken_and_every_cipher_suite_has_forward_secrecy() -> anyhow::Result<()>
    {
        let authority = CertificateAuthority::new()?;
        let trusted = RootCertificates::read(&authority.file().to_string_lossy());
        let config = tls_config(Some(&trusted.map_err(anyhow::Error::msg)?))?;
        let suites = &config.crypto_provider().cipher_suites;
        assert!(!suites.is_empty());
        for suite in suites {
            let (version, name) = (suite.version().version, format!("{:?}", suite.suite()));
            let is_new = matches!(version, ProtocolVersion::TLSv1_2 | ProtocolVersion::TLSv1_3);
            let has_forward_secrecy = ["TLS13_", "TLS_ECDHE_"]
                .iter()
                .any(|begin| name.starts_with(begin));
            assert!(is_new && has_forward_secrecy, "{name}");
        }
        Ok(())
    }

    #[test]
    fn a_file_without_authorities_is_refused_with_the_reason() -> std::io::Result<()> {
        let refusal = |content: &str| -> std::io::Result<String> {
            let file = tempfile::NamedTempFile::new()?;
            std::fs::write(file.path(), content)?;
            let read = RootCertificates::read(&file.path().to_string_lossy());
            Ok(read.err().unwrap_or_default())
        };
        for content in [
            "",
            "ca.pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        ] {
            assert_eq!(refusal(content)?, "it holds no certificates as PEM", "{content}");
        }
        let absent = RootCertificates::read("/nowhere/ca.pem")
            .err()
            .unwrap_or_default();
        assert!(absent.starts_with("it cannot be read: "), "{absent}");
        Ok(())
    }
}
