//! TLS with certificates and authorities of our own. Their files are read again for each connection, so that renewed ones count from
//! the next connection on, without a restart.

mod connector;
mod pem;
mod reloaded;

use std::{
    future::ready,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use futures_util::{Stream, StreamExt};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ClientConfig, ServerConfig, client::Resumption, server::WebPkiClientVerifier, version::TLS13},
    server::TlsStream,
};
use tonic::transport::server::TcpIncoming;

pub use self::{
    connector::Connector,
    pem::{CaFile, public_client_config},
};
use self::{pem::PemFile, reloaded::Reloaded};

/// What gRPC is in TLS (RFC 7301).
const ALPN_H2: &[u8] = b"h2";
/// How long a client may take over its part of a handshake, and how many may be at it: beyond that, connections wait.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
const HANDSHAKES_AT_ONCE: usize = 256;

/// Mutual TLS of gRPC, between the gateway and the services. Without these settings gRPC is in clear.
#[derive(Args, Debug, Clone, Default)]
pub struct GrpcTlsSettings {
    /// File (PEM) of the authorities that the other side of gRPC must have its certificate from; with it, gRPC is spoken by
    /// mutual TLS only
    #[arg(long, env = "GRPC_CA_FILE", requires_all = ["grpc_certificate_file", "grpc_key_file"])]
    pub grpc_ca_file: Option<PathBuf>,
    /// File (PEM) of our certificate in gRPC
    #[arg(long, env = "GRPC_CERTIFICATE_FILE", requires = "grpc_ca_file")]
    pub grpc_certificate_file: Option<PathBuf>,
    /// File (PEM) of our certificate's private key
    #[arg(long, env = "GRPC_KEY_FILE", requires = "grpc_ca_file")]
    pub grpc_key_file: Option<PathBuf>,
}

impl GrpcTlsSettings {
    /// What a service needs to be spoken to; none where gRPC is in clear.
    ///
    /// # Errors
    ///
    /// If a file cannot be used, with the sentence that names its setting.
    pub fn server(&self) -> anyhow::Result<Option<ServerTls>> {
        let made = self.files()?.map(|files| Reloaded::new(files, server_config));
        Ok(made.transpose()?.map(|config| ServerTls(Arc::new(config))))
    }

    /// What the gateway needs to speak to a service; none where gRPC is in clear.
    ///
    /// # Errors
    ///
    /// If a file cannot be used, with the sentence that names its setting.
    pub fn client(&self) -> anyhow::Result<Option<ClientTls>> {
        let made = self.files()?.map(|files| Reloaded::new(files, client_config));
        Ok(made.transpose()?.map(|config| ClientTls(Arc::new(config))))
    }

    fn files(&self) -> anyhow::Result<Option<Vec<PemFile>>> {
        let files = [
            ("GRPC_CA_FILE", &self.grpc_ca_file),
            ("GRPC_CERTIFICATE_FILE", &self.grpc_certificate_file),
            ("GRPC_KEY_FILE", &self.grpc_key_file),
        ];
        let given = files.map(|(setting, path)| Some(PemFile::read(setting, path.as_deref()?)));
        given
            .into_iter()
            .collect::<Option<anyhow::Result<_>>>()
            .transpose()
    }
}

/// A server's side of mutual TLS, as its files have it at the time.
#[derive(Clone)]
pub struct ServerTls(Arc<Reloaded<ServerConfig>>);

impl ServerTls {
    /// The connections of clients whose certificate is of the authorities. Others are closed.
    pub fn accept(self, incoming: TcpIncoming) -> impl Stream<Item = io::Result<TlsStream<TcpStream>>> {
        let handshakes = incoming.map(move |connection| {
            let acceptor = TlsAcceptor::from(self.0.latest());
            async move { Ok(handshake(&acceptor, connection?).await) }
        });
        let accepted = handshakes.buffer_unordered(HANDSHAKES_AT_ONCE);
        accepted.filter_map(|accepted| ready(accepted.transpose()))
    }
}

/// A client's side of TLS, as its files have it at the time.
#[derive(Clone)]
pub struct ClientTls(Arc<Reloaded<ClientConfig>>);

impl ClientTls {
    /// Of a client that trusts these authorities alone, and has no certificate itself.
    ///
    /// # Errors
    ///
    /// If the file cannot be used, with the sentence that names its setting.
    pub fn trusting(setting: &'static str, ca_file: &Path) -> anyhow::Result<Self> {
        let files = vec![PemFile::read(setting, ca_file)?];
        Ok(Self(Arc::new(Reloaded::new(files, client_config)?)))
    }
}

async fn handshake(acceptor: &TlsAcceptor, connection: TcpStream) -> Option<TlsStream<TcpStream>> {
    let client = connection.peer_addr().ok();
    let refused = match timeout(HANDSHAKE_TIMEOUT, acceptor.accept(connection)).await {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => error.to_string(),
        Err(elapsed) => elapsed.to_string(),
    };
    let client = client.map(|client| client.to_string());
    tracing::info!(client, error = refused, "a client was refused: no TLS with it");
    None
}

/// Of authorities, certificate and key. Nothing is resumed, so that each connection shows anew whom it is with.
fn server_config(files: &[PemFile]) -> anyhow::Result<ServerConfig> {
    let [authorities, certificate, key] = files else {
        anyhow::bail!("a server needs authorities, a certificate and a key");
    };
    let verifier = WebPkiClientVerifier::builder(Arc::new(authorities.authorities()?)).build()?;
    let config = ServerConfig::builder_with_protocol_versions(&[&TLS13]).with_client_cert_verifier(verifier);
    let made = config.with_single_cert(certificate.certificates()?, key.key()?);
    let mut config = made.map_err(|error| certificate.wrong(error))?;
    config.alpn_protocols = vec![ALPN_H2.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// Of authorities, and of certificate and key where it has those.
fn client_config(files: &[PemFile]) -> anyhow::Result<ClientConfig> {
    let [authorities, rest @ ..] = files else {
        anyhow::bail!("a client needs authorities");
    };
    let config = ClientConfig::builder_with_protocol_versions(&[&TLS13])
        .with_root_certificates(authorities.authorities()?);
    let mut config = match rest {
        [certificate, key] => config
            .with_client_auth_cert(certificate.certificates()?, key.key()?)
            .map_err(|error| certificate.wrong(error))?,
        _ => config.with_no_client_auth(),
    };
    config.alpn_protocols = vec![ALPN_H2.to_vec()];
    config.resumption = Resumption::disabled();
    Ok(config)
}
