//! Files of certificates and keys, in PEM.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

use anyhow::ensure;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

/// A file of authorities, and what it held when it was read.
#[derive(Debug, Clone)]
pub struct CaFile {
    path: PathBuf,
    pem: Vec<u8>,
}

impl CaFile {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// If it cannot be used: why.
    pub fn parse(path: &str) -> Result<Self, String> {
        Self::read(Path::new(path))
    }

    /// It as it is now, where that is another than it was. What cannot be used is not taken.
    pub fn renewed(&self) -> Option<Self> {
        match Self::read(&self.path) {
            Ok(found) => (found.pem != self.pem).then_some(found),
            Err(reason) => {
                let path = self.path.display().to_string();
                tracing::warn!(
                    path,
                    reason,
                    "renewed authorities cannot be used; those before are kept"
                );
                None
            }
        }
    }

    fn read(path: &Path) -> Result<Self, String> {
        let pem = read(path)?;
        authorities(&pem)?;
        let path = path.to_owned();
        Ok(Self { path, pem })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its authorities, as PEM.
    pub fn pem(&self) -> &[u8] {
        &self.pem
    }
}

/// A client of whoever is known by the system's authorities, or by those of this file.
///
/// # Errors
///
/// If there are none at all.
pub fn public_client_config(further: Option<&CaFile>) -> anyhow::Result<ClientConfig> {
    let further = further.map(|file| authorities(&file.pem).map_err(anyhow::Error::msg));
    let mut roots = further.transpose()?.unwrap_or_else(RootCertStore::empty);
    // What cannot be read of the system's is missed where it is needed.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ensure!(
        !roots.is_empty(),
        "there are no root certificates; on Debian they are in the package ca-certificates"
    );
    Ok(ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth())
}

/// A file that a setting names, as it was when it was read.
#[derive(PartialEq)]
pub struct PemFile {
    setting: &'static str,
    path: PathBuf,
    content: Vec<u8>,
}

impl PemFile {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the sentence that names its setting.
    pub fn read(setting: &'static str, path: &Path) -> anyhow::Result<Self> {
        let mut file = Self {
            setting,
            path: path.to_owned(),
            content: Vec::new(),
        };
        file.content = read(path).map_err(|reason| file.wrong(reason))?;
        Ok(file)
    }

    /// The same file as it is now.
    ///
    /// # Errors
    ///
    /// If it cannot be read, with the sentence that names its setting.
    pub fn read_again(&self) -> anyhow::Result<Self> {
        Self::read(self.setting, &self.path)
    }

    /// The certificates in it, at least one.
    ///
    /// # Errors
    ///
    /// If it holds none, with the sentence that names its setting.
    pub fn certificates(&self) -> anyhow::Result<Vec<CertificateDer<'static>>> {
        certificates(&self.content).map_err(|reason| self.wrong(reason))
    }

    /// The authorities in it, at least one.
    ///
    /// # Errors
    ///
    /// If it holds none, with the sentence that names its setting.
    pub fn authorities(&self) -> anyhow::Result<RootCertStore> {
        authorities(&self.content).map_err(|reason| self.wrong(reason))
    }

    /// The private key in it.
    ///
    /// # Errors
    ///
    /// If it holds none, with the sentence that names its setting.
    pub fn key(&self) -> anyhow::Result<PrivateKeyDer<'static>> {
        let key = PrivateKeyDer::from_pem_slice(&self.content);
        key.map_err(|_| self.wrong("it holds no private key as PEM"))
    }

    /// The sentence that says what is wrong with it.
    pub fn wrong(&self, reason: impl fmt::Display) -> anyhow::Error {
        let (setting, path) = (self.setting, self.path.display());
        anyhow::anyhow!("The setting {setting} is wrong: \"{path}\": {reason}")
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("it cannot be read: {error}"))
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.ok().filter(|certificates| !certificates.is_empty());
    certificates.ok_or_else(|| "it holds no certificates as PEM".to_owned())
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem)? {
        let added = roots.add(certificate);
        added.map_err(|error| format!("it holds what is no authority's certificate: {error}"))?;
    }
    Ok(roots)
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
        let trusted = CaFile::parse(&authority.file().to_string_lossy());
        let config = public_client_config(Some(&trusted.map_err(anyhow::Error::msg)?))?;
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
            fs::write(file.path(), content)?;
            let parsed = CaFile::parse(&file.path().to_string_lossy());
            Ok(parsed.err().unwrap_or_default())
        };
        for content in [
            "",
            "ca.pem",
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        ] {
            assert_eq!(refusal(content)?, "it holds no certificates as PEM", "{content}");
        }
        let no_certificate = refusal("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")?;
        assert!(
            no_certificate.starts_with("it holds what is no authority's certificate: "),
            "{no_certificate}"
        );
        let absent = CaFile::parse("/nowhere/ca.pem").err().unwrap_or_default();
        assert!(absent.starts_with("it cannot be read: "), "{absent}");
        Ok(())
    }
}
