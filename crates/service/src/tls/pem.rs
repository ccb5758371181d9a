//! Certificates and keys in PEM files.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use anyhow::ensure;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tonic::transport::Certificate;

use crate::settings::Secret;

/// Content of the files read so far, to detect changes.
static READ: Mutex<BTreeMap<PathBuf, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// A file of authorities.
#[derive(Debug, Clone)]
pub struct CaFile {
    path: PathBuf,
    pem: Vec<u8>,
    roots: RootCertStore,
}

impl CaFile {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// If the file is invalid.
    pub fn parse(path: &str) -> Result<Self, String> {
        let pem = read(path)?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&pem)? {
            let added = roots.add(certificate);
            added.map_err(|error| format!("it holds what is no authority's certificate: {error}"))?;
        }
        let path = path.into();
        Ok(Self { path, pem, roots })
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Content of the file.
    pub fn pem(&self) -> &[u8] {
        &self.pem
    }
}

/// TLS client configuration that trusts the system's authorities and the authorities of this file.
///
/// # Errors
///
/// If there are no authorities.
pub fn public_client_config(further: Option<&CaFile>) -> anyhow::Result<ClientConfig> {
    let mut roots = further.map_or_else(RootCertStore::empty, |file| file.roots.clone());
    // Unreadable system certificates are skipped.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ensure!(
        !roots.is_empty(),
        "there are no root certificates; on Debian they are in the package ca-certificates"
    );
    Ok(ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth())
}

pub fn certificate(path: &str) -> Result<Certificate, String> {
    let pem = read(path)?;
    certificates(&pem)?;
    Ok(Certificate::from_pem(pem))
}

pub fn key(path: &str) -> Result<Secret, String> {
    let pem = read(path)?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|_| "it holds no private key as PEM")?;
    Ok(String::from_utf8_lossy(&pem).into_owned().into())
}

pub fn have_changed() -> bool {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    // An unreadable file does not count as changed: it is being replaced.
    read.iter()
        .any(|(path, former)| fs::read(path).is_ok_and(|pem| pem != *former))
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    let pem = fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.insert(path.into(), pem.clone());
    Ok(pem)
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.ok().filter(|certificates| !certificates.is_empty());
    certificates.ok_or_else(|| "it holds no certificates as PEM".to_owned())
}

#[cfg(test)]
mod tests {
    use testkit::CertificateAuthority;
    use tokio_rustls::rustls::ProtocolVersion;

    use super::*;

    #[test]
    fn tls_is_1_2_or_newer_with_forward_secrecy() -> anyhow::Result<()> {
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
        let pem = |body| format!("-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n");
        let file = tempfile::NamedTempFile::new()?;
        for (content, said) in [
            ("ca.pem".to_owned(), "it holds no certificates as PEM"),
            (pem("!"), "it holds no certificates as PEM"),
            (pem("AAAA"), "it holds what is no authority's certificate: "),
        ] {
            fs::write(file.path(), &content)?;
            let refused = CaFile::parse(&file.path().to_string_lossy()).err();
            assert!(
                refused.is_some_and(|reason| reason.starts_with(said)),
                "{content}"
            );
        }
        let absent = CaFile::parse("/nowhere/ca.pem").err().unwrap_or_default();
        assert!(absent.starts_with("it cannot be read: "), "{absent}");
        Ok(())
    }
}
