//! Circuit breaker of a dependency that deliveries need: while it is away, deliveries wait here, one at a time asks whether
//! it is back, and once it answers all go on.
//!
//! The crates for this (`failsafe`, and those like it) refuse calls while the circuit is open, and wake nobody when it closes. A
//! refused delivery would sleep in the broker, which wakes it only when its backoff is over. So this is tokio's `watch`, with
//! backon's intervals.

use std::{collections::HashMap, time::Duration};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use opentelemetry::{KeyValue, metrics::UpDownCounter};
use site_service::metrics;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use crate::{
    delivery::{Delivery, Outcome, Pause},
    retries::MAX_ASKED_PAUSE,
};

/// Between two probes: from half a second to two, and with jitter up to twice as long. What waits goes on within five seconds
/// once the dependency is back.
const PROBE_INTERVALS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(500))
    .with_max_delay(Duration::from_secs(2))
    .with_jitter()
    .without_max_times();
/// The most deliveries whose failures are remembered.
const MAX_FAILED: usize = 1024;

/// How a dependency is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Away {
    /// It was not reached, whatever it was to be given.
    Unreachable,
    /// It was reached, and answered that it cannot now, or did not answer in time. That may be due to what it was given.
    Failing {
        /// For how long it wants to be left alone.
        retry_after: Option<Duration>,
    },
}

/// A delivery waited for a dependency as long as it may, or until the service stops. It is to be given back, comes again at
/// once, and waits here again.
#[derive(Debug, thiserror::Error)]
#[error("{dependency} is away: {reason}")]
pub struct GivenBack {
    dependency: String,
    reason: String,
    is_stopping: bool,
}

impl From<GivenBack> for Outcome {
    fn from(given_back: GivenBack) -> Self {
        if given_back.is_stopping {
            return Self::NotBegun;
        }
        Self::Retry(given_back.to_string(), Pause::Just(Duration::ZERO))
    }
}

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError<E> {
    /// The dependency answered.
    #[error(transparent)]
    Answered(E),
    /// It is away.
    #[error("{error}")]
    Away {
        /// What failed.
        error: E,
        /// How long until it is called again.
        pause: Duration,
    },
    /// It was not called.
    #[error(transparent)]
    GivenBack(GivenBack),
}

impl<E> CallError<E> {
    /// How long until the delivery is tried again.
    pub fn pause(&self) -> Pause {
        match self {
            Self::Answered(_) => Pause::Backoff,
            Self::Away { pause, .. } => Pause::Just(*pause),
            Self::GivenBack(_) => Pause::Just(Duration::ZERO),
        }
    }
}

/// Circuit breaker of one dependency. While that answers the circuit is closed, and costs nothing.
pub struct CircuitBreaker {
    name: String,
    state: watch::Sender<State>,
    open: UpDownCounter<i64>,
    labels: [KeyValue; 1],
}

#[derive(Default)]
struct State {
    /// How often the dependency answered.
    answers: u64,
    /// Of deliveries that failed: how often it had answered until then.
    failed: HashMap<String, u64>,
    /// How often the circuit changed. What comes of a call that began before says nothing of now.
    changes: u64,
    open: Option<OpenCircuit>,
}

struct OpenCircuit {
    since: Instant,
    /// What was last found.
    reason: String,
    next_probe: Instant,
    is_probed: bool,
    intervals: ExponentialBackoff,
}

impl OpenCircuit {
    fn is_due(&self, now: Instant) -> bool {
        !self.is_probed && self.next_probe <= now
    }

    /// Puts the next probe off, by what the last one found.
    fn postpone(&mut self, away: Away, now: Instant) {
        // The intervals are without end.
        let interval = self.intervals.next().unwrap_or_default();
        self.put_off_until(now + interval.max(asked_pause(away)));
    }

    fn put_off_until(&mut self, next_probe: Instant) {
        self.next_probe = self.next_probe.max(next_probe);
    }
}

fn asked_pause(away: Away) -> Duration {
    match away {
        Away::Failing {
            retry_after: Some(asked),
        } => asked.min(MAX_ASKED_PAUSE),
        Away::Failing { retry_after: None } | Away::Unreachable => Duration::ZERO,
    }
}

impl CircuitBreaker {
    /// A closed one for the dependency of this name, which logs and metrics call it by.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        let breaker = Self {
            labels: [KeyValue::new("dependency", name.clone())],
            name,
            state: watch::Sender::default(),
            open: metrics::meter()
                .i64_up_down_counter("site.circuit.open")
                .with_unit("{circuit}")
                .with_description("Dependencies that are away, and that deliveries wait for")
                .build(),
        };
        breaker.open.add(0, &breaker.labels);
        breaker
    }

    /// Waits until the dependency may be called: not at all while the circuit is closed; while it is open, until the next
    /// probe is due or another one succeeded.
    pub async fn ready(&self) {
        let mut changes = self.state.subscribe();
        loop {
            let next_probe = match &changes.borrow_and_update().open {
                None => return,
                Some(open) if open.is_probed => None,
                Some(open) => Some(open.next_probe),
            };
            let due = async {
                match next_probe {
                    Some(next_probe) => sleep_until(next_probe).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = due => if self.is_ready() { return },
                // The sender is not gone: we have it.
                _changed = changes.changed() => {}
            }
        }
    }

    /// The same for a delivery, in place of its backoff.
    ///
    /// # Errors
    ///
    /// If the dependency may not be called when the backoff is over, or the service stops before.
    pub async fn wait(&self, delivery: &Delivery) -> Result<(), GivenBack> {
        delivery.wait_for(self.ready()).await.ok_or_else(|| {
            let open = &self.state.borrow().open;
            GivenBack {
                dependency: self.name.clone(),
                reason: open.as_ref().map(|open| open.reason.clone()).unwrap_or_default(),
                is_stopping: delivery.stop.is_cancelled(),
            }
        })
    }

    /// Calls a dependency for a delivery once it may be called. It is away where `is_away` says so of an error, which is
    /// never due to the delivery.
    ///
    /// # Errors
    ///
    /// If the call fails, or the dependency may not be called when the backoff is over.
    pub async fn call<T, E: std::fmt::Display>(
        &self,
        delivery: &Delivery,
        calling: impl Future<Output = Result<T, E>>,
        is_away: impl FnOnce(&E) -> bool,
    ) -> Result<T, CallError<E>> {
        let mut call = loop {
            match self.try_call(&delivery.key()) {
                Some(call) => break call,
                None => self.wait(delivery).await.map_err(CallError::GivenBack)?,
            }
        };
        match calling.await {
            Err(error) if is_away(&error) => match call.failed(Away::Unreachable, &error) {
                Some(pause) => Err(CallError::Away { error, pause }),
                None => Err(CallError::Answered(error)),
            },
            answer => {
                call.answered();
                answer.map_err(CallError::Answered)
            }
        }
    }

    /// Whether the dependency may be called now.
    fn is_ready(&self) -> bool {
        let open = &self.state.borrow().open;
        open.as_ref().is_none_or(|open| open.is_due(Instant::now()))
    }

    /// For how long the circuit is open.
    pub fn open_for(&self) -> Option<Duration> {
        let open = &self.state.borrow().open;
        open.as_ref().map(|open| open.since.elapsed())
    }

    /// The right to call the dependency for a delivery, which its key tells from others: for any while the circuit is
    /// closed, for one at a time when a probe is due, else for none.
    pub fn try_call<'a>(&'a self, key: &str) -> Option<Call<'a>> {
        self.try_call_at(key, Instant::now())
    }

    fn try_call_at<'a>(&'a self, key: &str, now: Instant) -> Option<Call<'a>> {
        let mut granted = None;
        self.state.send_if_modified(|state| {
            let is_probe = state.open.is_some();
            if let Some(open) = &mut state.open {
                if !open.is_due(now) {
                    return false;
                }
                open.is_probed = true;
            }
            granted = Some(Call {
                breaker: self,
                key: key.to_owned(),
                changes: state.changes,
                is_probe,
                own_answers: 0,
            });
            // Whoever waits for the probe's time finds that it is taken.
            false
        });
        granted
    }

    fn record_open(&self, state: &mut State, away: Away, reason: String, now: Instant) -> Instant {
        let mut open = OpenCircuit {
            since: now,
            reason,
            next_probe: now,
            is_probed: false,
            intervals: PROBE_INTERVALS.build(),
        };
        open.postpone(away, now);
        let next_probe = open.next_probe;
        state.open = Some(open);
        state.changes += 1;
        self.open.add(1, &self.labels);
        tracing::warn!(
            dependency = self.name,
            "it is away; deliveries wait until it answers"
        );
        next_probe
    }

    fn record_closed(&self, state: &mut State) {
        if let Some(open) = state.open.take() {
            state.changes += 1;
            self.open.add(-1, &self.labels);
            let seconds = open.since.elapsed().as_secs();
            tracing::info!(dependency = self.name, away.seconds = seconds, "it answers again");
        }
    }
}

impl Drop for CircuitBreaker {
    fn drop(&mut self) {
        let is_open = i64::from(self.state.borrow().open.is_some());
        self.open.add(-is_open, &self.labels);
    }
}

/// One call of the dependency. Where nothing is told of it, it says nothing, and another may ask in its place.
#[must_use]
pub struct Call<'a> {
    breaker: &'a CircuitBreaker,
    key: String,
    /// The state's, when it began.
    changes: u64,
    is_probe: bool,
    own_answers: u64,
}

impl Call<'_> {
    /// The dependency answered, whatever it said of this delivery. That may be told again.
    pub fn answered(&mut self) {
        self.own_answers += 1;
        let was_probe = std::mem::take(&mut self.is_probe);
        self.breaker.state.send_if_modified(|state| {
            state.answers += 1;
            if was_probe {
                self.breaker.record_closed(state);
            }
            was_probe
        });
    }

    /// The dependency is away, for this reason. Gives the pause until it is asked again; none where the failure is the delivery's own:
    /// since it last failed the dependency answered others, and it answers now.
    pub fn failed(self, away: Away, reason: &dyn std::fmt::Display) -> Option<Duration> {
        self.failed_at(away, reason, Instant::now())
    }

    fn failed_at(mut self, away: Away, reason: &dyn std::fmt::Display, now: Instant) -> Option<Duration> {
        let was_probe = std::mem::take(&mut self.is_probe);
        let mut pause = None;
        self.breaker.state.send_if_modified(|state| {
            let is_own = self.fails_alone(state) && away != Away::Unreachable;
            let next_probe = match &mut state.open {
                None if is_own => return false,
                // It was away when this call began, and is back.
                None if state.changes != self.changes => now + asked_pause(away),
                None => self.breaker.record_open(state, away, reason.to_string(), now),
                Some(open) => {
                    if was_probe {
                        open.is_probed = false;
                        open.reason = reason.to_string();
                        open.postpone(away, now);
                    } else if !open.is_probed {
                        open.put_off_until(now + asked_pause(away));
                    }
                    open.next_probe.max(now)
                }
            };
            pause = Some(next_probe - now);
            true
        });
        pause
    }

    /// Whether others were answered since this delivery failed the last time; remembers that it failed now.
    fn fails_alone(&self, state: &mut State) -> bool {
        if state.failed.len() >= MAX_FAILED {
            state.failed.clear();
        }
        let before = state.failed.insert(self.key.clone(), state.answers);
        before.is_some_and(|before| state.answers - self.own_answers > before)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_probe {
            return;
        }
        self.breaker.state.send_modify(|state| {
            if let Some(open) = &mut state.open {
                open.is_probed = false;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const FAILING: Away = Away::Failing { retry_after: None };

    /// A breaker, and a clock that goes on when somebody waits.
    struct Scene {
        breaker: CircuitBreaker,
        now: Instant,
    }

    impl Scene {
        fn new() -> Self {
            Self {
                breaker: CircuitBreaker::new("test"),
                now: Instant::now(),
            }
        }

        fn call(&self, key: &str) -> Option<Call<'_>> {
            self.breaker.try_call_at(key, self.now)
        }

        /// A call that finds it away; gives the pause until the next.
        fn fail(&self, key: &str, away: Away) -> Option<Duration> {
            self.call(key)?.failed_at(away, &"refused", self.now)
        }

        fn answer(&self, key: &str) {
            self.call(key).expect("it may be called").answered();
        }

        /// The same, and waits for that pause.
        fn fail_and_wait(&mut self, key: &str, away: Away) -> Duration {
            let pause = self.fail(key, away).expect("the dependency is away");
            self.now += pause;
            pause
        }

        fn is_open(&self) -> bool {
            self.breaker.open_for().is_some()
        }
    }

    #[test]
    fn while_it_answers_nobody_waits() {
        let scene = Scene::new();
        assert!(scene.breaker.ready().now_or_never().is_some());
        let calls: Vec<_> = (0..3).map(|_| scene.call("any")).collect();
        assert!(calls.iter().all(Option::is_some));
        assert!(!scene.is_open());
    }

    #[tokio::test]
    async fn while_it_is_away_one_at_a_time_asks_and_an_answer_wakes_all() {
        let breaker = CircuitBreaker::new("test");
        let call = |key| breaker.try_call(key);
        assert!(
            call("first")
                .and_then(|call| call.failed(Away::Unreachable, &"refused"))
                .is_some()
        );
        assert!(call("second").is_none(), "too early");
        breaker.ready().await;
        let mut probe = call("second").expect("it is due");
        assert!(call("third").is_none(), "it is asked already");
        assert!(breaker.ready().now_or_never().is_none());
        let waiting = futures_util::future::join_all((0..3).map(|_| breaker.ready()));
        tokio::join!(waiting, async { probe.answered() });
        assert!(call("third").is_some());
        assert_eq!(breaker.open_for(), None);
    }

    #[tokio::test]
    async fn a_probe_that_tells_nothing_leaves_it_to_another() {
        let breaker = CircuitBreaker::new("test");
        let call = |key| breaker.try_call(key);
        assert!(
            call("first")
                .and_then(|call| call.failed(Away::Unreachable, &"refused"))
                .is_some()
        );
        breaker.ready().await;
        let probe = call("second");
        tokio::join!(breaker.ready(), async { drop(probe) });
        assert!(call("third").is_some());
    }

    #[test]
    fn probes_slow_down_to_four_seconds() {
        for away in [Away::Unreachable, FAILING] {
            let mut scene = Scene::new();
            let seconds: Vec<f64> = (0..20)
                .map(|number| scene.fail_and_wait(&number.to_string(), away).as_secs_f64())
                .collect();
            assert!((0.5..=1.0).contains(&seconds[0]), "{seconds:?}");
            for pause in &seconds[10..] {
                assert!((2.0..=4.0).contains(pause), "{seconds:?}");
            }
        }
    }

    #[test]
    fn one_that_says_when_to_come_back_is_not_asked_before_and_for_an_hour_at_most() {
        for (asked, granted) in [(600, 600), (7200, 3600)] {
            let mut scene = Scene::new();
            let granted = Duration::from_secs(granted);
            let retry_after = Some(Duration::from_secs(asked));
            assert_eq!(scene.fail("first", Away::Failing { retry_after }), Some(granted));
            scene.now += granted - Duration::from_millis(1);
            assert!(scene.call("second").is_none(), "too early");
            scene.now += Duration::from_millis(1);
            assert!(scene.call("second").is_some());
        }
    }

    #[test]
    fn what_fails_again_while_others_are_answered_fails_alone() {
        let mut scene = Scene::new();
        scene.fail_and_wait("poison", FAILING);
        scene.answer("other");
        assert_eq!(scene.fail("poison", FAILING), None);
        assert!(!scene.is_open(), "it holds up others");
        scene.fail_and_wait("poison", FAILING);
        scene.answer("other");
        assert!(
            scene.fail("poison", Away::Unreachable).is_some(),
            "that is not its fault"
        );
    }

    #[test]
    fn its_own_answer_is_none_that_others_had() {
        let mut scene = Scene::new();
        for _ in 0..3 {
            let mut call = scene.call("one").expect("it may be called");
            call.answered();
            let pause = call.failed_at(FAILING, &"503", scene.now).expect("it fails all");
            scene.now += pause;
        }
    }

    #[test]
    fn what_began_before_it_was_away_does_not_speak_of_now() {
        let Scene { breaker, now } = Scene::new();
        let call = |key, now| breaker.try_call_at(key, now).expect("it may be called");
        let (mut answered, failed) = (call("early", now), call("early", now));
        let pause = call("first", now)
            .failed_at(FAILING, &"503", now)
            .expect("it is away");
        answered.answered();
        assert!(breaker.open_for().is_some(), "an old connection proves nothing");
        let now = now + pause;
        call("probe", now).answered();
        assert_eq!(failed.failed_at(FAILING, &"503", now), Some(Duration::ZERO));
        assert_eq!(breaker.open_for(), None);
    }
}
