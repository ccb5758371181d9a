//! Stateless proof of work by ALTCHA's protocol (<https://altcha.org/docs/v2/>).

use std::{
    collections::BTreeMap,
    net::IpAddr,
    time::{Duration, SystemTime},
};

use altcha::{Challenge, CreateChallengeOptions, Payload, VerifySolutionOptions};
use base64::{Engine, engine::general_purpose::STANDARD};
use site_service::settings::{ExposeSecret, Secret};
use uuid::Uuid;

use crate::address::network;

/// PBKDF2 rounds per try. Fewer rounds would favour native programs over WebCrypto, which has an overhead per call.
/// More rounds would slow the gateway, which makes one try per challenge.
const ROUNDS: u32 = 1_000;
const ALGORITHM: &str = "PBKDF2/SHA-256";
/// Lifetime of a challenge, shorter than an idempotency key's lifetime of an hour.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Member of the challenge's data that holds the [`binding`].
const BOUND_TO: &str = "boundTo";

const KEY_BYTES: usize = 32;

pub struct ProofOfWork {
    key: Secret,
    /// Average number of tries that a challenge needs.
    tries: u32,
}

/// Binds a challenge to form, idempotency key and network, so that a reused solution can only repeat its submission.
pub fn binding(form: &str, key: Uuid, address: IpAddr) -> String {
    format!("{form} {key} {}", network(address))
}

impl ProofOfWork {
    /// All gateways must share `key` to verify each other's challenges. Without `key`, a random one is used.
    ///
    /// # Errors
    ///
    /// If the operating system provides no random bytes.
    pub fn new(key: Option<Secret>, tries: u32) -> Result<Self, getrandom::Error> {
        let key = key.map_or_else(random_key, Ok)?;
        Ok(Self { key, tries })
    }

    /// # Errors
    ///
    /// If the operating system provides no random bytes, or the library rejects the options.
    pub fn challenge(&self, binding: String, now: SystemTime) -> anyhow::Result<Challenge> {
        let expires = now + LIFETIME;
        let expires = expires.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let options = CreateChallengeOptions {
            algorithm: ALGORITHM.to_owned(),
            cost: ROUNDS,
            counter: Some(self.counter()?),
            data: Some(BTreeMap::from([(BOUND_TO.to_owned(), binding.into())])),
            expires_at: i64::try_from(expires.as_secs()).ok(),
            hmac_signature_secret: Some(self.key.expose_secret().to_owned()),
            ..CreateChallengeOptions::default()
        };
        Ok(altcha::create_challenge(options)?)
    }

    /// Whether `solution`, in ALTCHA's encoding, solves our challenge for the submission of `binding`.
    pub fn verify(&self, solution: &[u8], binding: &str) -> bool {
        let Some(Payload { challenge, solution }) = decoded(solution) else {
            return false;
        };
        let data = challenge.parameters.data.as_ref();
        let bound_to = data.and_then(|data| data.get(BOUND_TO));
        if bound_to.and_then(|bound_to| bound_to.as_str()) != Some(binding) {
            return false;
        }
        let options = VerifySolutionOptions::new(&challenge, &solution, self.key.expose_secret());
        altcha::verify_solution(options).is_ok_and(|result| result.verified)
    }

    /// Random number of tries, from half to one and a half times `tries`: a smaller range than pure luck would give.
    fn counter(&self) -> Result<u32, getrandom::Error> {
        let least = self.tries / 2;
        let random = getrandom::u64()? % u64::from(self.tries + 1);
        Ok(least + u32::try_from(random).unwrap_or_default())
    }
}

fn random_key() -> Result<Secret, getrandom::Error> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key)?;
    Ok(STANDARD.encode(key).into())
}

fn decoded(solution: &[u8]) -> Option<Payload> {
    serde_json::from_slice(&STANDARD.decode(solution).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use altcha::{Solution, SolveChallengeOptions, solve_challenge};

    use super::*;

    const TRIES: u32 = 10;
    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9));
    const KEY: Uuid = Uuid::from_u128(1);

    fn work() -> ProofOfWork {
        ProofOfWork::new(Some("a key of thirty-two bytes or more".into()), TRIES).expect("a key")
    }

    fn own_binding() -> String {
        binding("contact", KEY, ADDRESS)
    }

    fn solved(challenge: &Challenge) -> Solution {
        solve_challenge(SolveChallengeOptions::new(challenge))
            .ok()
            .flatten()
            .expect("a solution")
    }

    fn encoded(challenge: Challenge, solution: Solution) -> Vec<u8> {
        let payload = Payload { challenge, solution };
        let json = serde_json::to_vec(&payload).expect("JSON");
        STANDARD.encode(json).into_bytes()
    }

    fn issued(work: &ProofOfWork) -> Challenge {
        work.challenge(own_binding(), SystemTime::now())
            .expect("a challenge")
    }

    #[test]
    fn a_solution_is_valid_only_for_its_own_submission() {
        let work = work();
        let challenge = issued(&work);
        let solution = solved(&challenge);
        assert!((TRIES / 2..=TRIES / 2 + TRIES).contains(&solution.counter));
        let sent = encoded(challenge, solution);
        for _ in 0..2 {
            assert!(work.verify(&sent, &own_binding()));
        }
        for other in [
            binding("contact", Uuid::from_u128(2), ADDRESS),
            binding("newsletter", KEY, ADDRESS),
            binding("contact", KEY, IpAddr::from([203, 0, 113, 10])),
        ] {
            assert!(!work.verify(&sent, &other), "{other:?}");
        }
    }

    #[test]
    fn guessed_and_malformed_solutions_are_refused() {
        let work = work();
        let challenge = issued(&work);
        let right = solved(&challenge);
        let of_another = solved(&issued(&work));
        let guessed = Solution {
            derived_key: challenge.parameters.key_prefix.clone(),
            ..right
        };
        for wrong in [of_another, guessed] {
            assert!(!work.verify(&encoded(challenge.clone(), wrong), &own_binding()));
        }
        for no_solution in [&b""[..], b"?", b"e30=", b"bnVsbA=="] {
            assert!(!work.verify(no_solution, &own_binding()));
        }
    }

    #[test]
    fn forged_changed_and_expired_challenges_are_refused() {
        let work = work();
        let others =
            ProofOfWork::new(Some("another key of thirty-two bytes or more".into()), TRIES).expect("a key");
        let mut easier = issued(&work);
        easier.parameters.cost = 1;
        let mut unsigned = issued(&work);
        unsigned.signature = None;
        let mut for_another = work
            .challenge(binding("contact", Uuid::nil(), ADDRESS), SystemTime::now())
            .expect("a challenge");
        let solution = solved(&for_another);
        for_another.parameters.data = issued(&work).parameters.data;
        assert!(!work.verify(&encoded(for_another, solution), &own_binding()));
        let old = SystemTime::now() - LIFETIME - Duration::from_secs(1);
        let expired = work.challenge(own_binding(), old).expect("a challenge");
        easier.parameters.key_prefix = "00".to_owned();
        for challenge in [issued(&others), easier, unsigned, expired] {
            let solution = solved(&challenge);
            assert!(!work.verify(&encoded(challenge, solution), &own_binding()));
        }
    }
}
