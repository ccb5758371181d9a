//! Webhook receiver that verifies signatures.

use std::{
    net::TcpListener,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::Context;
use axum::http::{HeaderMap, StatusCode};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::time::Instant;
use uuid::Uuid;
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

use crate::http_stand_in::{body_of, header_of};

/// Received webhook.
#[derive(Debug, Clone, Serialize)]
pub struct Received {
    /// `webhook-id`, empty if missing.
    pub id: String,
    /// Whether a signature is valid. The signed time is ignored, because the sender's clock may be wrong.
    pub verified: bool,
    /// Whether the answer was a success.
    pub accepted: bool,
    /// Body as JSON.
    pub body: Value,
    /// All headers.
    #[serde(skip)]
    pub headers: HeaderMap,
    /// Body as received.
    #[serde(skip)]
    pub raw_body: Vec<u8>,
    /// Time of arrival.
    #[serde(skip)]
    pub at: Instant,
}

/// Webhook receiver.
pub struct Receiver {
    /// Signing secret.
    pub secret: String,
    records: Arc<Mutex<Records>>,
    server: MockServer,
}

#[derive(Default)]
struct Records {
    received: Vec<Received>,
    status: StatusCode,
    retry_after: Option<&'static str>,
}

impl Receiver {
    /// Starts a receiver on this port unless it is 0.
    pub async fn start_at(port: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).context("the port of webhooks")?;
        let server = MockServer::builder()
            .listener(listener)
            .disable_request_recording();
        let receiver = Self {
            secret: secret(),
            records: Arc::default(),
            server: server.start().await,
        };
        receiver.answer(StatusCode::NO_CONTENT);
        let (records, webhook) = (receiver.records.clone(), Webhook::new(&receiver.secret)?);
        let receiving = Mock::given(method("POST"))
            .respond_with(move |request: &Request| lock(&records).receive(&webhook, request));
        receiving.mount(&receiver.server).await;
        let records = receiver.records.clone();
        let showing = Mock::given(path("/")).respond_with(move |_: &Request| {
            ResponseTemplate::new(200).set_body_json(&lock(&records).received)
        });
        showing.mount(&receiver.server).await;
        Ok(receiver)
    }

    /// URL for webhooks.
    pub fn url(&self) -> String {
        format!("{}/hooks", self.server.uri())
    }

    /// Endpoint for the setting `WEBHOOKS`.
    pub fn endpoint(&self, name: &str, events: &[&str]) -> Value {
        json!({ "name": name, "url": self.url(), "secrets": [self.secret], "events": events })
    }

    /// Sets the status of answers.
    pub fn answer(&self, status: StatusCode) {
        let mut records = lock(&self.records);
        (records.status, records.retry_after) = (status, None);
    }

    /// Sets the status of answers, and `Retry-After`.
    pub fn answer_with_retry_after(&self, status: StatusCode, retry_after: &'static str) {
        let mut records = lock(&self.records);
        (records.status, records.retry_after) = (status, Some(retry_after));
    }

    /// Webhooks, rejected ones included.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.records).received.clone()
    }

    /// Accepted webhooks.
    pub fn accepted(&self) -> Vec<Received> {
        let mut webhooks = self.received();
        webhooks.retain(|webhook| webhook.accepted);
        webhooks
    }
}

impl Records {
    fn receive(&mut self, webhook: &Webhook, request: &Request) -> ResponseTemplate {
        let text = |name: &str| header_of(request, name).to_owned();
        let id = text(standardwebhooks::HEADER_WEBHOOK_ID);
        let signature = text(standardwebhooks::HEADER_WEBHOOK_SIGNATURE);
        let timestamp = text(standardwebhooks::HEADER_WEBHOOK_TIMESTAMP).parse();
        let expected = webhook
            .sign(&id, timestamp.unwrap_or_default(), &request.body)
            .ok();
        self.received.push(Received {
            verified: signature.split(' ').any(|one| Some(one) == expected.as_deref()),
            id,
            accepted: self.status.is_success(),
            body: body_of(request),
            headers: request.headers.clone(),
            raw_body: request.body.clone(),
            at: Instant::now(),
        });
        // Redirects point back to the receiver.
        let answer = ResponseTemplate::new(self.status).insert_header("location", "/hooks");
        match self.retry_after {
            Some(pause) => answer.insert_header("retry-after", pause),
            None => answer,
        }
    }
}

/// New secret in the format of Standard Webhooks.
pub fn secret() -> String {
    let bytes = [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat();
    format!("whsec_{}", STANDARD.encode(bytes))
}

fn lock(records: &Mutex<Records>) -> MutexGuard<'_, Records> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}
