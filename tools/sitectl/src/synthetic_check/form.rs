//! The form, sent as a browser's script sends it.

use altcha::{Challenge, Payload, SolveChallengeOptions, solve_challenge};
use anyhow::{Context as _, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderValue, Request, StatusCode, header, response::Parts};
use http_body_util::{BodyExt as _, Limited};
use serde_json::{Value, json};
use site_service::{RequestId, SYNTHETIC_MARK, idempotency};
use tokio::task::spawn_blocking;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::http_client::http_client;

/// The longest answer that is read; the site's own are shorter.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
const MESSAGE: &str =
    "This form was sent by `sitectl synthetic-check`, which looks for its mail and removes it.";

/// One submission.
pub struct Form<'a> {
    pub site_url: &'a str,
    pub email: &'a EmailAddress,
    pub key: Uuid,
    pub mark: &'a str,
}

impl Form<'_> {
    /// Sends it, and in a flood once more with the work that is asked for. Gives the id of the request that was taken, which stands
    /// in the mails that it causes.
    ///
    /// # Errors
    ///
    /// If the site is not reached, or does not take it.
    pub async fn send(&self) -> anyhow::Result<RequestId> {
        let (mut head, mut body) = self.post(None).await?;
        if let Ok(challenge) = serde_json::from_value::<Challenge>(body["challenge"].take()) {
            let solution = spawn_blocking(move || solved(challenge)).await??;
            (head, _) = self.post(Some(&solution)).await?;
        }
        ensure!(head.status == StatusCode::OK, "it answers {}", head.status);
        Ok(RequestId::of_headers(&head.headers))
    }

    async fn post(&self, solution: Option<&str>) -> anyhow::Result<(Parts, Value)> {
        let body = json!({ "name": "Synthetic check", "email": self.email.as_str(), "message": MESSAGE });
        let mut request = Request::post(format!("{}/api/contact", self.site_url))
            .header(header::CONTENT_TYPE, "application/json")
            .header(idempotency::HEADER, self.key.to_string())
            .header(SYNTHETIC_MARK, HeaderValue::from_str(self.mark)?);
        if let Some(solution) = solution {
            request = request.header("challenge-solution", solution);
        }
        let answer = http_client()?.request(request.body(body.to_string())?).await;
        let (head, body) = answer
            .context("it is not reached (setting SITE_URL)")?
            .into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| anyhow::anyhow!("its answer cannot be read: {error}"))?;
        let body = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
        Ok((head, body))
    }
}

fn solved(challenge: Challenge) -> anyhow::Result<String> {
    let solution = solve_challenge(SolveChallengeOptions::new(&challenge))?;
    let solution = solution.context("its challenge has no solution")?;
    Ok(STANDARD.encode(serde_json::to_vec(&Payload { challenge, solution })?))
}
