//! Challenge: proof of work before a form is accepted in a flood (docs/decisions/0026-a-flood-is-asked-for-work.md).

mod flood;
mod proof_of_work;
mod settings;

use std::{
    net::IpAddr,
    num::NonZeroU32,
    time::{Duration, Instant, SystemTime},
};

use http::{HeaderMap, HeaderName};
use site_service::idempotency;
use uuid::Uuid;

pub use self::settings::ChallengeSettings;
use self::{
    flood::Flood,
    proof_of_work::{ProofOfWork, binding},
    settings::ChallengeMode,
};
use crate::api_error::ApiError;

pub const SOLUTION: HeaderName = HeaderName::from_static("challenge-solution");
/// Limit for submissions of all forms and addresses together; a higher rate is a flood.
const FLOOD_PER_MINUTE: NonZeroU32 = NonZeroU32::new(120).expect("not zero");
/// A flood ends a minute after the last submission above the limit.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Challenges of all forms: a flood of one form requires a challenge for every form.
pub struct Challenges {
    mode: ChallengeMode,
    flood: Flood,
    work: ProofOfWork,
}

impl Challenges {
    /// # Errors
    ///
    /// If the operating system provides no random bytes for a key.
    pub fn new(settings: &ChallengeSettings) -> Result<Self, getrandom::Error> {
        Ok(Self {
            mode: settings.mode,
            flood: Flood::above(FLOOD_PER_MINUTE),
            work: ProofOfWork::new(settings.key.clone(), settings.tries)?,
        })
    }

    /// # Errors
    ///
    /// If the client must solve a challenge; the error holds it.
    pub fn check(&self, form: &'static str, address: IpAddr, headers: &HeaderMap) -> Result<(), ApiError> {
        if self.mode == ChallengeMode::Off {
            return Ok(());
        }
        let binding = key_of(headers).map(|key| binding(form, key, address));
        if let (Some(solution), Some(binding)) = (headers.get(SOLUTION), &binding)
            && self.work.verify(solution.as_bytes(), binding)
        {
            return Ok(());
        }
        if self.mode == ChallengeMode::Flood && !self.flood.arrives(Instant::now()) {
            return Ok(());
        }
        let challenge = binding.and_then(|binding| {
            let challenge = self.work.challenge(binding, SystemTime::now());
            challenge
                .inspect_err(|error| tracing::error!(%error, "a challenge cannot be created"))
                .ok()
        });
        Err(ApiError::challenge(challenge).retry_after(RETRY_AFTER))
    }
}

/// Returns the idempotency key, which a challenge is bound to.
fn key_of(headers: &HeaderMap) -> Option<Uuid> {
    let key = headers.get(idempotency::HEADER)?.to_str().ok()?;
    idempotency::parse(key).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn challenges(mode: ChallengeMode) -> Challenges {
        let settings = ChallengeSettings {
            mode,
            tries: 2,
            key: None,
        };
        Challenges::new(&settings).expect("a key")
    }

    fn headers() -> HeaderMap {
        let key = HeaderValue::from_static("00000000-0000-8000-8000-000000000001");
        HeaderMap::from_iter([(HeaderName::from_static(idempotency::HEADER), key)])
    }

    fn passes(challenges: &Challenges, form: &'static str) -> bool {
        challenges.check(form, ADDRESS, &headers()).is_ok()
    }

    #[test]
    fn no_challenge_is_required_if_off() {
        let off = challenges(ChallengeMode::Off);
        assert!((0..10).all(|_| passes(&off, "contact")));
    }

    #[test]
    fn a_flood_counts_all_forms_together() {
        let challenges = challenges(ChallengeMode::Flood);
        let mut wrong = headers();
        wrong.insert(SOLUTION, HeaderValue::from_static("e30="));
        assert!(challenges.check("contact", ADDRESS, &wrong).is_ok());
        let forms = ["newsletter", "contact"].into_iter().cycle();
        for form in forms.take(FLOOD_PER_MINUTE.get() as usize - 1) {
            assert!(passes(&challenges, form));
        }
        assert!(!passes(&challenges, "contact") && !passes(&challenges, "newsletter"));
    }
}
