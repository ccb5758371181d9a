//! Whether the pages and pictures that an issue names are there. A place that does not answer, or says neither, is no fault: whoever
//! writes an issue may be where it is not reached.

use std::{io, time::Duration};

use futures_util::{StreamExt as _, stream};
use http::{Request, Response, StatusCode, header};
use http_body_util::Empty;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use site_service::tls::public_client_config;
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{
    faults::{Fault, Target, TargetKind},
    links::is_local,
};

/// How long all of them are asked.
const DEADLINE: Duration = Duration::from_secs(15);
/// How many are asked at once.
const AT_ONCE: usize = 8;
/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;
/// What some sites answer no request without.
const AGENT: &str = "Mozilla/5.0 (compatible; sitectl)";

type Client = legacy::Client<HttpsConnector<HttpConnector>, Empty<&'static [u8]>>;

/// What was learned of them.
#[derive(Default)]
pub struct Reachability {
    /// Those that are not there.
    pub faults: Vec<Fault>,
    /// Those of which nothing was learned.
    pub unknown: Vec<Url>,
}

enum Answer {
    There,
    Missing(String),
    Unknown,
}

/// Asks for each.
///
/// # Errors
///
/// If TLS cannot be set up.
pub async fn look(targets: Vec<Target>) -> anyhow::Result<Reachability> {
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(public_client_config(None)?)
        .https_or_http()
        .enable_http1()
        .build();
    let client: Client = legacy::Client::builder(TokioExecutor::new()).build(connector);
    let deadline = Instant::now() + DEADLINE;
    let asked = stream::iter(targets).map(async |target| {
        let answer = timeout_at(deadline, ask(&client, &target)).await;
        (target, answer.unwrap_or(Answer::Unknown))
    });
    let answered: Vec<(Target, Answer)> = asked.buffered(AT_ONCE).collect().await;
    let mut learned = Reachability::default();
    for (Target { line, url, kind, .. }, answer) in answered {
        let what = match kind {
            TargetKind::Page => format!("the link {url} leads nowhere"),
            TargetKind::Picture => format!("the picture {url} is missing"),
        };
        match answer {
            Answer::There => {}
            Answer::Missing(why) => learned.faults.push(Fault {
                line,
                what: format!("{what}: {why}"),
            }),
            Answer::Unknown => learned.unknown.push(url),
        }
    }
    Ok(learned)
}

async fn ask(client: &Client, target: &Target) -> Answer {
    let mut url = target.url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let request = Request::get(url.as_str())
            .header(header::USER_AGENT, AGENT)
            .body(Empty::new());
        let Ok(request) = request else {
            return Answer::Missing("it is no address".to_owned());
        };
        let answer = match client.request(request).await {
            Ok(answer) => answer,
            // Elsewhere a firewall may have refused it, and the site need not run where it is written.
            Err(error) if !target.is_ours && is_local(&url) && is_refused(&error) => {
                return Answer::Missing("nothing listens there".to_owned());
            }
            Err(_) => return Answer::Unknown,
        };
        match redirect(&url, &answer) {
            Some(next) => url = next,
            None => return judge(&answer, target.kind),
        }
    }
    Answer::Unknown
}

fn redirect<B>(from: &Url, answer: &Response<B>) -> Option<Url> {
    let to = answer.headers().get(header::LOCATION)?.to_str().ok()?;
    let is_redirect = answer.status().is_redirection();
    is_redirect.then(|| from.join(to).ok()).flatten()
}

fn judge<B>(answer: &Response<B>, kind: TargetKind) -> Answer {
    let status = answer.status();
    let content_type = answer.headers().get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    match (status, kind) {
        (StatusCode::NOT_FOUND | StatusCode::GONE, _) => Answer::Missing(format!("it answers {status}")),
        (_, TargetKind::Picture) if status.is_success() && !content_type.starts_with("image/") => {
            Answer::Missing("it is no picture".to_owned())
        }
        _ if status.is_success() => Answer::There,
        _ => Answer::Unknown,
    }
}

fn is_refused(error: &legacy::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let io = cause.downcast_ref::<io::Error>();
        if io.is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused) {
            return true;
        }
        source = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_is_a_fault() -> anyhow::Result<()> {
        for (status, content_type, kind, is_missing) in [
            (404, "text/html", TargetKind::Page, true),
            (410, "text/html", TargetKind::Page, true),
            (404, "text/html", TargetKind::Picture, true),
            (200, "text/html", TargetKind::Picture, true),
            (200, "text/html", TargetKind::Page, false),
            (200, "image/png", TargetKind::Picture, false),
            // Robots are often answered so.
            (403, "text/html", TargetKind::Page, false),
            (429, "text/html", TargetKind::Page, false),
            (503, "text/html", TargetKind::Picture, false),
        ] {
            let answer = Response::builder()
                .status(status)
                .header(header::CONTENT_TYPE, content_type);
            let judged = judge(&answer.body(())?, kind);
            assert_eq!(
                matches!(judged, Answer::Missing(_)),
                is_missing,
                "{status} {content_type}"
            );
        }
        Ok(())
    }
}
