//! Serving gRPC: health, reflection, traces and drain are the same for every service.

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

/// Per-stream flow control window: what one slow reader can make us hold.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// Per-connection window: wide, because all of the gateway's calls share a connection.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;

/// How many calls may be given up before this server looks at them, as all of a gateway's visitors may while it stands still.
/// Beyond that it ends the connection, and every other call on it (`http2_max_pending_accept_reset_streams`, 20 by default,
/// against clients who do so on purpose).
const MAX_UNSEEN_RESETS: usize = 4_096;

/// How long a connection lives, so that callers who connect by way of a load balancer come to each new pod. Calls under way are
/// finished.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(5 * 60);

/// How a service is spoken to that the gateway calls.
#[derive(Args, Debug, Clone, Default)]
pub struct GrpcServerSettings {
    /// Mutual TLS
    #[command(flatten)]
    pub tls: GrpcTlsSettings,
    /// Address to listen on for health checks alone, in clear: probes of a cluster have no certificate
    #[arg(long, env = "HEALTH_LISTEN")]
    pub health_listen: Option<SocketAddr>,
}

/// A gRPC server that has its port but does not answer yet.
pub struct GrpcServer {
    listener: TcpListener,
    server: Server,
    probed: Option<TcpListener>,
    names: &'static [&'static str],
    routes: Routes,
    dependencies: Vec<Dependency>,
}

impl GrpcServer {
    /// Takes the port. Port 0 takes any free one. `names` are those of the services that the routes lead to.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
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

    /// The same with the settings of a service that the gateway calls.
    ///
    /// # Errors
    ///
    /// If a file cannot be used, or the address cannot be listened on.
    pub async fn with(mut self, settings: &GrpcServerSettings) -> anyhow::Result<Self> {
        if let Some(tls) = settings.tls.server() {
            self.server = self.server.tls_config(tls).context(tls::MISMATCH)?;
        }
        if let Some(address) = settings.health_listen {
            self.probed = Some(listen("HEALTH_LISTEN", address).await?);
        }
        Ok(self)
    }

    /// The port it listens on for health checks alone.
    pub fn health_port(&self) -> Option<u16> {
        self.probed.as_ref().and_then(port_of)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        port_of(&self.listener).unwrap_or_default()
    }

    /// What it answers, without its port: for callers in the same process.
    pub fn routes(&self) -> Routes {
        self.routes.clone()
    }

    /// Answers until the drain begins, then finishes what is in flight. Each call finds the drain among its extensions
    /// ([`Drain::of`]).
    ///
    /// # Errors
    ///
    /// If the server ends unasked.
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

/// Answers health checks in clear, where there is a port for them, until told to stop.
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

/// Reflection, for tools such as grpcurl.
fn reflection() -> tonic_reflection::server::Builder<'static> {
    tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(site_proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
}
