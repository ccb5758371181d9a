//! HTTP client of the store, with TLS for `https://` addresses.

use aws_sdk_s3::config::SharedHttpClient;
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use site_service::tls::CaFile;

/// Trusts the system's authorities and the CA file. HTTP needs no authorities, and a machine may have none.
pub fn client(endpoint: &str, ca_file: Option<&CaFile>) -> SharedHttpClient {
    let authorities = match ca_file {
        None => TrustStore::default().with_native_roots(!endpoint.starts_with("http://")),
        Some(file) => TrustStore::default().with_pem_certificate(file.pem()),
    };
    let context = TlsContext::builder().with_trust_store(authorities).build();
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context.expect("authorities are all that there is to it"))
        .build_https()
}
