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

/// Sends it, and in a flood once more with the work that is asked for. Gives the id of the request that was taken, which stands
/// in the mails that it causes.
///
/// # Errors
///
/// If the site is not reached, or does not take it.
pub async fn send(site_url: &str, email: &EmailAddress, mark: &str) -> anyhow::Result<RequestId> {
    let form = json!({ "name": "Synthetic check", "email": email.as_str(), "message": MESSAGE });
    let request = Request::post(format!("{site_url}/api/contact"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(idempotency::HEADER, Uuid::new_v4().to_string())
        .header(SYNTHETIC_MARK, HeaderValue::from_str(mark)?);
    let mut request = request.body(form.to_string())?;
    let (mut head, mut body) = ask(request.clone()).await?;
    if let Ok(challenge) = serde_json::from_value::<Challenge>(body["challenge"].take()) {
        let solution = spawn_blocking(move || solved(challenge)).await??;
        request
            .headers_mut()
            .insert("challenge-solution", solution.parse()?);
        (head, _) = ask(request).await?;
    }
    ensure!(head.status == StatusCode::OK, "it answers {}", head.status);
    Ok(RequestId::of_headers(&head.headers))
}

async fn ask(request: Request<String>) -> anyhow::Result<(Parts, Value)> {
    let answer = http_client()?.request(request).await;
    let answer = answer.context("it is not reached (setting SITE_URL)")?;
    let (head, body) = answer.into_parts();
    let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!("its answer cannot be read: {error}"))?;
    let body = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    Ok((head, body))
}

fn solved(challenge: Challenge) -> anyhow::Result<String> {
    let solution = solve_challenge(SolveChallengeOptions::new(&challenge))?;
    let solution = solution.context("its challenge has no solution")?;
    Ok(STANDARD.encode(serde_json::to_vec(&Payload { challenge, solution })?))
}
