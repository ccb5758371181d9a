//! Front ends as in the cluster: one server each, behind a router by path.

use std::path::PathBuf;

use axum::{
    Router,
    body::Body,
    extract::Request,
    http::{StatusCode, Version},
    response::{IntoResponse, Response},
    routing::any,
    serve::ListenerExt,
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use crate::root;

pub(crate) async fn start_router(
    port: u16,
    [gateway, shell, blog, careers]: [u16; 4],
) -> anyhow::Result<AbortOnDropHandle<()>> {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder(TokioExecutor::new()).build(connector);
    let to = |port| {
        let client = client.clone();
        any(move |request| forward(client.clone(), port, request))
    };
    let router = Router::new()
        .route("/api/{*path}", to(gateway))
        .route("/remotes/blog/{*path}", to(blog))
        .route("/remotes/careers/{*path}", to(careers))
        .fallback(to(shell));
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let listener = listener.tap_io(|client| drop(client.set_nodelay(true)));
    let serving = axum::serve(listener, router);
    Ok(AbortOnDropHandle::new(tokio::spawn(async move {
        let _ended = serving.await;
    })))
}

async fn forward(client: Client<HttpConnector, Body>, port: u16, mut request: Request) -> Response {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let Ok(target) = format!("http://127.0.0.1:{port}{path}").parse() else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    *request.uri_mut() = target;
    *request.version_mut() = Version::HTTP_11;
    match client.request(request).await {
        Ok(answer) => answer.map(Body::new),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

/// Built files of a front end.
pub(crate) fn folder_of(part: &str) -> Option<PathBuf> {
    let front_end = part.strip_prefix("web-")?;
    Some(root().join("frontends/dist.split").join(front_end))
}
