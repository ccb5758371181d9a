//! The work that a form is asked for in a flood, done as a visitor's browser does it.

use altcha::{Challenge, Payload, SolveChallengeOptions, solve_challenge};
use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use tokio::task::spawn_blocking;

/// The header that the solution is sent in.
pub const SOLUTION: &str = "challenge-solution";

/// The settings of a gateway that asks for work in a flood, as the cluster's does. It is a fortieth of the usual work: what is asked
/// costs the gateway the same, and the machine that serves has to solve it, too.
pub const SETTINGS: [(&str, &str); 2] = [("CHALLENGE", "flood"), ("CHALLENGE_TRIES", "50")];

/// The solution of the challenge in an answer, if it has one.
///
/// # Errors
///
/// If there is none.
pub async fn solution_of(mut answer: Value) -> anyhow::Result<String> {
    let challenge = answer.get_mut("challenge").map(Value::take).unwrap_or_default();
    let challenge: Challenge = serde_json::from_value(challenge)
        .with_context(|| format!("refused without a challenge: {answer}"))?;
    spawn_blocking(move || {
        let solution = solve_challenge(SolveChallengeOptions::new(&challenge))?.context("no solution")?;
        let payload = serde_json::to_vec(&Payload { challenge, solution })?;
        Ok(STANDARD.encode(payload))
    })
    .await?
}
