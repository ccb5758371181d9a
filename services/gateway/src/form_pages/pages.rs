//! Page source: reads the site's pages from the gateway's folder or from the server of the shell.

use std::time::Duration;

use anyhow::{Context, ensure};
use axum::{
    Router,
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, StatusCode, Uri, header},
};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::time::timeout;
use tower::ServiceExt;

const PAGE_TIMEOUT: Duration = Duration::from_secs(2);
/// Shorter than the idle timeout of our servers, so that they never close a connection in use.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_PAGE_BYTES: usize = 1024 * 1024;

pub struct Page {
    pub html: String,
    pub content_security_policy: HeaderValue,
}

pub enum PageSource {
    Local(Router),
    Remote(Box<Client<HttpConnector, Body>>, Uri),
}

impl PageSource {
    pub fn remote(address: Uri) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .build_http();
        Self::Remote(Box::new(client), address)
    }

    pub async fn page(&self, path: &str) -> Option<Page> {
        let page = timeout(PAGE_TIMEOUT, self.read(path)).await;
        page.unwrap_or_else(|late| Err(late.into()))
            .inspect_err(|error| {
                tracing::error!(error = format!("{error:#}"), path, "a form's page is unavailable")
            })
            .ok()
    }

    async fn read(&self, path: &str) -> anyhow::Result<Page> {
        let answer = match self {
            Self::Local(site) => {
                let request = Request::get(path).body(Body::empty())?;
                site.clone().oneshot(request).await?
            }
            Self::Remote(client, address) => {
                let mut parts = address.clone().into_parts();
                parts.path_and_query = Some(path.parse()?);
                let answer = client.get(Uri::from_parts(parts)?).await?;
                answer.map(Body::new)
            }
        };
        ensure!(
            answer.status() == StatusCode::OK,
            "the answer is {}",
            answer.status()
        );
        let content_security_policy = answer.headers().get(header::CONTENT_SECURITY_POLICY);
        let content_security_policy = content_security_policy.cloned().context("it has no policy")?;
        let html = to_bytes(answer.into_body(), MAX_PAGE_BYTES).await?;
        Ok(Page {
            html: String::from_utf8(html.into())?,
            content_security_policy,
        })
    }
}
