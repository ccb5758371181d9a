//! Challenges for scripts: required before a body is read, valid for one submission. A form that passes gets a 503,
//! because no service runs.

use altcha::{Challenge, Payload, SolveChallengeOptions, solve_challenge};
use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use futures_util::{StreamExt, future::try_join_all, stream};
use reqwest::{Body, RequestBuilder, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::without_services::Gateway;

const VISITOR: &str = "203.0.113.9";
const KEY: &str = "00000000-0000-8000-8000-000000000001";
const OTHER_KEY: &str = "00000000-0000-8000-8000-000000000002";
const PASSED: StatusCode = StatusCode::SERVICE_UNAVAILABLE;
const ASKED: StatusCode = StatusCode::TOO_MANY_REQUESTS;

async fn gateway(flags: &[&str]) -> anyhow::Result<Gateway> {
    let quick = ["--challenge-tries", "4", "--rate-burst", "100"];
    Gateway::start(&[&quick[..], flags].concat()).await
}

fn message(gateway: &Gateway, key: &str) -> RequestBuilder {
    let message = json!({ "name": "Asha", "email": "asha@example.org", "message": "Hello" });
    let request = gateway.post("/api/contact").json(&message);
    request
        .header("idempotency-key", key)
        .header("x-forwarded-for", VISITOR)
}

async fn solved(asked: Response) -> anyhow::Result<String> {
    assert_eq!(asked.status(), ASKED);
    assert_eq!(asked.headers()[header::RETRY_AFTER], "60");
    let body: Value = asked.json().await?;
    assert_eq!(
        (&body["success"], &body["code"]),
        (&json!(false), &json!("challenge"))
    );
    assert!(
        body["message"]
            .as_str()
            .is_some_and(|words| words.contains("in a few minutes")),
        "{body}"
    );
    let challenge: Challenge = serde_json::from_value(body["challenge"].clone())?;
    let solution = solve_challenge(SolveChallengeOptions::new(&challenge))?.context("no solution")?;
    Ok(STANDARD.encode(serde_json::to_vec(&Payload { challenge, solution })?))
}

#[tokio::test]
async fn a_solved_form_is_accepted() -> anyhow::Result<()> {
    let gateway = gateway(&["--challenge", "always"]).await?;
    let solution = solved(message(&gateway, KEY).send().await?).await?;
    let again = || message(&gateway, KEY).header("challenge-solution", &solution);
    // A solution may be used twice for the same submission, whose key prevents a duplicate.
    for passed in try_join_all([again().send(), again().send()]).await? {
        assert_eq!(passed.status(), PASSED);
    }

    let of_another = message(&gateway, OTHER_KEY).header("challenge-solution", &solution);
    assert_eq!(of_another.send().await?.status(), ASKED);
    let from_elsewhere = again().header("x-forwarded-for", "198.51.100.7");
    assert_eq!(from_elsewhere.send().await?.status(), ASKED);
    Ok(())
}

#[tokio::test]
async fn a_challenge_comes_before_reading_an_application() -> anyhow::Result<()> {
    let gateway = gateway(&["--challenge", "always"]).await?;
    // The upload never ends: a gateway that read it first would answer with a timeout.
    let begun = stream::iter([Ok::<_, std::io::Error>("--x\r\n")]).chain(stream::pending());
    let apply = gateway
        .post("/api/career-application")
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x")
        .header("idempotency-key", KEY)
        .header("x-forwarded-for", VISITOR)
        .body(Body::wrap_stream(begun));
    let asked = apply.send().await?;
    assert_eq!(asked.status(), ASKED);
    let body: Value = asked.json().await?;
    assert!(body["challenge"]["signature"].is_string(), "{body}");
    Ok(())
}

#[tokio::test]
async fn a_form_without_a_key_gets_no_challenge() -> anyhow::Result<()> {
    let gateway = gateway(&["--challenge", "always"]).await?;
    for key in ["", "no UUID"] {
        let asked = message(&gateway, key).send().await?;
        assert_eq!(asked.status(), ASKED, "{key}");
        let body: Value = asked.json().await?;
        assert_eq!(body["code"], "challenge");
        assert_eq!(body["challenge"], Value::Null, "{key}");
        let message = body["message"].as_str().unwrap_or_default();
        assert!(
            message.contains("write to hello@oculant.example or call +91"),
            "{message}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn gateways_with_one_key_accept_each_others_solutions() -> anyhow::Result<()> {
    let with_key = async |key| gateway(&["--challenge", "always", "--challenge-key", key]).await;
    let one = with_key("a key of thirty-two bytes, or more").await?;
    let another = with_key("a key of thirty-two bytes, or more").await?;
    let stranger = gateway(&["--challenge", "always"]).await?;
    let solution = solved(message(&one, KEY).send().await?).await?;
    let again = |gateway| {
        message(gateway, KEY)
            .header("challenge-solution", &solution)
            .send()
    };
    let answers = try_join_all([&one, &another, &stranger].map(again)).await?;
    let statuses: Vec<StatusCode> = answers.iter().map(Response::status).collect();
    assert_eq!(statuses, [PASSED, PASSED, ASKED]);
    assert!(with_key("too short").await.is_err());
    Ok(())
}
