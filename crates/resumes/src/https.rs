//! The HTTP client of the store: by TLS where the address says so, with authorities that may be renewed.

use std::sync::{Mutex, PoisonError};

use aws_sdk_s3::config::{HttpClient, RuntimeComponents, SharedHttpClient};
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector};
use site_service::tls::CaFile;

/// A client that trusts the system's authorities, and those of the file besides. Where the store is spoken to in clear text none are
/// read: a machine may have none.
pub fn client(endpoint: &str, ca_file: Option<&CaFile>) -> SharedHttpClient {
    match ca_file {
        None => trusting(TrustStore::default().with_native_roots(!endpoint.starts_with("http://"))),
        Some(file) => SharedHttpClient::new(Trusting {
            latest: Mutex::new((file.clone(), trusting_file(file))),
        }),
    }
}

fn trusting_file(file: &CaFile) -> SharedHttpClient {
    trusting(TrustStore::default().with_pem_certificate(file.pem()))
}

fn trusting(authorities: TrustStore) -> SharedHttpClient {
    let context = TlsContext::builder().with_trust_store(authorities).build();
    Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .tls_context(context.expect("authorities are all that there is to it"))
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
            *latest = (renewed.clone(), trusting_file(&renewed));
        }
        latest.1.http_connector(settings, components)
    }
}
