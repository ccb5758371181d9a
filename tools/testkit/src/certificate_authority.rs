//! Certificate authority for tests.

use std::{fs, path::Path, sync::Arc};

pub use rcgen::ExtendedKeyUsagePurpose as Usage;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use tempfile::NamedTempFile;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};
use uuid::Uuid;

/// Authority with its certificate in a file.
pub struct CertificateAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl CertificateAuthority {
    /// Creates an untrusted authority.
    pub fn new() -> anyhow::Result<Self> {
        let mut params = CertificateParams::default();
        // Clients distinguish authorities by name.
        let name = format!("Test authority {}", Uuid::new_v4());
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let file = NamedTempFile::new()?;
        fs::write(file.path(), issuer.pem())?;
        Ok(Self { issuer, file })
    }

    /// Certificate file (PEM).
    pub fn file(&self) -> &Path {
        self.file.path()
    }

    /// Certificate (PEM).
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Certificate and key (PEM) of a server.
    pub fn issue_to_server(&self, names: &[&str]) -> anyhow::Result<[String; 2]> {
        self.issue_for(names, vec![Usage::ServerAuth])
    }

    /// Certificate and key (PEM) for these usages.
    pub fn issue_for(&self, names: &[&str], usages: Vec<Usage>) -> anyhow::Result<[String; 2]> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages = usages;
        let (certificate, key) = self.signed(params)?;
        Ok([certificate.pem(), key.serialize_pem()])
    }

    fn signed(&self, params: CertificateParams) -> anyhow::Result<(Certificate, KeyPair)> {
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.issuer)?, key))
    }

    /// TLS acceptor for this host.
    pub fn issue(&self, host: &str) -> anyhow::Result<TlsAcceptor> {
        self.acceptor(CertificateParams::new([host.to_owned()])?)
    }

    /// TLS acceptor with an expired certificate.
    pub fn issue_expired(&self, host: &str) -> anyhow::Result<TlsAcceptor> {
        let mut params = CertificateParams::new([host.to_owned()])?;
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
        self.acceptor(params)
    }

    fn acceptor(&self, params: CertificateParams) -> anyhow::Result<TlsAcceptor> {
        let (certificate, key) = self.signed(params)?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}
