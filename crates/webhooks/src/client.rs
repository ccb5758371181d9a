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
use time::OffsetDateTime;
use tokio::time::timeout;
use tokio_rustls::rustls::ClientConfig;

use crate::{
    addresses::{FilteringResolver, PrivateAddresses},
    sending_error::SendingError,
};

type Http = legacy::Client<HttpsConnector<HttpConnector<FilteringResolver>>, Full<Bytes>>;

/// Timeout of a request.
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
    /// Body; empty if ignored or too long.
    pub body: Bytes,
}

/// A request and its result, for callers that show both.
#[derive(Debug)]
pub struct Exchange {
    /// The request.
    pub request: Request<Bytes>,
    /// The answer, or the error.
    pub answer: Result<Answer, SendingError>,
    /// Duration of the exchange.
    pub took: Duration,
}

/// What to do with the body of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerBody {
    /// The status is enough.
    Ignored,
    /// Read, unless it is longer than [`MAX_ANSWER_BYTES`].
    Read,
}

impl WebhookClient {
    /// Private addresses, and requests without TLS, work only if allowed.
    pub fn new(private: PrivateAddresses, tls: ClientConfig) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(FilteringResolver(private));
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

    pub(crate) async fn send(
        &self,
        request: Request<Bytes>,
        body: AnswerBody,
    ) -> Result<Answer, SendingError> {
        let asked = self.http.request(request.map(Full::new));
        let answering = async {
            let answer = asked.await.map_err(|error| not_answered(&error))?;
            let (head, content) = answer.into_parts();
            let content = match body {
                AnswerBody::Ignored => Bytes::new(),
                AnswerBody::Read => {
                    let read = Limited::new(content, MAX_ANSWER_BYTES).collect().await;
                    read.map(http_body_util::Collected::to_bytes).unwrap_or_default()
                }
            };
            Ok(Answer {
                status: head.status,
                headers: head.headers,
                body: content,
            })
        };
        let answered = timeout(REQUEST_TIMEOUT, answering).await;
        answered.map_err(|_| SendingError::NoAnswer(format!("nothing within {REQUEST_TIMEOUT:?}")))?
    }

    /// Adds the exchange to `seen`, if given, and then always reads the body.
    pub(crate) async fn send_seen(
        &self,
        request: Request<Bytes>,
        body: AnswerBody,
        seen: Option<&mut Vec<Exchange>>,
    ) -> Result<Answer, SendingError> {
        let Some(seen) = seen else {
            return self.send(request, body).await;
        };
        let started = Instant::now();
        let answer = self.send(request.clone(), AnswerBody::Read).await;
        seen.push(Exchange {
            request,
            answer: answer.clone(),
            took: started.elapsed(),
        });
        answer
    }
}

fn not_answered(error: &legacy::Error) -> SendingError {
    let reason = reason_of(error);
    if error.is_connect() {
        SendingError::Unreachable(reason)
    } else {
        SendingError::NoAnswer(reason)
    }
}

/// `Retry-After`: a number of seconds, or a time.
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

/// The chain of causes. None of them names the address.
fn reason_of(error: &dyn std::error::Error) -> String {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        reason = format!("{reason}: {inner}");
        source = inner.source();
    }
    reason
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
