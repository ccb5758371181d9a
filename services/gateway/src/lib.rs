//! The HTTP gateway, our ingress: serves the site and its API, forwards forms over gRPC.
//!
//! [`router`] lists what it serves, [`api`] holds one file per form.

mod address;
mod api;
mod api_error;
mod app;
mod csrf;
mod deadline;
mod derived_key;
mod form_pages;
mod forwarding;
mod rate_limit;
mod readiness;
mod router;
mod settings;
mod stopping;
mod submissions;
mod unread_body;

use std::time::Duration;

pub use api::openapi::openapi;
use app::AppState;
pub use settings::Settings;
use site_service::{
    drain::{CancellationToken, Drain},
    http::HttpServer,
};

/// The running gateway.
pub struct Service {
    server: HttpServer,
    router: axum::Router,
    grace: Duration,
}

impl Service {
    /// Reads the site's folder and takes the port.
    ///
    /// # Errors
    ///
    /// If the folder holds no site, or the address cannot be listened on.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let server = HttpServer::bind(settings.listen, settings.connections_at_once).await?;
        let router = router::router(AppState::new(&settings), &settings)?;
        Ok(Self {
            server,
            router,
            grace: settings.grace,
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Serves until `stop`, then finishes what is in flight, or tells it to come again.
    pub async fn run(self, stop: CancellationToken) {
        self.server.run(self.router, Drain::new(stop, self.grace)).await;
    }
}
