//! Whether anybody is answered in clear, without a certificate, where only TLS is to be spoken.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};
use tonic::transport::Endpoint;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::{kubelet::Shared, within::within};

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Whom a pod calls by gRPC, and whom at the broker.
const GRPC: [(&str, &str, u16); 3] = [
    ("gateway-0", "contact-0", 50051),
    ("gateway-0", "newsletter-0", 50052),
    ("gateway-0", "careers-0", 50053),
];
const BROKER: (&str, &str, u16) = ("contact-0", "nats-0", 4222);

/// Tries each of them from the pod that may call it; says how many refused.
///
/// # Errors
///
/// If one answers.
pub async fn refused(shared: &Shared) -> anyhow::Result<usize> {
    for (from, to, port) in GRPC {
        let address = address_of(shared, to, port)?;
        let is_answered = within(from, move || async move {
            timeout(ANSWER_TIMEOUT, grpc(address)).await
        })
        .await?;
        anyhow::ensure!(!is_answered.unwrap_or(false), "{to} answers gRPC in clear");
    }
    let (from, to, port) = BROKER;
    let address = address_of(shared, to, port)?;
    let is_answered = within(from, move || async move {
        timeout(ANSWER_TIMEOUT, broker(address)).await
    })
    .await?;
    anyhow::ensure!(!is_answered.unwrap_or(false), "{to} answers clients in clear");
    Ok(GRPC.len() + 1)
}

fn address_of(shared: &Shared, pod: &str, port: u16) -> anyhow::Result<SocketAddr> {
    let network = shared.network();
    let mut endpoints = network.endpoints();
    let found = endpoints.find(|(name, _)| *name == pod);
    let (_, endpoint) = found.with_context(|| format!("there is no pod {pod}"))?;
    Ok((endpoint.address, port).into())
}

async fn grpc(address: SocketAddr) -> bool {
    let asking = async {
        let channel = Endpoint::new(format!("http://{address}"))?.connect().await?;
        let answer = HealthClient::new(channel)
            .check(HealthCheckRequest::default())
            .await?;
        anyhow::Ok(answer)
    };
    asking.await.is_ok()
}

async fn broker(address: SocketAddr) -> bool {
    let asking = async {
        let mut connection = TcpStream::connect(address).await?;
        connection
            .write_all(b"CONNECT {\"verbose\":false}\r\nPING\r\n")
            .await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    asking.await.is_ok_and(|answer| answer.contains("PONG"))
}
