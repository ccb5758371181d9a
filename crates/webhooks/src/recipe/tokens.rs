//! Access tokens (OAuth 2.0): asked for by one form, kept until they expire or the receiver does not know them any more.
//!
//! A client of the protocol (the crate `oauth2`) would bring another HTTP interface, for one form and two fields of its answer.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::{
    client::{AnswerBody, WebhookClient},
    sending_error::{ErrorCode, SendingError},
};

/// How long a token is used whose lifetime nobody told.
const UNTOLD_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// So long before its end a token is used no more.
const MARGIN: Duration = Duration::from_secs(60);

/// The access token of one endpoint.
#[derive(Default)]
pub struct Tokens(Mutex<Option<Token>>);

struct Token {
    value: String,
    until: Instant,
}

impl Tokens {
    /// The token, asked for where there is none. Whoever comes meanwhile waits for the same answer.
    ///
    /// # Errors
    ///
    /// If the authorization server gives none.
    pub async fn get(&self, client: &WebhookClient, request: Request<Bytes>) -> Result<String, SendingError> {
        let mut token = self.0.lock().await;
        if let Some(token) = token.as_ref().filter(|token| Instant::now() < token.until) {
            return Ok(token.value.clone());
        }
        let fresh = ask(client, request).await?;
        let value = fresh.value.clone();
        *token = Some(fresh);
        Ok(value)
    }

    /// Forgets a token that the receiver does not know, unless there is another by now.
    pub async fn forget(&self, value: &str) {
        let mut token = self.0.lock().await;
        token.take_if(|token| token.value == value);
    }
}

async fn ask(client: &WebhookClient, request: Request<Bytes>) -> Result<Token, SendingError> {
    let answer = client.send(request, AnswerBody::Read).await;
    let answer = answer.map_err(|error| SendingError::NoToken(error.to_string()))?;
    let told: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let Some(value) = told["access_token"]
        .as_str()
        .filter(|_| answer.status.is_success())
    else {
        let code = ErrorCode::of(told["error"].as_str());
        return Err(SendingError::NoToken(format!(
            "the authorization server answered {}{code}",
            answer.status.as_u16()
        )));
    };
    let seconds = told["expires_in"]
        .as_u64()
        .or_else(|| told["expires_in"].as_str()?.parse().ok());
    let lifetime = seconds.map_or(UNTOLD_LIFETIME, Duration::from_secs);
    Ok(Token {
        value: value.to_owned(),
        until: Instant::now() + lifetime.saturating_sub(MARGIN),
    })
}
