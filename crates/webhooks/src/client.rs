//! HTTP client that all endpoints share.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use site_service::error_line;
use time::OffsetDateTime;
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

use crate::{
    addresses::{FilteringResolver, PrivateAddresses, filtering_resolver},
    sending_error::SendingError,
};

type Http = legacy::Client<HttpsConnector<HttpConnector<FilteringResolver>>, Full<Bytes>>;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// HTTP client of all endpoints. It follows no redirects.
#[derive(Clone)]
pub struct WebhookClient {
    http: Http,
    private: PrivateAddresses,
}

/// A receiver's answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Status code.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, empty if it exceeds the size limit.
    pub body: Bytes,
}

/// A request and its answer, for callers that show both.
#[derive(Debug)]
pub struct Exchange {
    /// The request.
    pub request: Request<Bytes>,
    /// The answer, or the error.
    pub answer: Result<Answer, SendingError>,
    /// Duration of the exchange.
    pub took: Duration,
}

impl WebhookClient {
    /// `private` decides whether private addresses and requests without TLS are allowed.
    pub fn new(private: PrivateAddresses, tls: ClientConfig) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(filtering_resolver(private));
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls);
        let connector = match private {
            PrivateAddresses::Allowed => tls.https_or_http(),
            PrivateAddresses::Refused => tls.https_only(),
        };
        let connector = connector.enable_http1().wrap_connector(tcp);
        Self {
            http: legacy::Client::builder(TokioExecutor::new()).build(connector),
            private,
        }
    }

    pub(crate) fn private(&self) -> PrivateAddresses {
        self.private
    }

    pub(crate) async fn send(&self, request: Request<Bytes>) -> Result<Answer, SendingError> {
        let asked = self.http.request(request.map(Full::new));
        let answering = async {
            let answer = asked.await.map_err(|error| not_answered(&error))?;
            let (head, body) = answer.into_parts();
            let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
            Ok(Answer {
                status: head.status,
                headers: head.headers,
                body: body.map(http_body_util::Collected::to_bytes).unwrap_or_default(),
            })
        };
        let answered = timeout(REQUEST_TIMEOUT, answering).await;
        answered.map_err(|_| SendingError::NoAnswer(format!("nothing within {REQUEST_TIMEOUT:?}")))?
    }

    /// Sends a request and adds the exchange to `seen`, if given.
    pub(crate) async fn send_seen(
        &self,
        request: Request<Bytes>,
        seen: Option<&mut Vec<Exchange>>,
    ) -> Result<Answer, SendingError> {
        let Some(seen) = seen else {
            return self.send(request).await;
        };
        let started = Instant::now();
        let answer = self.send(request.clone()).await;
        seen.push(Exchange {
            request,
            answer: answer.clone(),
            took: started.elapsed(),
        });
        answer
    }
}

fn not_answered(error: &legacy::Error) -> SendingError {
    // The text of the error does not contain the endpoint's address, which may be a secret.
    let reason = error_line(error);
    if error.is_connect() {
        SendingError::Unreachable(reason)
    } else {
        SendingError::NoAnswer(reason)
    }
}

/// Reads `Retry-After`, which is a number of seconds or a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: OffsetDateTime) -> Option<Duration> {
    let asked = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let seconds = asked.parse().map(Duration::from_secs);
    let until = || {
        httpdate::parse_http_date(asked)
            .ok()?
            .duration_since(now.into())
            .ok()
    };
    seconds.ok().or_else(until)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_time() {
        let now = datetime!(2026-11-23 12:00 UTC);
        for (asked, seconds) in [
            ("120", Some(120)),
            ("Mon, 23 Nov 2026 12:01:30 GMT", Some(90)),
            ("Mon, 23 Nov 2026 11:59:00 GMT", None),
            ("soon", None),
            ("-5", None),
        ] {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static(asked))]);
            assert_eq!(
                retry_after(&headers, now),
                seconds.map(Duration::from_secs),
                "{asked}"
            );
        }
    }
}
