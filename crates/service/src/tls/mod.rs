//! TLS with our own certificates and authorities. Files are read at the start; [`restart`] handles changes.

mod pem;
pub mod restart;

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use http::Uri;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};

pub use self::pem::{CaFile, public_client_config};
use crate::settings::{ExposeSecret, Secret};

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
pub(crate) const MISMATCH: &str = "the key in GRPC_KEY_FILE must be that of GRPC_CERTIFICATE_FILE";

/// Mutual TLS of gRPC, between the gateway and the services. Without these settings gRPC is not encrypted.
#[derive(Args, Debug, Clone, Default)]
pub struct GrpcTlsSettings {
    /// File (PEM) of the authorities for the peer's certificate in gRPC; if set, gRPC uses mutual TLS only
    #[arg(long, env = "GRPC_CA_FILE", value_parser = CaFile::parse, requires_all = ["grpc_certificate_file", "grpc_key_file"])]
    grpc_ca_file: Option<CaFile>,
    /// File (PEM) of our certificate in gRPC
    #[arg(long, env = "GRPC_CERTIFICATE_FILE", value_parser = pem::certificate, requires = "grpc_ca_file")]
    grpc_certificate_file: Option<Certificate>,
    /// File (PEM) of our certificate's private key
    #[arg(long, env = "GRPC_KEY_FILE", value_parser = pem::key, requires = "grpc_ca_file")]
    grpc_key_file: Option<Secret>,
}

impl GrpcTlsSettings {
    /// Server configuration; `None` without TLS.
    pub fn server(&self) -> Option<ServerTlsConfig> {
        let server = ServerTlsConfig::new()
            .identity(self.identity()?)
            .client_ca_root(Certificate::from_pem(self.grpc_ca_file.as_ref()?.pem()));
        Some(server.timeout(HANDSHAKE_TIMEOUT))
    }

    /// Client configuration of the gateway; `None` without TLS.
    pub fn client(&self) -> Option<ClientTlsConfig> {
        Some(trusting(self.grpc_ca_file.as_ref()?).identity(self.identity()?))
    }

    fn identity(&self) -> Option<Identity> {
        let (certificate, key) = (self.grpc_certificate_file.as_ref()?, self.grpc_key_file.as_ref()?);
        Some(Identity::from_pem(certificate, key.expose_secret()))
    }
}

/// Configuration of a client that trusts only these authorities and has no certificate.
pub fn trusting(authorities: &CaFile) -> ClientTlsConfig {
    ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(authorities.pem()))
        // Some proxies do not negotiate HTTP/2 (ALPN).
        .assume_http2(true)
        .timeout(HANDSHAKE_TIMEOUT)
}

/// gRPC endpoint, with TLS if configured.
///
/// # Errors
///
/// If the scheme does not match `tls`, or the key does not match the certificate.
pub fn endpoint(uri: &Uri, tls: Option<ClientTlsConfig>) -> anyhow::Result<Endpoint> {
    let endpoint = Endpoint::from(uri.clone());
    match (uri.scheme_str(), tls) {
        (Some("https"), Some(tls)) => endpoint.tls_config(tls).context(MISMATCH),
        (Some("http"), None) => Ok(endpoint),
        (_, Some(_)) => bail!("it must begin with https://, as authorities to trust are set"),
        (_, None) => bail!("it must begin with http://, or authorities to trust be set"),
    }
}
