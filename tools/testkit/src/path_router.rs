//! Reverse proxy by path, as the cluster's ingress is: sends each request to the part that its path belongs to.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, Version, header,
        uri::{Authority, Scheme},
    },
    response::{IntoResponse, Response},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use site_service::{
    drain::{CancellationToken, Drain},
    http::{HttpServer, Limits},
};
use tokio::{task::JoinHandle, time::timeout};

/// Longer than the longest upload that the gateway waits for.
const PROXY_TIMEOUT: Duration = Duration::from_secs(200);
/// Shorter than our servers keep a connection on which nobody asks for anything.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Headers that are about one connection (RFC 9110, 7.6.1).
const HOP_BY_HOP_HEADERS: [HeaderName; 5] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// A path, and the port of the part that has what lies there and below.
pub type Rule = (&'static str, u16);

/// A router by path on 127.0.0.1.
pub struct PathRouter {
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl PathRouter {
    /// Starts one at this port. Of several rules that fit, the first counts.
    pub async fn start_at(port: u16, rules: Vec<Rule>) -> anyhow::Result<Self> {
        let server = HttpServer::bind("site", (Ipv4Addr::LOCALHOST, port).into(), Limits::default()).await?;
        let mut connector = HttpConnector::new();
        // Small messages leave at once, as on the visitors' side.
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build(connector);
        let router = Router::new()
            .fallback(forward)
            .with_state(Arc::new(Routes { rules, client }));
        let stop = CancellationToken::new();
        let serving = tokio::spawn(server.run(router, Drain::new(stop.clone(), PROXY_TIMEOUT)));
        Ok(Self { stop, serving })
    }

    /// Finishes what is in flight, and ends. Fails only by a panic.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.serving.await.context("the router by path panicked")
    }
}

struct Routes {
    rules: Vec<Rule>,
    client: Client<HttpConnector, Body>,
}

impl Routes {
    /// A path has what equals it and what lies below it, not what merely begins with the same letters.
    fn port_at(&self, path: &str) -> Option<u16> {
        let fits = |prefix: &str| {
            let rest = path.strip_prefix(prefix.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let rule = self.rules.iter().find(|(prefix, _)| fits(prefix));
        rule.map(|(_, port)| *port)
    }
}

async fn forward(
    State(routes): State<Arc<Routes>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    mut request: Request,
) -> Response {
    let Some(port) = routes.port_at(request.uri().path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    match addressed_to(port, request.uri()) {
        Ok(uri) => *request.uri_mut() = uri,
        Err(_) => return StatusCode::BAD_REQUEST.into_response(),
    }
    *request.version_mut() = Version::HTTP_11;
    remove_hop_by_hop_headers(request.headers_mut());
    if let Ok(address) = HeaderValue::from_str(&peer.ip().to_string()) {
        request.headers_mut().append(FORWARDED_FOR, address);
    }
    match timeout(PROXY_TIMEOUT, routes.client.request(request)).await {
        Ok(Ok(mut answer)) => {
            remove_hop_by_hop_headers(answer.headers_mut());
            answer.map(Body::new)
        }
        Ok(Err(_)) => StatusCode::BAD_GATEWAY.into_response(),
        Err(_) => StatusCode::GATEWAY_TIMEOUT.into_response(),
    }
}

fn addressed_to(port: u16, uri: &Uri) -> anyhow::Result<Uri> {
    let mut parts = uri.clone().into_parts();
    parts.scheme = Some(Scheme::HTTP);
    parts.authority = Some(Authority::try_from(format!("127.0.0.1:{port}"))?);
    Ok(Uri::from_parts(parts)?)
}

fn remove_hop_by_hop_headers(headers: &mut HeaderMap) {
    for name in HOP_BY_HOP_HEADERS {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_belongs_to_the_first_rule_that_it_lies_below() {
        let rules = vec![("/api", 1), ("/remotes/blog", 2), ("/", 3)];
        let client = Client::builder(TokioExecutor::new()).build_http();
        let routes = Routes { rules, client };
        for (path, port) in [
            ("/api", 1),
            ("/api/contact", 1),
            ("/apiary", 3),
            ("/remotes/blog/assets/list.js", 2),
            ("/remotes/blogger/list.js", 3),
            ("/", 3),
        ] {
            assert_eq!(routes.port_at(path), Some(port), "{path}");
        }
    }
}
