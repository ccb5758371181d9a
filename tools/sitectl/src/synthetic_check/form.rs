//! Sends the form as the site's script does.

use altcha::{Challenge, Payload, SolveChallengeOptions, solve_challenge};
use anyhow::{Context as _, ensure};
use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderValue, Request, StatusCode, header, response::Parts};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use site_service::{RequestId, SYNTHETIC_MARK, idempotency};
use tokio::task::spawn_blocking;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::http_client::http_client;

const MESSAGE: &str =
    "This form was sent by `sitectl synthetic-check`, which looks for its mail and removes it.";
/// Above the maximum size of a résumé.
const TOO_LARGE_BYTES: usize = 11 * 1024 * 1024;

/// Sends the form, and solves the challenge if the site demands one. Returns the id of the accepted request,
/// which its mails have as a header.
///
/// # Errors
///
/// If the site is unreachable, or rejects the form.
pub async fn send(site_url: &str, email: &EmailAddress, mark: &str) -> anyhow::Result<RequestId> {
    let form = json!({ "name": "Synthetic check", "email": email.as_str(), "message": MESSAGE });
    let request = Request::post(format!("{site_url}/api/contact"))
        .header(header::CONTENT_TYPE, "application/json")
        .header(idempotency::HEADER, Uuid::new_v4().to_string())
        .header(SYNTHETIC_MARK, HeaderValue::from_str(mark)?);
    let mut request = request.body(form.to_string())?;
    let (mut head, mut body) = post(request.clone()).await?;
    if let Ok(challenge) = serde_json::from_value::<Challenge>(body["challenge"].take()) {
        let solution = spawn_blocking(move || solve(challenge)).await??;
        request
            .headers_mut()
            .insert("challenge-solution", solution.parse()?);
        (head, _) = post(request).await?;
    }
    ensure!(head.status == StatusCode::OK, "it answers {}", head.status);
    Ok(RequestId::of_headers(&head.headers))
}

/// Uploads a résumé that the site refuses, because it is too large.
///
/// # Errors
///
/// If a proxy in front of the site answers instead.
pub async fn upload_too_large(site_url: &str) -> anyhow::Result<()> {
    let resume = "0".repeat(TOO_LARGE_BYTES);
    let body = format!(
        "--x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"resume.pdf\"\r\n\r\n%PDF-{resume}\r\n--x--\r\n"
    );
    let request = Request::post(format!("{site_url}/api/career-application"))
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x");
    let (head, body) = post(request.body(body)?).await?;
    ensure!(body["success"] == false, "it answers {}", head.status);
    Ok(())
}

async fn post(request: Request<String>) -> anyhow::Result<(Parts, Value)> {
    let response = http_client()?.request(request).await;
    let response = response.context("it is unreachable (setting SITE_URL)")?;
    let (head, body) = response.into_parts();
    let body = body.collect().await.context("its response cannot be read")?;
    let body = serde_json::from_slice(&body.to_bytes()).unwrap_or_default();
    Ok((head, body))
}

fn solve(challenge: Challenge) -> anyhow::Result<String> {
    let solution = solve_challenge(SolveChallengeOptions::new(&challenge))?;
    let solution = solution.context("its challenge has no solution")?;
    Ok(STANDARD.encode(serde_json::to_vec(&Payload { challenge, solution })?))
}
