//! One signed request (Standard Webhooks 1.0.0) and what its answer means.

use std::{net::IpAddr, time::Duration};

use anyhow::Context;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Uri, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use site_broker::{Away, Endpoint, endpoints::EndpointName};
use site_events::event;
use site_service::{settings::ExposeSecret, trace};
use standardwebhooks::{HEADER_WEBHOOK_ID, HEADER_WEBHOOK_SIGNATURE, HEADER_WEBHOOK_TIMESTAMP};
use time::OffsetDateTime;
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

use super::addresses::{FilteringResolver, PrivateAddresses, is_public};
use crate::{RootCertificates, transport::root_certificates::tls_config};

type Http = legacy::Client<HttpsConnector<HttpConnector<FilteringResolver>>, Full<Bytes>>;

/// How long a receiver may take to answer.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the network may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The shortest key that the specification allows.
const MIN_KEY_BYTES: usize = 24;
const PREFIX: &str = "whsec_";

/// Why an endpoint is invalid.
#[derive(Debug, thiserror::Error)]
#[error("endpoint {name}: {reason}")]
pub struct InvalidEndpoint {
    name: EndpointName,
    reason: &'static str,
}

/// Why an event did not reach its receiver. No text names the address, which may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum SendingError {
    /// It wants no events any more.
    #[error("the receiver answered 410 Gone")]
    Gone,
    /// It did not take the event.
    #[error("the receiver answered {0}")]
    Status(u16),
    /// It did not take the event, and said when to come back (RFC 9110, 10.2.3).
    #[error("the receiver answered {status}, to be asked again after {} s", .after.as_secs())]
    Later {
        /// The status of its answer.
        status: u16,
        /// How long to wait.
        after: Duration,
    },
    /// It was not reached: no connection, or none that is encrypted as it must be.
    #[error("the receiver was not reached: {0}")]
    Unreachable(String),
    /// It was reached, and did not answer, or not in time.
    #[error("the receiver did not answer: {0}")]
    NoAnswer(String),
    /// The signature could not be made.
    #[error("the event cannot be signed")]
    Signing,
}

impl SendingError {
    /// Whether trying again is in vain: a refusal that is not about the moment.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Gone | Self::Signing => true,
            Self::Status(status) => (400..500).contains(status) && !matches!(status, 408 | 429),
            Self::Later { .. } | Self::Unreachable(_) | Self::NoAnswer(_) => false,
        }
    }

    /// How the receiver is away, where it is: then the events of its endpoint wait.
    pub fn away(&self) -> Option<Away> {
        let (status, retry_after) = match self {
            Self::Unreachable(_) => return Some(Away::Unreachable),
            Self::NoAnswer(_) => return Some(Away::Failing { retry_after: None }),
            Self::Status(status) => (status, None),
            Self::Later { status, after } => (status, Some(*after)),
            Self::Gone | Self::Signing => return None,
        };
        matches!(status, 429 | 500..=599).then_some(Away::Failing { retry_after })
    }
}

/// What is sent, and what it says it is.
pub struct Body {
    content: Bytes,
    content_type: &'static str,
}

impl Body {
    /// An event as it is stored.
    pub fn cloud_event(content: Bytes) -> Self {
        Self {
            content,
            content_type: event::CONTENT_TYPE,
        }
    }

    /// Any other JSON.
    pub fn json(content: Bytes) -> Self {
        Self {
            content,
            content_type: "application/json",
        }
    }
}

/// HTTP client of all endpoints. It follows no redirect.
pub struct WebhookClient {
    http: Http,
    private: PrivateAddresses,
}

impl WebhookClient {
    /// A client that reaches private addresses, and sends without TLS, only where that is allowed, and trusts these
    /// authorities besides the system's.
    ///
    /// # Errors
    ///
    /// If there is no usable root certificate.
    pub fn new(private: PrivateAddresses, trusted: Option<&RootCertificates>) -> anyhow::Result<Self> {
        let mut tcp = HttpConnector::new_with_resolver(FilteringResolver(private));
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let tls = HttpsConnectorBuilder::new()
            .with_tls_config(tls_config(trusted).context("webhooks cannot be sent")?);
        let connector = match private {
            PrivateAddresses::Allowed => tls.https_or_http(),
            PrivateAddresses::Refused => tls.https_only(),
        };
        let connector = connector.enable_http1().wrap_connector(tcp);
        Ok(Self {
            http: legacy::Client::builder(TokioExecutor::new()).build(connector),
            private,
        })
    }
}

/// Sends to one endpoint.
pub struct WebhookSender {
    http: Http,
    uri: Uri,
    signers: Vec<standardwebhooks::Webhook>,
}

impl WebhookSender {
    /// Checks the endpoint's address and secrets.
    ///
    /// # Errors
    ///
    /// If the address is none, or a private one that is not allowed, or a secret is not as the specification has it.
    pub fn new(endpoint: &Endpoint, client: &WebhookClient) -> Result<Self, InvalidEndpoint> {
        let wrong = |reason| InvalidEndpoint {
            name: endpoint.name.clone(),
            reason,
        };
        let no_address = || wrong("its url is no address such as https://crm.example/hooks");
        let url = Url::parse(endpoint.url.expose_secret()).map_err(|_| no_address())?;
        // What is asked for is read by another grammar, which is stricter: both must mean the same host.
        let uri: Uri = url.as_str().parse().map_err(|_| no_address())?;
        if uri.host() != url.host_str() {
            return Err(no_address());
        }
        if client.private == PrivateAddresses::Refused {
            ensure_public(&url).map_err(wrong)?;
        }
        let signers = endpoint
            .secrets
            .iter()
            .map(|secret| signer(secret.expose_secret()));
        let signers = signers.collect::<Option<Vec<_>>>();
        Ok(Self {
            http: client.http.clone(),
            uri,
            signers: signers.ok_or_else(|| {
                wrong("a secret is whsec_ and at least 24 bytes in base64; one of its is not")
            })?,
        })
    }

    /// Sends it once.
    ///
    /// # Errors
    ///
    /// If the receiver is not reached, does not answer within [`REQUEST_TIMEOUT`], or answers anything but 2xx.
    pub async fn send(&self, event: Uuid, now: OffsetDateTime, body: Body) -> Result<(), SendingError> {
        let mut request = Request::post(&self.uri).header(header::CONTENT_TYPE, body.content_type);
        if !self.signers.is_empty() {
            let timestamp = now.unix_timestamp();
            let signature = self.signature(&event.to_string(), timestamp, &body.content)?;
            request = request
                .header(HEADER_WEBHOOK_ID, event.to_string())
                .header(HEADER_WEBHOOK_TIMESTAMP, timestamp)
                .header(HEADER_WEBHOOK_SIGNATURE, signature);
        }
        let request = request.body(Full::new(body.content));
        let request = request.map_err(|error| SendingError::Unreachable(reason_of(&error)))?;
        let answer = timeout(REQUEST_TIMEOUT, self.http.request(request)).await;
        let answer =
            answer.map_err(|_| SendingError::NoAnswer(format!("nothing within {REQUEST_TIMEOUT:?}")))?;
        let answer = answer.map_err(|error| {
            let reason = reason_of(&error);
            if error.is_connect() {
                SendingError::Unreachable(reason)
            } else {
                SendingError::NoAnswer(reason)
            }
        })?;
        trace::set("http.response.status_code", i64::from(answer.status().as_u16()));
        match Response::status(&answer) {
            status if status.is_success() => Ok(()),
            StatusCode::GONE => Err(SendingError::Gone),
            status => Err(status_error(status.as_u16(), answer.headers(), now)),
        }
    }

    /// Host and port, for spans. The rest of the address may be a secret.
    pub fn address(&self) -> (Option<&str>, Option<u16>) {
        let usual = if self.uri.scheme_str() == Some("http") {
            80
        } else {
            443
        };
        (self.uri.host(), Some(self.uri.port_u16().unwrap_or(usual)))
    }

    /// One signature by each secret, so that the receiver may know either.
    fn signature(&self, id: &str, timestamp: i64, content: &[u8]) -> Result<String, SendingError> {
        let signed = self
            .signers
            .iter()
            .map(|signer| signer.sign(id, timestamp, content));
        let all = signed.collect::<Result<Vec<_>, _>>();
        all.map(|all| all.join(" ")).map_err(|_| SendingError::Signing)
    }
}

/// What an answer means that is no success. Only a refusal for the moment may say when to come back.
fn status_error(status: u16, headers: &HeaderMap, now: OffsetDateTime) -> SendingError {
    let refused = SendingError::Status(status);
    let asked = headers
        .get(header::RETRY_AFTER)
        .and_then(|asked| asked.to_str().ok());
    match asked.and_then(|asked| retry_after(asked, now)) {
        Some(after) if !refused.is_final() => SendingError::Later { status, after },
        _ => refused,
    }
}

/// A number of seconds, or a time.
fn retry_after(asked: &str, now: OffsetDateTime) -> Option<Duration> {
    let seconds = asked.parse().map(Duration::from_secs);
    let until = || {
        httpdate::parse_http_date(asked)
            .ok()?
            .duration_since(now.into())
            .ok()
    };
    seconds.ok().or_else(until)
}

fn ensure_public(url: &Url) -> Result<(), &'static str> {
    if url.scheme() != "https" {
        return Err("its url is not https; WEBHOOKS_ALLOW_PRIVATE allows it");
    }
    // A dot at the end makes no other name of it.
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    if host == "localhost" || host.ends_with(".localhost") {
        return Err("its url is this very host; WEBHOOKS_ALLOW_PRIVATE allows it");
    }
    let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    if literal.is_some_and(|address| !is_public(address)) {
        return Err("its url is a private address; WEBHOOKS_ALLOW_PRIVATE allows it");
    }
    Ok(())
}

fn signer(secret: &str) -> Option<standardwebhooks::Webhook> {
    let encoded = secret.strip_prefix(PREFIX)?;
    // Three bytes in four characters.
    let long_enough = encoded.trim_end_matches('=').len() * 3 / 4 >= MIN_KEY_BYTES;
    standardwebhooks::Webhook::new(secret)
        .ok()
        .filter(|_| long_enough)
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
    use site_broker::Endpoints;
    use time::macros::datetime;

    use super::*;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn refusal(url: &str, secret: &str) -> Option<String> {
        let client = WebhookClient::new(PrivateAddresses::Refused, None).expect("a client");
        let raw = format!(
            r#"[{{"name": "crm", "url": "{url}", "secrets": ["{secret}"], "events": ["contact.received"]}}]"#
        );
        let endpoints = Endpoints::parse(&raw).expect("endpoints");
        let endpoint = endpoints.iter().next().expect("one");
        WebhookSender::new(endpoint, &client)
            .err()
            .map(|error| error.to_string())
    }

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
            assert_eq!(
                retry_after(asked, now),
                seconds.map(Duration::from_secs),
                "{asked}"
            );
        }
    }

    #[test]
    fn a_refusal_for_good_stays_one_whenever_it_asks_for_more() {
        let headers = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static("60"))]);
        let now = datetime!(2026-11-23 12:00 UTC);
        assert!(status_error(400, &headers, now).is_final());
        assert!(matches!(
            status_error(429, &headers, now),
            SendingError::Later { status: 429, .. }
        ));
    }

    #[test]
    fn a_wrong_endpoint_is_named_with_what_is_wrong() {
        assert_eq!(refusal("https://crm.example/hooks", SECRET), None);
        for (url, secret, said) in [
            ("http://crm.example/hooks", SECRET, "not https"),
            ("https://10.0.0.7/hooks", SECRET, "private address"),
            ("https://localhost/hooks", SECRET, "this very host"),
            ("https://crm.localhost/hooks", SECRET, "this very host"),
            ("https://localhost./hooks", SECRET, "this very host"),
            ("https://crm{1}.example/hooks", SECRET, "no address"),
            ("https://[::1]/hooks", SECRET, "private address"),
            ("https://169.254.169.254/latest", SECRET, "private address"),
            ("https://crm.example/hooks", "whsec_c2hvcnQ=", "24 bytes"),
            (
                "https://crm.example/hooks",
                "whsec_dHdlbnR5LXRocmVlIGJ5dGVzIGhlcmU=",
                "24 bytes",
            ),
            (
                "https://crm.example/hooks",
                "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "whsec_",
            ),
        ] {
            let refusal = refusal(url, secret).unwrap_or_default();
            assert!(
                refusal.starts_with("endpoint crm: ") && refusal.contains(said),
                "{url}: {refusal}"
            );
        }
    }

    #[test]
    fn a_reason_names_every_cause() {
        let error = anyhow::anyhow!("connection reset").context("not sent");
        assert_eq!(reason_of(error.as_ref()), "not sent: connection reset");
    }

    #[test]
    fn only_what_may_change_is_tried_again() {
        for (status, is_final) in [
            (301, false),
            (400, true),
            (404, true),
            (408, false),
            (429, false),
            (500, false),
            (503, false),
        ] {
            assert_eq!(SendingError::Status(status).is_final(), is_final, "{status}");
        }
        assert!(SendingError::Gone.is_final());
    }

    #[test]
    fn a_receiver_is_away_only_where_it_says_so_or_nothing() {
        let failing = |retry_after| Some(Away::Failing { retry_after });
        for (status, away) in [
            (400, None),
            (408, None),
            (429, failing(None)),
            (500, failing(None)),
            (503, failing(None)),
        ] {
            assert_eq!(SendingError::Status(status).away(), away, "{status}");
        }
        let after = Duration::from_secs(60);
        let later = |status| SendingError::Later { status, after };
        assert_eq!(later(503).away(), failing(Some(after)));
        assert_eq!(later(302).away(), None);
        let reason = || "reset".to_owned();
        assert_eq!(
            SendingError::Unreachable(reason()).away(),
            Some(Away::Unreachable)
        );
        assert_eq!(SendingError::NoAnswer(reason()).away(), failing(None));
    }
}
