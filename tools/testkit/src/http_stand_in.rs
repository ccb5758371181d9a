//! Scripted stand-in for a vendor's HTTP API.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
pub use wiremock::Request;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

/// JSON body of a request.
pub fn body_of(request: &Request) -> Value {
    request.body_json().unwrap_or_default()
}

/// Header of a request, empty if missing.
pub fn header_of<'a>(request: &'a Request, name: &str) -> &'a str {
    let value = request.headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

/// Scripted reply.
#[derive(Debug, Clone, Default)]
pub enum Reply {
    /// Status and body.
    Answer(u16, Value),
    /// Status, `Retry-After` in seconds, and body.
    Later(u16, &'static str, Value),
    /// Status and text.
    Text(u16, String),
    /// Connection closed without a reply.
    #[default]
    Close,
}

impl Reply {
    fn template(self) -> ResponseTemplate {
        let json = |status, body: Value| match body {
            Value::Null => ResponseTemplate::new(status),
            body => ResponseTemplate::new(status).set_body_json(body),
        };
        match self {
            Self::Answer(status, body) => json(status, body),
            Self::Later(status, after, body) => json(status, body).insert_header("retry-after", after),
            Self::Text(status, text) => ResponseTemplate::new(status).set_body_string(text),
            // Never sent: another mock closes the connection.
            Self::Close => ResponseTemplate::new(503),
        }
    }
}

/// Stand-in that records requests.
pub struct HttpStandIn {
    /// URL.
    pub url: String,
    asked: Arc<Mutex<Vec<Request>>>,
    _server: MockServer,
}

impl HttpStandIn {
    /// Starts a stand-in.
    pub async fn start(script: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> anyhow::Result<Self> {
        let server = MockServer::builder().disable_request_recording().start().await;
        let asked = Arc::<Mutex<Vec<Request>>>::default();
        // wiremock handles one request at a time, so both mocks see the current request's reply.
        let reply = Arc::<Mutex<Reply>>::default();
        let (records, scripted) = (asked.clone(), reply.clone());
        let closes = move |request: &Request| {
            let reply = script(request);
            lock(&records).push(request.clone());
            let closes = matches!(reply, Reply::Close);
            *lock(&scripted) = reply;
            closes
        };
        let closing = Mock::given(closes)
            .respond_with_err(|_: &Request| io::Error::from(io::ErrorKind::ConnectionReset));
        closing.mount(&server).await;
        let answering = Mock::given(any()).respond_with(move |_: &Request| lock(&reply).clone().template());
        answering.mount(&server).await;
        Ok(Self {
            url: server.uri(),
            asked,
            _server: server,
        })
    }

    /// Recorded requests.
    pub fn asked(&self) -> Vec<Request> {
        lock(&self.asked).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
