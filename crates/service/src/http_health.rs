//! Health checks over HTTP on a separate port, so that they pass during a flood on the visitors' port.

use std::{net::SocketAddr, time::Duration};

use axum::{
    Json, Router,
    routing::{MethodRouter, get},
};
use serde_json::{Value, json};

use crate::{
    drain::{CancellationToken, Drain},
    http::HttpServer,
};

const GRACE: Duration = Duration::from_secs(1);

/// Health server that is bound but does not answer yet.
pub struct HealthServer {
    server: HttpServer,
}

impl HealthServer {
    /// Binds the address of the setting `HEALTH_LISTEN`.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    pub async fn bind(address: SocketAddr) -> anyhow::Result<Self> {
        let server = HttpServer::bind("HEALTH_LISTEN", address).await?;
        Ok(Self { server })
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Serves `/livez` and `/readyz` while `serving` runs. `readiness` answers `/readyz`.
    pub async fn run_beside(self, serving: impl Future<Output = ()>, readiness: MethodRouter) {
        let router = Router::new()
            .route("/readyz", readiness)
            .route("/livez", get(|| async { status("alive") }));
        let served = CancellationToken::new();
        let health = self.server.run(router, Drain::new(served.clone(), GRACE));
        let serving = async {
            serving.await;
            served.cancel();
        };
        tokio::join!(serving, health);
    }
}

/// JSON body of a status.
pub fn status(word: &str) -> Json<Value> {
    Json(json!({ "status": word }))
}
