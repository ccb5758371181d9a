//! Serves one front end's files in the cluster: the shell's pages or a remote's modules.

mod settings;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use site_service::site_files::{Site, security_headers};
use site_service::{
    drain::{CancellationToken, Drain},
    http::HttpServer,
    http_health::{self, HealthServer},
    http_middleware::{self, RequestObserver},
};

pub use settings::Settings;

/// The running server of a front end.
pub struct Service {
    server: HttpServer,
    router: Router,
    health: HealthServer,
    grace: Duration,
}

impl Service {
    /// Reads the front end's folder and binds the ports.
    ///
    /// # Errors
    ///
    /// If the folder holds no site or an address is unavailable.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let site = Site::read(&settings.site_dir)?;
        let (site, observer) = (Arc::new(site), Arc::new(RequestObserver::default()));
        let server = HttpServer::bind("LISTEN", settings.listen).await?;
        let router = router(Arc::clone(&site), Arc::clone(&observer));
        let server = server.answering_at_once(move |request| {
            observer.observe_cached(request, |request| site.cached(request))
        });
        let health = HealthServer::bind(settings.health_listen).await?;
        Ok(Self {
            server,
            router,
            health,
            grace: settings.drain.grace,
        })
    }

    /// Port of the front end's files.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Port of the health checks.
    pub fn health_port(&self) -> u16 {
        self.health.port()
    }

    /// Serves until `stop`, then drains.
    pub async fn run(self, stop: CancellationToken) {
        let serving = self.server.run(self.router, Drain::new(stop, self.grace));
        // A running server is always ready, because `build` has read the folder.
        let readyz = get(|| async { http_health::status("ready") });
        self.health.run_beside(serving, readyz).await;
    }
}

fn router(site: Arc<Site>, observer: Arc<RequestObserver>) -> Router {
    site.router().layer(from_fn_with_state(observer, answer))
}

async fn answer(State(observer): State<Arc<RequestObserver>>, request: Request, next: Next) -> Response {
    let answer = async |request| {
        let mut answer = if http_middleware::names_one_host(&request) {
            http_middleware::guarded(request, next).await
        } else {
            StatusCode::BAD_REQUEST.into_response()
        };
        security_headers::add(answer.headers_mut());
        answer
    };
    observer.observe(request, answer).await
}
