//! The HTTP client of the store: by TLS where the address says so, with authorities that may be renewed.

use std::sync::{Mutex, PoisonError};

use aws_sdk_s3::config::{HttpClient, RuntimeComponents, SharedHttpClient};
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector};
use site_service::tls::CaFile;

/// A client that trusts the system's authorities, and those of the file besides.
pub fn client(ca_file: Option<&CaFile>) -> SharedHttpClient {
    match ca_file {
        None => Builder::new()
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .build_https(),
        Some(file) => SharedHttpClient::new(Trusting {
            latest: Mutex::new((file.clone(), trusting(file))),
        }),
    }
}

fn trusting(file: &CaFile) -> SharedHttpClient {
    let authorities = TrustStore::default().with_pem_certificate(file.pem());
    let context = TlsContext::builder().with_trust_store(authorities).build();
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context.unwrap_or_default())
        .build_https()
}

/// A client that is made anew when its file of authorities has changed.
#[derive(Debug)]
struct Trusting {
    latest: Mutex<(CaFile, SharedHttpClient)>,
}

impl HttpClient for Trusting {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(renewed) = latest.0.renewed() {
            *latest = (renewed.clone(), trusting(&renewed));
        }
        latest.1.http_connector(settings, components)
    }
}
