//! Probes of a container, as a kubelet makes them: from the node, by HTTP, gRPC, TCP or a command.

use std::{net::Ipv4Addr, time::Duration};

use anyhow::{Context as _, bail};
use k8s_openapi::{
    api::core::v1::{Container, Probe},
    apimachinery::pkg::util::intstr::IntOrString,
};
use tokio::{net::TcpStream, time::timeout};
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{manifests::port_number, pods::RunningPod};

/// The period of a probe.
pub fn period(probe: &Probe) -> Duration {
    Duration::from_secs(probe.period_seconds.unwrap_or(10).unsigned_abs().into())
}

/// How often it may fail in a row.
pub fn failures(probe: &Probe) -> u32 {
    probe.failure_threshold.unwrap_or(3).unsigned_abs()
}

/// Makes a probe once; why it fails, if it does.
///
/// # Errors
///
/// If it fails: why.
pub async fn probe(probe: &Probe, pod: &RunningPod, address: Ipv4Addr) -> anyhow::Result<()> {
    let limit = Duration::from_secs(probe.timeout_seconds.unwrap_or(1).unsigned_abs().into());
    timeout(limit, try_probe(probe, pod, address))
        .await
        .context("it takes too long")?
}

async fn try_probe(probe: &Probe, pod: &RunningPod, address: Ipv4Addr) -> anyhow::Result<()> {
    let container = pod.container();
    if let Some(get) = &probe.http_get {
        let port = number(&get.port, container)?;
        let path = get.path.as_deref().unwrap_or("/");
        let answer = reqwest::get(format!("http://{address}:{port}{path}")).await?;
        let status = answer.status();
        anyhow::ensure!(
            status.is_success() || status.is_redirection(),
            "{path} answers {status}"
        );
        return Ok(());
    }
    if let Some(grpc) = &probe.grpc {
        let channel = Endpoint::new(format!("http://{address}:{}", grpc.port))?
            .connect()
            .await?;
        let service = grpc.service.clone().unwrap_or_default();
        let answer = HealthClient::new(channel)
            .check(HealthCheckRequest { service })
            .await?;
        let status = answer.into_inner().status();
        anyhow::ensure!(status == ServingStatus::Serving, "it says {status:?}");
        return Ok(());
    }
    if let Some(socket) = &probe.tcp_socket {
        let port = number(&socket.port, container)?;
        TcpStream::connect((address, port)).await?;
        return Ok(());
    }
    if let Some(command) = probe.exec.as_ref().and_then(|exec| exec.command.as_ref()) {
        let output = pod.exec(command).await?;
        anyhow::ensure!(output.status.success(), "{command:?} ends with {}", output.status);
        return Ok(());
    }
    bail!("a probe of a kind that is not known here")
}

fn number(port: &IntOrString, container: &Container) -> anyhow::Result<u16> {
    let number = port_number(port, [container]).context("there is no port of that name")?;
    Ok(number.try_into()?)
}
