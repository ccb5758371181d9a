//! What a site, a mail server and endpoints of webhooks are known by: the system's authorities, and further ones where a setting
//! names them.

use anyhow::{Context as _, ensure};
use hyper_rustls::ConfigBuilderExt as _;
use site_service::tls::CaFile;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};

/// A client of TLS.
///
/// # Errors
///
/// If the system has no authorities.
pub fn config() -> anyhow::Result<ClientConfig> {
    let roots = ClientConfig::builder().with_native_roots();
    let roots =
        roots.context("There are no root certificates; on Debian they are in the package ca-certificates")?;
    Ok(roots.with_no_client_auth())
}

/// A client of TLS that trusts these authorities besides.
///
/// # Errors
///
/// If there are none at all.
pub fn config_trusting(further: Option<&CaFile>) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(further) = further {
        let further = CertificateDer::pem_slice_iter(further.pem()).collect::<Result<Vec<_>, _>>()?;
        roots.add_parsable_certificates(further);
    }
    ensure!(
        !roots.is_empty(),
        "There are no root certificates; on Debian they are in the package ca-certificates"
    );
    Ok(ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth())
}
