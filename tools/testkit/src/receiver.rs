//! Receiver of webhooks, such as a sales tool has: it verifies signatures, and shows what came.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::Keep;

/// A webhook that came.
#[derive(Debug, Clone, Serialize)]
pub struct Received {
    /// The `webhook-id`, empty if there was none.
    pub id: String,
    /// The `webhook-signature`.
    pub signature: String,
    /// Whether one of its signatures is ours.
    pub verified: bool,
    /// The `content-type`.
    pub content_type: String,
    /// The body.
    pub body: Value,
    /// All headers.
    #[serde(skip)]
    pub headers: HeaderMap,
    /// The body as it came.
    #[serde(skip)]
    pub raw_body: Bytes,
}

/// Identity of a webhook that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedId {
    /// The `webhook-id`, empty if there was none.
    pub id: String,
    /// The `type` of its body, empty if there was none.
    pub event_type: String,
    /// Whether one of its signatures is ours, whatever its time: the sender's clock may be wrong.
    pub signed: bool,
    /// When it came.
    pub at: Instant,
}

/// A receiver on 127.0.0.1.
pub struct Receiver {
    url: String,
    shared: Arc<Shared>,
    _running: DropGuard,
}

struct Shared {
    secret: String,
    keep: Keep,
    records: Mutex<Records>,
}

struct Records {
    accepted: Vec<ReceivedId>,
    received: Vec<Received>,
    answer: StatusCode,
    retry_after: Option<&'static str>,
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    /// Starts one at this port, or at a free one for 0.
    pub async fn start_at(port: u16) -> anyhow::Result<Self> {
        Self::start_keeping(Keep::Everything, port).await
    }

    /// The same, which keeps this of the webhooks.
    pub(crate) async fn start_keeping(keep: Keep, port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let url = format!("http://{}/hooks", listener.local_addr()?);
        let shared = Arc::new(Shared {
            secret: secret(),
            keep,
            records: Mutex::new(Records {
                accepted: Vec::new(),
                received: Vec::new(),
                answer: StatusCode::NO_CONTENT,
                retry_after: None,
            }),
        });
        let stop = CancellationToken::new();
        let router = Router::new()
            .route("/", get(list))
            .route("/hooks", post(receive))
            .with_state(shared.clone());
        let serving = axum::serve(listener, router);
        let stopping = stop.clone().cancelled_owned();
        tokio::spawn(async move { serving.with_graceful_shutdown(stopping).await });
        Ok(Self {
            url,
            shared,
            _running: stop.drop_guard(),
        })
    }

    /// Where webhooks are sent to.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The secret that they are signed with.
    pub fn secret(&self) -> &str {
        &self.shared.secret
    }

    /// An endpoint of the setting `WEBHOOKS`, with this name, for these events.
    pub fn endpoint(&self, name: &str, events: &[&str]) -> Value {
        json!({ "name": name, "url": self.url(), "secrets": [self.secret()], "events": events })
    }

    /// Sets the status of its answers.
    pub fn answer(&self, status: StatusCode) {
        let mut records = self.shared.records();
        (records.answer, records.retry_after) = (status, None);
    }

    /// Sets the status of its answers, and their `Retry-After`.
    pub fn answer_with_retry_after(&self, status: StatusCode, retry_after: &'static str) {
        let mut records = self.shared.records();
        (records.answer, records.retry_after) = (status, Some(retry_after));
    }

    /// All webhooks that were accepted after the first so many.
    pub fn taken_after(&self, count: usize) -> Vec<ReceivedId> {
        self.shared
            .records()
            .accepted
            .iter()
            .skip(count)
            .cloned()
            .collect()
    }

    /// All webhooks, accepted or not; none with [`Keep::Identity`].
    pub fn received(&self) -> Vec<Received> {
        self.shared.records().received.clone()
    }
}

/// A new secret in the form of the specification.
pub fn secret() -> String {
    let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    format!("whsec_{}", STANDARD.encode(bytes))
}

async fn receive(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let text = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (id, signature) = (
        text(standardwebhooks::HEADER_WEBHOOK_ID),
        text(standardwebhooks::HEADER_WEBHOOK_SIGNATURE),
    );
    let timestamp = text(standardwebhooks::HEADER_WEBHOOK_TIMESTAMP).parse().ok();
    let expected = timestamp.and_then(|timestamp| {
        let webhook = Webhook::new(&shared.secret).ok()?;
        webhook.sign(&id, timestamp, &body).ok()
    });
    let verified = expected.is_some_and(|expected| signature.split(' ').any(|ours| ours == expected));
    let received = Received {
        id,
        signature,
        verified,
        content_type: text(header::CONTENT_TYPE.as_str()),
        body: serde_json::from_slice(&body).unwrap_or_default(),
        headers,
        raw_body: body,
    };
    let mut records = shared.records();
    let (status, retry_after) = (records.answer, records.retry_after);
    if status.is_success() {
        records.accepted.push(ReceivedId {
            id: received.id.clone(),
            event_type: received.body["type"].as_str().unwrap_or_default().to_owned(),
            signed: verified,
            at: Instant::now(),
        });
    }
    if shared.keep == Keep::Everything {
        records.received.push(received);
    }
    // A redirection leads to itself.
    let mut answer = (status, [(header::LOCATION, "/hooks")]).into_response();
    let retry_after = retry_after.map(|pause| (header::RETRY_AFTER, HeaderValue::from_static(pause)));
    answer.headers_mut().extend(retry_after);
    answer
}

async fn list(State(shared): State<Arc<Shared>>) -> Json<Vec<Received>> {
    Json(shared.records().received.clone())
}
