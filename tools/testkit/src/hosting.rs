//! Front ends hosted as in the cluster: a server for each, behind a router by path.

use std::{path::PathBuf, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{StatusCode, Uri, Version},
    response::{IntoResponse, Response},
    serve::ListenerExt,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::root;

/// A path, and the port of the server that has this path and everything below it.
type Rule = (&'static str, u16);

/// Starts the router at this port, until the guard is dropped.
pub(crate) async fn start_router(
    port: u16,
    [gateway, shell, blog, careers]: [u16; 4],
) -> anyhow::Result<DropGuard> {
    let rules: [Rule; 4] = [
        ("/api", gateway),
        ("/remotes/blog", blog),
        ("/remotes/careers", careers),
        ("/", shell),
    ];
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|client| drop(client.set_nodelay(true)));
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let routes = Arc::new(Routes { rules, client });
    let serving = axum::serve(listener, Router::new().fallback(forward).with_state(routes));
    let stop = CancellationToken::new();
    tokio::spawn(
        stop.clone()
            .run_until_cancelled_owned(async move { serving.await }),
    );
    Ok(stop.drop_guard())
}

struct Routes {
    rules: [Rule; 4],
    client: Client<HttpConnector, Body>,
}

impl Routes {
    /// Address of a request at the server that its path belongs to. The first rule that matches counts.
    fn target(&self, uri: &Uri) -> Option<Uri> {
        let matches = |prefix: &str| {
            let rest = uri.path().strip_prefix(prefix.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let (_, port) = self.rules.iter().find(|(prefix, _)| matches(prefix))?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        format!("http://127.0.0.1:{port}{path}").parse().ok()
    }
}

async fn forward(State(routes): State<Arc<Routes>>, mut request: Request) -> Response {
    let Some(target) = routes.target(request.uri()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    *request.uri_mut() = target;
    *request.version_mut() = Version::HTTP_11;
    match routes.client.request(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// The folder that a front end's server serves; none for other parts.
pub(crate) fn folder_of(part: &str) -> Option<PathBuf> {
    let front_end = part.strip_prefix("web-")?;
    Some(root().join("frontends/dist.split").join(front_end))
}
