//! Serving gRPC: health, reflection, traces and drain are the same for every service.

use std::net::SocketAddr;

use anyhow::Context;
use tokio::net::TcpListener;
use tonic::{
    service::Routes,
    transport::{Server, server::TcpIncoming},
};
use tonic_health::ServingStatus;

use crate::{
    detached_calls::DetachedCalls,
    drain::{self, Drain},
    grpc_middleware,
    health::{self, Dependency},
};

/// Per-stream flow control window: what one slow reader can make us hold.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
/// Per-connection window: wide, because all of the gateway's calls share a connection.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;

/// How many calls may be given up before this server looks at them, as all of a gateway's visitors may while it stands still.
/// Beyond that it ends the connection, and every other call on it (`http2_max_pending_accept_reset_streams`, 20 by default,
/// against clients who do so on purpose).
const MAX_UNSEEN_RESETS: usize = 4_096;

/// A gRPC server that has its port but does not answer yet.
pub struct GrpcServer {
    listener: TcpListener,
    routes: Routes,
    dependencies: Vec<Dependency>,
}

impl GrpcServer {
    /// Takes the port. Port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    pub async fn bind(
        address: SocketAddr,
        routes: Routes,
        dependencies: Vec<Dependency>,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("The setting LISTEN is wrong: {address} cannot be listened on"))?;
        Ok(Self {
            listener,
            routes,
            dependencies,
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
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
        reporter.set_service_status("", ServingStatus::NotServing).await;
        reporter
            .set_service_status(health::LIVE, ServingStatus::Serving)
            .await;
        let watching = tokio::spawn(health::watch(reporter, self.dependencies, stop.clone()));

        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(site_proto::DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()
            .context("the descriptor set is broken")?;
        let calls = DetachedCalls::new(drain.clone());
        let serving = Server::builder()
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .http2_max_pending_accept_reset_streams(Some(MAX_UNSEEN_RESETS))
            .layer(calls.clone())
            .layer(grpc_middleware::ServerLayer::new())
            .add_routes(self.routes)
            .add_service(health)
            .add_service(reflection)
            .serve_with_incoming_shutdown(
                TcpIncoming::from(self.listener).with_nodelay(Some(true)),
                stop.clone().cancelled_owned(),
            );
        let served = drain.within_grace(async {
            let served = serving.await;
            calls.finish().await;
            served
        });
        let served = served.await;
        stop.cancel();
        drain::join("health", watching).await;
        served.unwrap_or(Ok(())).context("the gRPC server failed")
    }
}
