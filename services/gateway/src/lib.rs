//! HTTP gateway, our ingress: serves the site and its API, and forwards forms over gRPC.
//!
//! [`router`] lists all routes.

mod address;
mod admission;
mod api;
mod api_error;
mod challenge;
mod contact_details;
mod content_type;
mod csrf;
mod deadline;
mod form_bodies;
mod form_pages;
mod forwarding;
#[cfg(test)]
mod fuzz;
mod limits;
mod rate_limit;
mod readiness;
mod router;
mod settings;
mod stopping;
mod submission_key;
mod submissions;
mod unread_body;
mod uploads;

use std::{sync::Arc, time::Duration};

use api::AppState;
pub use api::openapi::openapi;
use forwarding::Services;
pub use settings::Settings;
use site_service::site_files::Site;
use site_service::{
    drain::{CancellationToken, Drain},
    http::HttpServer,
    http_health::HealthServer,
    http_middleware::RequestObserver,
};
use uploads::{UPLOADS_AT_ONCE, Uploads};

/// The running gateway.
pub struct Service {
    server: HttpServer,
    router: axum::Router,
    health: HealthServer,
    readyz: axum::routing::MethodRouter,
    grace: Duration,
}

impl Service {
    /// Reads the site's folder and binds the ports.
    ///
    /// # Errors
    ///
    /// If settings contradict each other, a file is invalid, the folder holds no site, or a port is unavailable.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let mut server = HttpServer::bind("LISTEN", settings.listen).await?;
        let health = HealthServer::bind(settings.health_listen).await?;
        let site = settings.site_dir.as_deref().map(Site::read).transpose()?;
        let (site, observer) = (site.map(Arc::new), Arc::new(RequestObserver::default()));
        // CORS headers depend on the request's origin, so the cache is off if other origins are allowed.
        if let Some(site) = site.clone().filter(|_| settings.cors_origins.is_empty()) {
            let observer = Arc::clone(&observer);
            server = server.answering_at_once(move |request| {
                observer.observe_cached(request, |request| site.cached(request))
            });
        }
        let app = AppState {
            services: Arc::new(Services::new(&settings)?),
            uploads: Arc::new(Uploads::new(UPLOADS_AT_ONCE)),
        };
        let readyz = readiness::readyz(app.services.clone());
        Ok(Self {
            server,
            router: router::router(
                app,
                &settings,
                site.map(Site::router).unwrap_or_default(),
                observer,
            )?,
            health,
            readyz,
            grace: settings.grace,
        })
    }

    /// Port of the site and the API.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Port of the health checks.
    pub fn health_port(&self) -> u16 {
        self.health.port()
    }

    /// Serves until `stop`. Then finishes requests in flight, or asks their clients to retry.
    pub async fn run(self, stop: CancellationToken) {
        let serving = self.server.run(self.router, Drain::new(stop, self.grace));
        self.health.run_beside(serving, self.readyz).await;
    }
}
