//! TLS with certificates and authorities of our own. Files are read at the start; where they change, [`restart`] has the process
//! started again.

mod pem;
pub mod restart;

use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use http::Uri;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, ServerTlsConfig};

pub use self::pem::{CaFile, public_client_config};
use crate::settings::{ExposeSecret, Secret};

/// How long the other side may take over its part of a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// What is wrong with files that hold what they should.
pub(crate) const MISMATCH: &str = "the key in GRPC_KEY_FILE must be that of GRPC_CERTIFICATE_FILE";

/// Mutual TLS of gRPC, between the gateway and the services. Without these settings gRPC is in clear.
#[derive(Args, Debug, Clone, Default)]
pub struct GrpcTlsSettings {
    /// File (PEM) of the authorities that the other side of gRPC must have its certificate from; with it, gRPC is spoken by
    /// mutual TLS only
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
    /// What a service needs to be spoken to; none where gRPC is in clear.
    pub fn server(&self) -> Option<ServerTlsConfig> {
        let server = ServerTlsConfig::new()
            .identity(self.identity()?)
            .client_ca_root(Certificate::from_pem(self.grpc_ca_file.as_ref()?.pem()));
        Some(server.timeout(HANDSHAKE_TIMEOUT))
    }

    /// What the gateway needs to speak to a service; none where gRPC is in clear.
    pub fn client(&self) -> Option<ClientTlsConfig> {
        Some(trusting(self.grpc_ca_file.as_ref()?).identity(self.identity()?))
    }

    fn identity(&self) -> Option<Identity> {
        let (certificate, key) = (self.grpc_certificate_file.as_ref()?, self.grpc_key_file.as_ref()?);
        Some(Identity::from_pem(certificate, key.expose_secret()))
    }
}

/// What a client needs that trusts these authorities alone, and has no certificate itself.
pub fn trusting(authorities: &CaFile) -> ClientTlsConfig {
    ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(authorities.pem()))
        // A proxy before the server may negotiate no protocol (ALPN).
        .assume_http2(true)
        .timeout(HANDSHAKE_TIMEOUT)
}

/// The gRPC server at this address, by TLS where there are authorities to trust.
///
/// # Errors
///
/// If the address and TLS do not go together, or certificate and key: why.
pub fn endpoint(uri: &Uri, tls: Option<ClientTlsConfig>) -> anyhow::Result<Endpoint> {
    let endpoint = Endpoint::from(uri.clone());
    match (uri.scheme_str(), tls) {
        (Some("https"), Some(tls)) => endpoint.tls_config(tls).context(MISMATCH),
        (Some("http"), None) => Ok(endpoint),
        (_, Some(_)) => bail!("it must begin with https://, as authorities to trust are set"),
        (_, None) => bail!("it must begin with http://, or authorities to trust be set"),
    }
}
