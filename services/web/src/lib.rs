//! Serves one front end's files in the cluster: the shell's pages, or what a remote is loaded from.

mod settings;

use std::time::Duration;

use anyhow::Context;
use axum::{Json, Router, middleware::from_fn, routing::get};
use serde_json::{Value, json};
use site_files::{Site, security_headers};
use site_service::{
    drain::{CancellationToken, Drain},
    http::{DEFAULT_MAX_CONNECTIONS, HttpServer},
    http_middleware,
};
use tower_http::catch_panic::CatchPanicLayer;

pub use settings::Settings;

/// The running server.
pub struct Service {
    server: HttpServer,
    router: Router,
    grace: Duration,
}

impl Service {
    /// Reads the front end's folder and takes the port.
    ///
    /// # Errors
    ///
    /// If the folder holds no site, or the address cannot be listened on.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let folder = &settings.site_dir;
        let site = Site::read(folder).with_context(|| {
            format!(
                "The setting SITE_DIR is wrong: {} holds no site",
                folder.display()
            )
        })?;
        let server = HttpServer::bind(settings.listen, DEFAULT_MAX_CONNECTIONS).await?;
        Ok(Self {
            server,
            router: router(site),
            grace: settings.drain.grace,
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Serves until `stop`, then finishes what is in flight.
    pub async fn run(self, stop: CancellationToken) {
        self.server.run(self.router, Drain::new(stop, self.grace)).await;
    }
}

fn router(site: Site) -> Router {
    let answers = Router::new()
        .route("/livez", get(|| says("alive")))
        .route("/readyz", get(|| says("ready")))
        .merge(site.into_router())
        .layer(CatchPanicLayer::new())
        .layer(from_fn(security_headers::add));
    http_middleware::with_middleware(answers)
}

/// The files lie in a folder that was read before the port was taken: who answers is ready.
async fn says(status: &'static str) -> Json<Value> {
    Json(json!({ "status": status }))
}
