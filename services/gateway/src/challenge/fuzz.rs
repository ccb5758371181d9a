//! Fuzz target: solutions of challenges. How to run it: docs/testing.md.

use std::{
    net::{IpAddr, Ipv4Addr},
    time::{Duration, SystemTime},
};

use altcha::{Payload, SolveChallengeOptions, solve_challenge};
use base64::{Engine, engine::general_purpose::STANDARD};
use bolero::check;
use serde_json::Value;
use uuid::Uuid;

use super::proof_of_work::{self, ProofOfWork};

const ITERATIONS: usize = 500;
const TRIES: u32 = 2;
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 9));
/// Longer than any run.
const LATER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

fn binding(form: &str) -> String {
    proof_of_work::binding(form, Uuid::from_u128(1), ADDRESS)
}

fn right(work: &ProofOfWork) -> Payload {
    let challenge = work
        .challenge(binding("contact"), SystemTime::now() + LATER)
        .expect("a challenge");
    let solution = solve_challenge(SolveChallengeOptions::new(&challenge))
        .ok()
        .flatten();
    Payload {
        challenge,
        solution: solution.expect("a solution"),
    }
}

/// A line is a JSON pointer, a space and the new value; without a value the member is removed.
fn changed(payload: &Payload, changes: &[u8]) -> Vec<u8> {
    let mut payload = serde_json::to_value(payload).expect("it is JSON");
    for line in String::from_utf8_lossy(changes).lines() {
        let (pointer, value) = line.split_once(' ').unwrap_or((line, ""));
        let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
        let Some(members) = payload.pointer_mut(parent).and_then(Value::as_object_mut) else {
            continue;
        };
        match serde_json::from_str(value) {
            Ok(value) => members.insert(name.to_owned(), value),
            Err(_) => members.remove(name),
        };
    }
    payload.to_string().into_bytes()
}

/// What verification depends on. The time is ignored.
fn essence(payload: &Payload) -> (Value, u32, String) {
    let parameters = serde_json::to_value(&payload.challenge.parameters).expect("it is JSON");
    (
        parameters,
        payload.solution.counter,
        payload.solution.derived_key.to_ascii_lowercase(),
    )
}

/// The first byte selects the rest: header, JSON, or changes to the valid payload.
#[test]
fn whatever_is_sent_as_a_solution_only_the_one_that_was_computed_is_believed_and_for_one_submission() {
    let work = ProofOfWork::new(Some("a key of thirty-two bytes or more".into()), TRIES).expect("a key");
    let right = right(&work);
    let (own, other) = (binding("contact"), binding("newsletter"));
    check!(name = "challenge-solutions")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let (&[kind], rest) = input.split_first_chunk().unwrap_or((b"h", &[]));
            let json = match kind {
                b'h' => None,
                b'j' => Some(rest.to_vec()),
                _ => Some(changed(&right, rest)),
            };
            let header = match &json {
                Some(json) => STANDARD.encode(json).into_bytes(),
                None => rest.to_vec(),
            };
            let json = json.or_else(|| STANDARD.decode(rest).ok()).unwrap_or_default();
            let payload: Option<Payload> = serde_json::from_slice(&json).ok();
            let is_believed = work.verify(&header, &own);
            let is_right = payload.is_some_and(|payload| {
                let is_signed = payload.challenge.signature == right.challenge.signature;
                is_signed && essence(&payload) == essence(&right)
            });
            assert_eq!(is_believed, is_right);
            assert!(!work.verify(&header, &other), "it holds for another form");
        });
}
