//! A stand-in for a vendor's HTTP API: it answers as a test's script says, and shows what it was asked.

use std::{
    convert::Infallible,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::http::{HeaderMap, Method, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpListener, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its method.
    pub method: Method,
    /// Its path, without the query.
    pub path: String,
    /// Its query.
    pub query: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
    /// When.
    pub at: Instant,
}

impl Asked {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header's text, empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    }
}

/// What a request is answered.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A status and a body.
    Answer(u16, Value),
    /// The same, with the seconds of `Retry-After`.
    Later(u16, &'static str, Value),
    /// A status and a text.
    Text(u16, String),
    /// The connection ends without a word.
    Close,
    /// Nothing at all.
    Silence,
}

type Script = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A stand-in on 127.0.0.1.
pub struct HttpStandIn {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    _running: DropGuard,
}

impl HttpStandIn {
    /// Starts one that answers so.
    pub async fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let (asked, stop) = (Arc::<Mutex<Vec<Asked>>>::default(), CancellationToken::new());
        let script: Arc<Script> = Arc::new(script);
        let serving = serve(listener, script, asked.clone());
        tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        Ok(Self {
            url,
            asked,
            _running: stop.drop_guard(),
        })
    }

    /// Where it is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// All that it was asked.
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.asked).clone()
    }
}

async fn serve(listener: TcpListener, script: Arc<Script>, asked: Arc<Mutex<Vec<Asked>>>) {
    while let Ok((socket, _)) = listener.accept().await {
        let (script, asked) = (script.clone(), asked.clone());
        let service = service_fn(move |request| answer(request, script.clone(), asked.clone()));
        let serving = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
        // What a client makes of a connection that ends is its own affair.
        tokio::spawn(async move { drop(serving.await) });
    }
}

async fn answer(
    request: Request<Incoming>,
    script: Arc<Script>,
    all: Arc<Mutex<Vec<Asked>>>,
) -> io::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    let asked = Asked {
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body,
        at: Instant::now(),
    };
    let reply = script(&asked);
    lock(&all).push(asked);
    let (status, retry_after, content) = match reply {
        Reply::Answer(status, body) => (status, None, content_of(&body)),
        Reply::Later(status, after, body) => (status, Some(after), content_of(&body)),
        Reply::Text(status, text) => (status, None, text.into()),
        Reply::Close => return Err(io::ErrorKind::ConnectionReset.into()),
        Reply::Silence => {
            let never: Infallible = std::future::pending().await;
            match never {}
        }
    };
    let status = StatusCode::from_u16(status).map_err(io::Error::other)?;
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    if let Some(after) = retry_after {
        response = response.header("retry-after", after);
    }
    response.body(Full::new(content)).map_err(io::Error::other)
}

fn content_of(body: &Value) -> Bytes {
    match body {
        Value::Null => Bytes::new(),
        body => body.to_string().into(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
