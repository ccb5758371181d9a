//! gRPC server with health, reflection, tracing and drain.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context;
use clap::Args;
use http::Request;
use tokio::{net::TcpListener, try_join};
use tokio_util::task::TaskTracker;
use tonic::{
    body::Body,
    service::Routes,
    transport::{Server, server::TcpIncoming},
};
use tonic_health::pb::health_server::{Health, HealthServer};
use tower::{
    layer::layer_fn,
    util::{MapFutureLayer, MapRequestLayer},
};

use crate::{
    detached_calls::detached,
    drain::{self, CancellationToken, Drain},
    grpc_middleware::GrpcTracing,
    health::{self, Dependency, HealthStatus},
    listener::listen,
    tls::{self, GrpcTlsSettings},
};

/// Flow control window of a stream: the buffer for one slow reader.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// Large, as all of the gateway's calls share one connection.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;

/// Limit of calls cancelled before a stalled server sees them. Above it, h2 ends the connection (default
/// 20, against abuse).
const MAX_UNSEEN_RESETS: usize = 4_096;

/// Callers reconnect when a connection reaches this age, so that they reach new pods. Calls in flight finish.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(5 * 60);

/// Settings of a service that the gateway calls.
#[derive(Args, Debug, Clone, Default)]
pub struct GrpcServerSettings {
    /// Mutual TLS
    #[command(flatten)]
    pub tls: GrpcTlsSettings,
    /// Address to listen on for health checks without TLS, because probes of a cluster have no certificate
    #[arg(long, env = "HEALTH_LISTEN")]
    pub health_listen: Option<SocketAddr>,
}

/// gRPC server that is bound but does not answer yet.
pub struct GrpcServer {
    listener: TcpListener,
    server: Server,
    probed: Option<TcpListener>,
    names: &'static [&'static str],
    routes: Routes,
    dependencies: Vec<Dependency>,
}

impl GrpcServer {
    /// Binds the port; `names` are the services of `routes`.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    pub async fn bind(
        address: SocketAddr,
        names: &'static [&'static str],
        routes: Routes,
        dependencies: Vec<Dependency>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            listener: listen("LISTEN", address).await?,
            server: Server::builder(),
            probed: None,
            names,
            routes,
            dependencies,
        })
    }

    /// Adds the settings of a service that the gateway calls.
    ///
    /// # Errors
    ///
    /// If the TLS key does not match the certificate, or the address cannot be bound.
    pub async fn with(mut self, settings: &GrpcServerSettings) -> anyhow::Result<Self> {
        if let Some(tls) = settings.tls.server() {
            self.server = self.server.tls_config(tls).context(tls::MISMATCH)?;
        }
        if let Some(address) = settings.health_listen {
            self.probed = Some(listen("HEALTH_LISTEN", address).await?);
        }
        Ok(self)
    }

    /// Port of the health checks without TLS.
    pub fn health_port(&self) -> Option<u16> {
        self.probed.as_ref().and_then(port_of)
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        port_of(&self.listener).unwrap_or_default()
    }

    /// Routes, for callers in the same process.
    pub fn routes(&self) -> Routes {
        self.routes.clone()
    }

    /// Serves until the drain begins, then finishes calls in flight. Calls get the drain as an extension
    /// ([`Drain::of`]).
    ///
    /// # Errors
    ///
    /// If the server fails.
    pub async fn run(self, drain: Drain) -> anyhow::Result<()> {
        let stop = drain.stop().clone();
        let (reporter, health) = tonic_health::server::health_reporter();
        let health_status = HealthStatus::new(reporter, self.names).await;
        let watching = tokio::spawn(health::watch(health_status, self.dependencies, stop.clone()));
        let calls = TaskTracker::new();
        let in_extensions = drain.clone();
        let with_drain = move |mut request: Request<Body>| {
            request.extensions_mut().insert(in_extensions.clone());
            request
        };
        let router = self
            .server
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .http2_max_pending_accept_reset_streams(Some(MAX_UNSEEN_RESETS))
            .max_connection_age(MAX_CONNECTION_AGE)
            .layer(MapRequestLayer::new(with_drain))
            .layer(MapFutureLayer::new(detached(&calls)))
            .layer(layer_fn(GrpcTracing::of_server))
            .add_routes(self.routes)
            .add_service(health.clone())
            .add_service(reflection().build_v1().context("the descriptor set is broken")?);
        let stopped = stop.clone().cancelled_owned();
        let serving = router.serve_with_incoming_shutdown(incoming(self.listener), stopped);
        let probing = answer_probes(self.probed, health, stop.clone());
        let served = drain.within_grace(async {
            let served = try_join!(serving, probing).map(drop);
            calls.close();
            calls.wait().await;
            served
        });
        let served = served.await;
        stop.cancel();
        drain::join("health", watching).await;
        served.unwrap_or(Ok(())).context("the gRPC server failed")
    }
}

async fn answer_probes(
    listener: Option<TcpListener>,
    health: HealthServer<impl Health>,
    stop: CancellationToken,
) -> Result<(), tonic::transport::Error> {
    let Some(listener) = listener else {
        return Ok(());
    };
    let router = Server::builder().add_service(health);
    router
        .serve_with_incoming_shutdown(incoming(listener), stop.cancelled_owned())
        .await
}

fn port_of(listener: &TcpListener) -> Option<u16> {
    Some(listener.local_addr().ok()?.port())
}

fn incoming(listener: TcpListener) -> TcpIncoming {
    TcpIncoming::from(listener).with_nodelay(Some(true))
}

fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(site_proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
