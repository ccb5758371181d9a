//! Access tokens (OAuth 2.0), cached until they expire or the receiver rejects them.
//!
//! The crate `oauth2` is not used, because it would add a second HTTP interface to send one form.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use serde_json::Value;
use tokio::sync::Mutex;

use crate::{
    client::WebhookClient,
    sending_error::{ErrorCode, SendingError},
};

/// Lifetime of a token without `expires_in`.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Tokens are renewed this long before they expire.
const MARGIN: Duration = Duration::from_secs(60);

#[derive(Default)]
pub struct Tokens(Mutex<Option<Token>>);

struct Token {
    value: String,
    until: Instant,
}

impl Tokens {
    /// Returns the cached token or requests one. Concurrent callers wait for the same token.
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

    /// Drops a rejected token, unless a new token has already replaced it.
    pub async fn forget(&self, value: &str) {
        let mut token = self.0.lock().await;
        token.take_if(|token| token.value == value);
    }
}

async fn ask(client: &WebhookClient, request: Request<Bytes>) -> Result<Token, SendingError> {
    let answer = client.send(request).await;
    let answer = answer.map_err(|error| SendingError::NoToken(error.to_string()))?;
    let fields: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let Some(value) = fields["access_token"]
        .as_str()
        .filter(|_| answer.status.is_success())
    else {
        let code = ErrorCode::of(fields["error"].as_str());
        return Err(SendingError::NoToken(format!(
            "the authorization server answered {}{code}",
            answer.status.as_u16()
        )));
    };
    let seconds = fields["expires_in"]
        .as_u64()
        .or_else(|| fields["expires_in"].as_str()?.parse().ok());
    let lifetime = seconds.map_or(DEFAULT_LIFETIME, Duration::from_secs);
    Ok(Token {
        value: value.to_owned(),
        until: Instant::now() + lifetime.saturating_sub(MARGIN),
    })
}
