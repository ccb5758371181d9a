//! A receiver of webhooks, as a sales tool has one: it believes only what is signed, and shows
//! what came.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{Html, IntoResponse, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::{
    net::{TcpListener, TcpStream},
    time::Instant,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use crate::Keep;

/// A webhook that came.
#[derive(Debug, Clone, Serialize)]
pub struct Received {
    /// The `webhook-id`, empty where there was none.
    pub id: String,
    /// The `webhook-signature`.
    pub signature: String,
    /// Whether one of its signatures is ours.
    pub verified: bool,
    /// What it says it is.
    pub content_type: String,
    /// The body.
    pub body: Value,
    /// All headers as they came.
    #[serde(skip)]
    pub headers: HeaderMap,
    /// The body as it came.
    #[serde(skip)]
    pub raw_body: Bytes,
}

/// What identifies a webhook that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedId {
    /// The `webhook-id`, empty where there was none.
    pub id: String,
    /// The `type` of its body, empty where there was none.
    pub event_type: String,
    /// Whether one of its signatures is ours, whatever time it says: the sender's clock may be wrong.
    pub signed: bool,
    /// When.
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
    /// Of what was answered with a success.
    ids: Mutex<Vec<ReceivedId>>,
    /// Empty where only what identifies them is kept.
    received: Mutex<Vec<Received>>,
    answer: Mutex<(StatusCode, Option<HeaderValue>)>,
}

impl Shared {
    fn ids(&self) -> MutexGuard<'_, Vec<ReceivedId>> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one of its signatures is that of its id, time and body with our secret.
    fn is_signed(&self, received: &Received) -> bool {
        let timestamp = received.headers.get(standardwebhooks::HEADER_WEBHOOK_TIMESTAMP);
        let timestamp = timestamp.and_then(|value| value.to_str().ok()?.parse().ok());
        let webhook = Webhook::new(&self.secret).ok();
        let expected = webhook
            .zip(timestamp)
            .and_then(|(webhook, timestamp)| webhook.sign(&received.id, timestamp, &received.raw_body).ok());
        expected.is_some_and(|expected| received.signature.split(' ').any(|ours| ours == expected))
    }

    fn note(&self, received: Received, status: StatusCode) {
        if status.is_success() {
            self.ids().push(ReceivedId {
                id: received.id.clone(),
                event_type: received.body["type"].as_str().unwrap_or_default().to_owned(),
                signed: self.is_signed(&received),
                at: Instant::now(),
            });
        }
        if self.keep == Keep::Everything {
            self.received().push(received);
        }
    }

    fn received(&self) -> MutexGuard<'_, Vec<Received>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self) -> MutexGuard<'_, (StatusCode, Option<HeaderValue>)> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    /// Starts one at this port, 0 for any, with a secret of its own.
    pub async fn start_at(port: u16) -> anyhow::Result<Self> {
        Self::start_keeping(Keep::Everything, port).await
    }

    /// The same, keeping so much of what comes.
    pub async fn start_keeping(keep: Keep, port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let url = format!("http://{}/hooks", listener.local_addr()?);
        Ok(Self::serve(listener, url, keep))
    }

    /// Starts one on a free port that speaks TLS alone, and shows this certificate.
    pub async fn start_encrypted(certified: TlsAcceptor) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("https://{}/hooks", listener.local_addr()?);
        Ok(Self::serve(
            TlsListener { listener, certified },
            url,
            Keep::Everything,
        ))
    }

    fn serve<L>(listener: L, url: String, keep: Keep) -> Self
    where
        L: axum::serve::Listener,
        L::Addr: std::fmt::Debug,
    {
        let shared = Arc::new(Shared {
            secret: secret(),
            keep,
            ids: Mutex::default(),
            received: Mutex::default(),
            answer: Mutex::new((StatusCode::NO_CONTENT, None)),
        });
        let stop = CancellationToken::new();
        let router = Router::new()
            .route("/", get(page))
            .route("/received", get(list))
            .route("/hooks", post(receive))
            .with_state(shared.clone());
        let serving = axum::serve(listener, router);
        let stopping = stop.clone().cancelled_owned();
        tokio::spawn(async move { serving.with_graceful_shutdown(stopping).await });
        Self {
            url,
            shared,
            _running: stop.drop_guard(),
        }
    }

    /// Where webhooks are sent to.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// The secret that they are signed with.
    pub fn secret(&self) -> &str {
        &self.shared.secret
    }

    /// The endpoint of this name that sends it these events, as the setting `WEBHOOKS` takes it.
    pub fn endpoint(&self, name: &str, events: &[&str]) -> Value {
        json!({ "name": name, "url": self.url(), "secrets": [self.secret()], "events": events })
    }

    /// What it answers from now on.
    pub fn answer(&self, status: StatusCode) {
        *self.shared.answer() = (status, None);
    }

    /// What it answers from now on, and its `Retry-After`.
    pub fn answer_with_retry_after(&self, status: StatusCode, retry_after: &'static str) {
        *self.shared.answer() = (status, Some(HeaderValue::from_static(retry_after)));
    }

    /// All that was taken after the first so many, by what identifies it.
    pub fn taken_after(&self, count: usize) -> Vec<ReceivedId> {
        self.shared.ids().iter().skip(count).cloned().collect()
    }

    /// What came, whatever was answered; nothing where only what identifies it is kept.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received().clone()
    }
}

/// Connections that begin with TLS; whoever does not is left to himself.
struct TlsListener {
    listener: TcpListener,
    certified: TlsAcceptor,
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let (socket, from) = axum::serve::Listener::accept(&mut self.listener).await;
            if let Ok(encrypted) = self.certified.accept(socket).await {
                return (encrypted, from);
            }
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A secret in the form of the specification: 32 random bytes.
pub fn secret() -> String {
    let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    format!("whsec_{}", STANDARD.encode(bytes))
}

async fn receive(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let text = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let (status, retry_after) = shared.answer().clone();
    let verified = Webhook::new(&shared.secret).is_ok_and(|webhook| webhook.verify(&body, &headers).is_ok());
    let received = Received {
        id: text(standardwebhooks::HEADER_WEBHOOK_ID),
        signature: text(standardwebhooks::HEADER_WEBHOOK_SIGNATURE),
        verified,
        content_type: text(header::CONTENT_TYPE.as_str()),
        body: serde_json::from_slice(&body).unwrap_or_default(),
        headers,
        raw_body: body,
    };
    shared.note(received, status);
    // It sends elsewhere, where it sends elsewhere: to itself.
    let mut answer = (status, [(header::LOCATION, "/hooks")]).into_response();
    answer
        .headers_mut()
        .extend(retry_after.map(|pause| (header::RETRY_AFTER, pause)));
    answer
}

async fn list(State(shared): State<Arc<Shared>>) -> Json<Vec<Received>> {
    Json(shared.received().clone())
}

async fn page(State(shared): State<Arc<Shared>>) -> Html<String> {
    let rows: String = shared.received().iter().rev().map(row).collect();
    let rows = if rows.is_empty() {
        "<p>Nothing yet. Send a message with the site’s contact form.</p>".to_owned()
    } else {
        rows
    };
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta http-equiv=refresh content=3>\
         <title>Webhooks</title><style>{STYLE}</style><h1>What your sales tool would get</h1>{rows}"
    ))
}

fn row(received: &Received) -> String {
    let kind = received.body["type"].as_str().unwrap_or("a message");
    let signed = if received.verified {
        "signature verified"
    } else {
        "not signed by us"
    };
    let body = serde_json::to_string_pretty(&received.body).unwrap_or_default();
    format!(
        "<article><h2>{}</h2><p>{signed} · {}</p><pre>{}</pre></article>",
        escaped(kind),
        escaped(&received.id),
        escaped(&body)
    )
}

const STYLE: &str = ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;\
    margin:2rem auto;padding:0 1rem}article{border-top:1px solid #8888;padding:1rem 0}h2{margin:0;font-size:1.1rem}\
    p{margin:.2rem 0;opacity:.75}pre{overflow-x:auto;font-size:.85rem}";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
