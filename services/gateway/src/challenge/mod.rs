//! Challenge: work that a sender's browser has to do before a form is taken, while too many come, or where one was filled in too fast
//! (docs/decisions/0026-a-flood-is-asked-for-work.md).

mod flood;
#[cfg(test)]
mod fuzz;
mod proof_of_work;
mod settings;

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use altcha::Challenge;
use http::{HeaderMap, HeaderName};
use opentelemetry::{KeyValue, metrics::Counter};
use site_service::{idempotency, metrics};
use uuid::Uuid;

pub use self::settings::ChallengeSettings;
use self::{
    flood::Flood,
    proof_of_work::{Binding, ProofOfWork},
    settings::ChallengeMode,
};
use crate::api_error::ApiError;

/// The header with a challenge's solution.
pub const SOLUTION: HeaderName = HeaderName::from_static("challenge-solution");
/// The header in which our pages say for how many seconds a visitor had the form.
pub const FILL_SECONDS: HeaderName = HeaderName::from_static("fill-seconds");
/// When to come back without a solution: a flood is over a minute after its last excess.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Why one is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Flood,
    TooFast,
    Always,
}

/// What became of challenges, as metrics count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Asked,
    Solved,
    /// The solution is expired, forged, wrong, or another submission's.
    Failed,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Asked, Self::Solved, Self::Failed];

    fn label(self) -> KeyValue {
        let name = match self {
            Self::Asked => "asked",
            Self::Solved => "solved",
            Self::Failed => "failed",
        };
        KeyValue::new("outcome", name)
    }
}

/// The challenges of all forms: a flood of one is a flood of all.
#[derive(Clone)]
pub struct Challenges(Arc<Shared>);

struct Shared {
    mode: ChallengeMode,
    flood: Flood,
    least_fill: Duration,
    work: ProofOfWork,
    outcomes: Counter<u64>,
}

/// The challenges of one form.
#[derive(Clone)]
pub struct FormChallenges {
    form: &'static str,
    shared: Arc<Shared>,
}

impl Challenges {
    /// As the settings say.
    ///
    /// # Errors
    ///
    /// If the operating system has no random bytes for a key.
    pub fn new(settings: &ChallengeSettings) -> Result<Self, getrandom::Error> {
        let outcomes = metrics::meter()
            .u64_counter("site.challenges")
            .with_unit("{challenge}")
            .with_description("Challenges that were asked of senders of forms, and solutions that came")
            .build();
        for outcome in Outcome::ALL {
            outcomes.add(0, &[outcome.label()]);
        }
        // Without a key of the operator's nobody else has to know it.
        let key = settings.key.clone().map_or_else(proof_of_work::random_key, Ok)?;
        Ok(Self(Arc::new(Shared {
            mode: settings.mode,
            flood: Flood::above(settings.flood_per_minute, Instant::now()),
            least_fill: settings.least_fill,
            work: ProofOfWork::new(key, settings.tries),
            outcomes,
        })))
    }

    /// Those of the form of this name.
    pub fn of(&self, form: &'static str) -> FormChallenges {
        FormChallenges {
            form,
            shared: Arc::clone(&self.0),
        }
    }
}

impl FormChallenges {
    /// Lets a form pass, or asks its sender for work.
    ///
    /// # Errors
    ///
    /// If work is asked for.
    pub fn check(&self, address: IpAddr, headers: &HeaderMap, now: Instant) -> Result<(), ApiError> {
        let shared = &self.shared;
        if shared.mode == ChallengeMode::Off {
            return Ok(());
        }
        let binding = key_of(headers).map(|key| Binding::new(self.form, key, address));
        if let Some(solution) = headers.get(SOLUTION) {
            let is_right = binding
                .as_ref()
                .is_some_and(|binding| shared.work.verify(solution.as_bytes(), binding));
            shared.count(if is_right {
                Outcome::Solved
            } else {
                Outcome::Failed
            });
            if is_right {
                return Ok(());
            }
        }
        let Some(reason) = shared.reason(headers, now) else {
            return Ok(());
        };
        shared.count(Outcome::Asked);
        tracing::info!(form = self.form, ?reason, "a challenge was asked");
        let challenge = binding.and_then(|binding| shared.issue(binding));
        Err(ApiError::challenge(challenge).retry_after(RETRY_AFTER))
    }
}

impl Shared {
    /// Counts a submission that shows no work, and says why it has to.
    fn reason(&self, headers: &HeaderMap, now: Instant) -> Option<Reason> {
        let is_flood = self.flood.arrives(now);
        match self.mode {
            ChallengeMode::Off => None,
            ChallengeMode::Always => Some(Reason::Always),
            ChallengeMode::Flood if is_flood => Some(Reason::Flood),
            ChallengeMode::Flood => self.is_too_fast(headers).then_some(Reason::TooFast),
        }
    }

    /// Whether our own page says so. Whoever does not use it says what they like, or nothing.
    fn is_too_fast(&self, headers: &HeaderMap) -> bool {
        let seconds = headers.get(FILL_SECONDS).and_then(|value| value.to_str().ok());
        let seconds = seconds.and_then(|seconds| seconds.parse::<f64>().ok());
        seconds.is_some_and(|seconds| seconds < self.least_fill.as_secs_f64())
    }

    fn issue(&self, binding: Binding) -> Option<Challenge> {
        let challenge = self.work.challenge(binding, SystemTime::now());
        challenge
            .inspect_err(|error| tracing::error!(%error, "a challenge cannot be made"))
            .ok()
    }

    fn count(&self, outcome: Outcome) {
        self.outcomes.add(1, &[outcome.label()]);
    }
}

/// The key that names the submission. Without one there is nothing to bind a challenge to.
fn key_of(headers: &HeaderMap) -> Option<Uuid> {
    let key = headers.get(idempotency::HEADER)?.to_str().ok()?;
    idempotency::parse(key).ok()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use http::{HeaderValue, StatusCode};

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn challenges(mode: ChallengeMode) -> FormChallenges {
        Challenges::new(&ChallengeSettings {
            mode,
            flood_per_minute: NonZeroU32::new(2).expect("not zero"),
            least_fill: Duration::from_secs(2),
            tries: 2,
            key: None,
        })
        .expect("a key")
        .of("contact")
    }

    fn headers(more: &[(HeaderName, &'static str)]) -> HeaderMap {
        let more = more.iter().cloned();
        let key = (
            HeaderName::from_static(idempotency::HEADER),
            "00000000-0000-8000-8000-000000000001",
        );
        more.chain([key])
            .map(|(name, value)| (name, HeaderValue::from_static(value)))
            .collect()
    }

    fn passes(challenges: &FormChallenges, headers: &HeaderMap) -> bool {
        challenges.check(ADDRESS, headers, Instant::now()).is_ok()
    }

    #[test]
    fn nothing_is_asked_where_it_is_off_and_of_everybody_where_it_is_always() {
        let headers = headers(&[(FILL_SECONDS, "0.1")]);
        let off = challenges(ChallengeMode::Off);
        assert!((0..10).all(|_| passes(&off, &headers)));
        let asked = challenges(ChallengeMode::Always).check(ADDRESS, &headers, Instant::now());
        let asked = asked.expect_err("a challenge");
        assert_eq!(asked.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(asked.is_challenge() && asked.sentence().contains("in a few minutes"));
    }

    #[test]
    fn it_is_asked_in_a_flood_of_all_forms_together() {
        let contact = challenges(ChallengeMode::Flood);
        let newsletter = Challenges(Arc::clone(&contact.shared)).of("newsletter");
        let headers = headers(&[]);
        assert!(passes(&contact, &headers));
        assert!(passes(&newsletter, &headers));
        assert!(!passes(&contact, &headers));
        assert!(!passes(&newsletter, &headers));
    }

    #[test]
    fn whoever_fills_a_form_in_faster_than_people_do_is_asked_and_nobody_who_says_nothing() {
        for (seconds, is_asked) in [
            ("0.4", true),
            ("-1", true),
            ("2", false),
            ("NaN", false),
            ("", false),
        ] {
            let headers = headers(&[(FILL_SECONDS, seconds)]);
            let passes = passes(&challenges(ChallengeMode::Flood), &headers);
            assert_eq!(passes, !is_asked, "{seconds}");
        }
        assert!(passes(&challenges(ChallengeMode::Flood), &headers(&[])));
    }

    #[test]
    fn a_solution_that_is_wrong_takes_nothing_from_a_form_that_none_is_asked_of() {
        let headers = headers(&[(SOLUTION, "e30=")]);
        assert!(passes(&challenges(ChallengeMode::Flood), &headers));
    }
}
