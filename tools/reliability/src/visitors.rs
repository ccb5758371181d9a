//! Visitors send forms at a steady rate, and retry until they are accepted.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use fastrand::Rng;
use reliability::{FormKind, Submission};
use reqwest::{Client, Response, StatusCode, header};
use serde_json::Value;
use testkit::{PERSON_KEY, Stack};
use time::OffsetDateTime;
use tokio::{
    sync::Semaphore,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use visitor::{
    EmailAddress, PersonKey,
    token::{Purpose, TokenKey},
};

use crate::ledger::{Acceptance, Ledger, Record};

/// With these keys a visitor can follow a link without reading the mail.
pub const KEYS: [(&str, &str); 2] = [
    ("PERSON_KEY", PERSON_KEY),
    ("TOKEN_KEY", "the token key of a run, and just as long"),
];
/// A browser's timeout.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
const RETRY_PAUSE: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(60);
const MAX_WAITING: usize = 2_048;
/// Longest stay of a visitor who leaves early.
const MAX_STAY: Duration = Duration::from_millis(600);
/// Forms per second: the limit of two busy cores with debug builds.
const RATE: u32 = 20;
const APPLICATION_EVERY: u32 = 5;
const RESUME_BYTES: std::ops::Range<usize> = 2_000..60_000;

pub struct Visitors {
    shared: Arc<Shared>,
    stop: CancellationToken,
    running: tokio::task::JoinHandle<()>,
}

struct Shared {
    http: Client,
    site: String,
    seed: u64,
    /// One visitor in this many leaves early, and does not retry.
    vanish_every: u32,
    ledger: Mutex<Ledger>,
}

impl Visitors {
    /// # Errors
    ///
    /// If the HTTP client cannot be built.
    pub fn start(stack: &Stack, seed: u64, vanish_every: u32) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            // Each request opens a connection, as a new visitor does.
            http: Client::builder()
                .timeout(ANSWER_TIMEOUT)
                .pool_max_idle_per_host(0)
                .build()?,
            site: stack.site(),
            seed,
            vanish_every,
            ledger: Mutex::default(),
        });
        let stop = CancellationToken::new();
        let running = tokio::spawn(arrive(shared.clone(), stop.clone()));
        Ok(Self {
            shared,
            stop,
            running,
        })
    }

    pub fn recovery(&self, moment: Instant) -> Option<Duration> {
        self.shared.ledger(|ledger| ledger.recovery(moment))
    }

    /// Waits for the remaining visitors.
    ///
    /// # Errors
    ///
    /// If a visitor panicked.
    pub async fn leave(self) -> anyhow::Result<Ledger> {
        self.stop.cancel();
        self.running.await?;
        Ok(self.shared.ledger(std::mem::take))
    }
}

impl Shared {
    fn ledger<T>(&self, read: impl FnOnce(&mut Ledger) -> T) -> T {
        read(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn submission(&self, number: u32) -> (Submission, Rng) {
        let mut rng = Rng::with_seed(self.seed.wrapping_add(u64::from(number)));
        let kind = if number.is_multiple_of(APPLICATION_EVERY) {
            FormKind::Application
        } else if rng.u8(0..3) == 0 {
            FormKind::Newsletter
        } else {
            FormKind::Contact
        };
        let resume_bytes = rng.usize(RESUME_BYTES);
        (Submission::new(self.seed, number, kind, resume_bytes), rng)
    }

    async fn visit(&self, number: u32) {
        let (submission, mut rng) = self.submission(number);
        let vanishes = rng.u32(0..self.vanish_every) == 0;
        let accepted = if vanishes {
            self.vanish(submission, &mut rng).await
        } else {
            self.retry(submission).await
        };
        let confirms = accepted && submission.kind == FormKind::Newsletter && rng.bool();
        let confirmed = if confirms {
            Some(self.confirm(submission).await)
        } else {
            None
        };
        let record = Record {
            submission,
            accepted,
            left: vanishes,
            confirmed,
        };
        self.ledger(|ledger| ledger.records.push(record));
    }

    async fn retry(&self, submission: Submission) -> bool {
        let started = Instant::now();
        until_accepted(|| async move {
            let answered = submission.request(&self.http, &self.site).send().await;
            self.record(submission, started, answered).await
        })
        .await
    }

    async fn confirm(&self, submission: Submission) -> bool {
        let Ok(token) = confirmation_token(&submission.email()) else {
            return false;
        };
        until_accepted(|| async {
            let request = submission.confirmation(&self.http, &self.site, &token);
            self.is_accepted(request.send().await).await
        })
        .await
    }

    /// Leaves during a slow upload.
    async fn vanish(&self, submission: Submission, rng: &mut Rng) -> bool {
        let started = Instant::now();
        let stay = MAX_STAY.mul_f64(rng.f64());
        let request = submission.slow_request(&self.http, &self.site);
        match timeout(stay, request.send()).await {
            Ok(answered) => self.record(submission, started, answered).await,
            Err(_) => false,
        }
    }

    async fn record(
        &self,
        submission: Submission,
        tried: Instant,
        answered: reqwest::Result<Response>,
    ) -> bool {
        let is_accepted = self.is_accepted(answered).await;
        if is_accepted {
            let accepted = Acceptance {
                submission,
                tried,
                at: Instant::now(),
            };
            self.ledger(|ledger| ledger.acceptances.push(accepted));
        }
        is_accepted
    }

    async fn is_accepted(&self, answered: reqwest::Result<Response>) -> bool {
        let verdict = match answered {
            Ok(response) => verdict_of(response).await,
            Err(_) => Verdict::Unanswered,
        };
        let is_accepted = matches!(verdict, Verdict::Accepted);
        self.ledger(|ledger| match verdict {
            Verdict::Accepted => {}
            Verdict::Refused => ledger.refused += 1,
            Verdict::Unanswered => ledger.unanswered += 1,
            Verdict::Unexpected(answer) => ledger.unexpected.push(answer),
        });
        is_accepted
    }
}

async fn until_accepted<Trying: Future<Output = bool>>(attempt: impl Fn() -> Trying) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        if attempt().await {
            return true;
        }
        sleep(RETRY_PAUSE).await;
    }
    false
}

enum Verdict {
    Accepted,
    /// The answer has an error sentence and `Retry-After`.
    Refused,
    Unanswered,
    Unexpected(String),
}

async fn verdict_of(response: Response) -> Verdict {
    let status = response.status();
    let retry_after = response.headers().contains_key(header::RETRY_AFTER);
    let Ok(body) = response.bytes().await else {
        return Verdict::Unanswered;
    };
    let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
    if status == StatusCode::OK && answer["success"] == true {
        return Verdict::Accepted;
    }
    let has_sentence = ["error", "message"]
        .iter()
        .any(|word| answer[*word].as_str().is_some_and(|words| !words.is_empty()));
    if status == StatusCode::SERVICE_UNAVAILABLE && retry_after && has_sentence {
        return Verdict::Refused;
    }
    Verdict::Unexpected(format!("{status}: {}", String::from_utf8_lossy(&body)))
}

/// Visitors arrive at a fixed rate, even while earlier visitors wait.
async fn arrive(shared: Arc<Shared>, stop: CancellationToken) {
    let waiting = Arc::new(Semaphore::new(MAX_WAITING));
    let mut visits = JoinSet::new();
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let arriving = async {
        for number in 0.. {
            ticks.tick().await;
            let Ok(permit) = waiting.clone().acquire_owned().await else {
                return;
            };
            while visits.try_join_next().is_some() {}
            let shared = shared.clone();
            visits.spawn(async move {
                shared.visit(number).await;
                drop(permit);
            });
        }
    };
    stop.run_until_cancelled(arriving).await;
    visits.join_all().await;
}

fn confirmation_token(email: &str) -> anyhow::Result<String> {
    let [(_, person_key), (_, token_key)] = KEYS;
    let person = PersonKey::new(person_key)?.person(&EmailAddress::parse(email)?);
    let expires = OffsetDateTime::now_utc() + time::Duration::DAY;
    Ok(TokenKey::new(token_key)?.sign(Purpose::Confirm, &person, expires))
}
