//! What a site and a mail server are known by: the system's authorities.

use anyhow::Context as _;
use hyper_rustls::ConfigBuilderExt as _;
use tokio_rustls::rustls::ClientConfig;

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
