//! The HTTP client of all endpoints: one request, and what came back.

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

/// How long a receiver may take to answer.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the network may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The most bytes that are read of an answer.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// HTTP client of all endpoints. It follows no redirect.
#[derive(Clone)]
pub struct WebhookClient {
    http: Http,
    private: PrivateAddresses,
}

/// What a receiver answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, empty where nobody wants it or it is too long.
    pub body: Bytes,
}

/// A request that was sent, and what came of it.
#[derive(Debug)]
pub struct Exchange {
    /// What was sent.
    pub request: Request<Bytes>,
    /// What came back, or why nothing did.
    pub answer: Result<Answer, SendingError>,
    /// How long that took.
    pub took: Duration,
}

/// Whether the body of an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerBody {
    /// Its status says all.
    Ignored,
    /// It is read, up to a limit.
    Read,
}

impl WebhookClient {
    /// A client that reaches private addresses, and sends without TLS, only where that is allowed.
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

    /// Whether receivers may be in our own network.
    pub(crate) fn private(&self) -> PrivateAddresses {
        self.private
    }

    /// Sends a request once.
    ///
    /// # Errors
    ///
    /// If the receiver is not reached, or does not answer within [`REQUEST_TIMEOUT`].
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

    /// The same, where somebody looks: the whole answer is read then, and what was sent and answered is added to `seen`.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
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

/// When to come back, where the answer says so: a number of seconds, or a time.
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

/// What went wrong, from the outermost to the innermost reason. None of them names the address.
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
    fn when_to_come_back_is_told_in_seconds_or_as_a_time() {
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

    #[test]
    fn a_reason_names_every_cause() {
        let error = anyhow::anyhow!("connection reset").context("not sent");
        assert_eq!(reason_of(error.as_ref()), "not sent: connection reset");
    }
}
