//! Whether anybody is answered in clear, or without a certificate, where only TLS is to be spoken.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context as _;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
    },
};
use tonic::transport::Endpoint;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::{kubelet::Shared, within::within};

/// How long an answer may take. One that takes longer is no refusal.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Whom a pod calls by gRPC, and whom at the broker.
const GRPC: [(&str, &str, u16); 3] = [
    ("gateway-0", "contact", 50051),
    ("gateway-0", "newsletter", 50052),
    ("gateway-0", "careers", 50053),
];
const BROKER: (&str, &str, u16) = ("contact-0", "nats-0", 4222);
/// The broker's user whom the pod that tries is.
const USER: &str = "contact";

/// Tries each of them from the pod that may call it; says how many refused.
///
/// # Errors
///
/// If one answers, is not there, or does not speak TLS.
pub async fn refused(shared: &Shared) -> anyhow::Result<usize> {
    for (from, service, port) in GRPC {
        let address = address_of(shared, &format!("{service}-0"), port)?;
        let tls = tls_to(shared, service)?;
        let tried = within(from, move || async move {
            timeout(ANSWER_TIMEOUT, grpc_refuses(address, service, tls)).await
        });
        tried
            .await?
            .context("no answer, and no refusal")?
            .context(service)?;
    }
    let (from, to, port) = BROKER;
    let address = address_of(shared, to, port)?;
    let password = shared.manifests.secret(USER)?.remove("nats-password");
    let password = String::from_utf8(password.context("no password at the broker")?.0)?;
    let tried = within(from, move || async move {
        timeout(ANSWER_TIMEOUT, broker_refuses(address, password)).await
    });
    tried.await?.context("no answer, and no refusal")?.context(to)?;
    Ok(GRPC.len() + 1)
}

fn address_of(shared: &Shared, pod: &str, port: u16) -> anyhow::Result<SocketAddr> {
    let address = shared.network().address(pod);
    let address = address.with_context(|| format!("there is no pod {pod}"))?;
    Ok((address, port).into())
}

/// A client that knows a service's authority, and has no certificate.
fn tls_to(shared: &Shared, service: &str) -> anyhow::Result<TlsConnector> {
    let authority = shared
        .manifests
        .secret(&format!("{service}-tls"))?
        .remove("ca.crt");
    let mut authorities = RootCertStore::empty();
    authorities.add(CertificateDer::from_pem_slice(
        &authority.context("no authority")?.0,
    )?)?;
    let mut config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Arc::new(config).into())
}

/// A server that proves itself by TLS, so is there, answers nobody without a certificate, nor in clear.
async fn grpc_refuses(address: SocketAddr, service: &'static str, tls: TlsConnector) -> anyhow::Result<()> {
    let connection = TcpStream::connect(address).await?;
    let connected = tls.connect(ServerName::try_from(service)?, connection).await;
    // Only now the server says what it thinks of the client (RFC 8446, 4.4.2.4).
    let said = connected
        .context("it does not prove itself")?
        .read(&mut [0; 64])
        .await;
    anyhow::ensure!(
        !said.is_ok_and(|bytes| bytes > 0),
        "it answers who has no certificate"
    );
    anyhow::ensure!(grpc_in_clear(address).await.is_err(), "it answers in clear");
    Ok(())
}

async fn grpc_in_clear(address: SocketAddr) -> anyhow::Result<()> {
    let channel = Endpoint::new(format!("http://{address}"))?.connect().await?;
    let mut client = HealthClient::new(channel);
    client.check(HealthCheckRequest::default()).await?;
    Ok(())
}

/// The broker says that it wants TLS, and takes no login without, though the password is right.
async fn broker_refuses(address: SocketAddr, password: String) -> anyhow::Result<()> {
    let mut connection = BufReader::new(TcpStream::connect(address).await?);
    let mut greeting = String::new();
    connection.read_line(&mut greeting).await?;
    let info = greeting.strip_prefix("INFO ").context("no greeting")?;
    let info: Value = serde_json::from_str(info)?;
    anyhow::ensure!(info["tls_required"] == true, "it wants no TLS");
    let login = json!({ "verbose": false, "user": USER, "pass": password });
    let mut answer = String::new();
    connection
        .write_all(format!("CONNECT {login}\r\nPING\r\n").as_bytes())
        .await?;
    // It ends the connection, with a reason or without.
    let _ended = connection.read_to_string(&mut answer).await;
    anyhow::ensure!(
        !answer.contains("PONG"),
        "it takes a login in clear, though it says that it wants TLS"
    );
    Ok(())
}
