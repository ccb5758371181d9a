//! Whether the pages and pictures that an issue names are there. A place that does not answer, or says neither, is no fault: whoever
//! writes an issue may be where it is not reached.

use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use http::{Request, StatusCode, header};
use http_body_util::Empty;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::{client::legacy, rt::TokioExecutor};
use site_service::tls::public_client_config;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::faults::{Fault, Target};

/// How long all of them are asked.
const DEADLINE: Duration = Duration::from_secs(15);
/// How many are asked at once.
const AT_ONCE: usize = 8;
/// What some sites answer no request without.
const AGENT: &str = "Mozilla/5.0 (compatible; sitectl)";

/// Asks for each. Gives those that are not there, and those of which nothing was learned.
///
/// # Errors
///
/// If TLS cannot be set up, or an address is none of HTTP.
pub async fn look(targets: Vec<Target>) -> anyhow::Result<(Vec<Fault>, Vec<Url>)> {
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(public_client_config(None)?)
        .https_or_http()
        .enable_http1()
        .build();
    let client = legacy::Client::builder(TokioExecutor::new()).build(connector);
    let deadline = Instant::now() + DEADLINE;
    let asked = stream::iter(targets).map(async |target| {
        let request = Request::get(target.url.as_str()).header(header::USER_AGENT, AGENT);
        let request = request.body(Empty::<&[u8]>::new())?;
        let answer = timeout_at(deadline, client.request(request)).await;
        let status = answer.ok().and_then(Result::ok).map(|answer| answer.status());
        anyhow::Ok((target, status))
    });
    let (mut missing, mut unknown) = (Vec::new(), Vec::new());
    let mut asked = asked.buffered(AT_ONCE);
    while let Some(answered) = asked.next().await {
        let (Target { url, mut fault }, status) = answered?;
        match status {
            Some(status @ (StatusCode::NOT_FOUND | StatusCode::GONE)) => {
                fault.what.push_str(&format!(": it answers {status}"));
                missing.push(fault);
            }
            Some(status) if status.is_success() || status.is_redirection() => {}
            _ => unknown.push(url),
        }
    }
    Ok((missing, unknown))
}
