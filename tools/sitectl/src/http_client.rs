//! HTTP client for public sites.

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use site_service::tls::public_client_config;

/// Client that follows no redirects.
///
/// # Errors
///
/// If TLS cannot be set up.
pub fn http_client() -> anyhow::Result<Client<HttpsConnector<HttpConnector>, String>> {
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(public_client_config(None)?)
        .https_or_http()
        .enable_http1()
        .build();
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}
