//! Pace of a body: whether it arrives as fast as it must. Only time counts in which we wait for the visitor.

use std::{
    num::NonZeroU32,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, timeout};

use crate::{api_error::ApiError, limits::Limit};

/// How far a body may be behind its least rate where nobody waits for the place that it takes. As long nothing may arrive.
const LONGEST_PATIENCE: Duration = Duration::from_secs(15);
/// How far it may be behind however many wait: a line that is merely bad stands still for as long.
const SHORTEST_PATIENCE: Duration = Duration::from_secs(2);
/// While somebody waits, a body must come by its least rate once more for each so long that its visitor was waited for before, and
/// at last by [`MOST_ASKED`] times of it: so who sends the least, and that only, holds up others for seconds, not for minutes.
const ASKED_MORE_AFTER: Duration = Duration::from_secs(5);
const MOST_ASKED: f64 = 4.0;
/// How often it is looked whether somebody waits.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);

/// The least rate of a body, in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastRate(pub NonZeroU32);

impl LeastRate {
    /// How long so many bytes may take.
    fn time_of(self, bytes: u64) -> Duration {
        Duration::from_secs_f64(bytes as f64 / f64::from(self.0.get()))
    }
}

/// How many wait for what others hold.
#[derive(Debug, Clone, Default)]
pub struct Waiting(Arc<AtomicUsize>);

/// One that waits.
pub struct Waits(Waiting);

impl Waiting {
    /// Counts one more until it is dropped.
    pub fn begin(&self) -> Waits {
        self.0.fetch_add(1, Ordering::Relaxed);
        Waits(self.clone())
    }

    fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// How far a body may be behind that holds what they wait for: the more of them, the less.
    fn patience(&self) -> Duration {
        let waiting = u32::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        (LONGEST_PATIENCE / waiting.saturating_add(1)).max(SHORTEST_PATIENCE)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many bytes of a body have arrived.
#[derive(Debug, Clone, Default)]
pub struct Received(Arc<AtomicU64>);

impl Received {
    /// Counts so many more.
    pub fn add(&self, bytes: usize) {
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// How many there are by now.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Pace of one body.
pub struct Pace {
    rate: LeastRate,
    received: Received,
    waiting: Waiting,
    /// What of it is in `behind` already.
    counted: u64,
    /// How long its visitor was waited for.
    age: Duration,
    /// How much longer its visitor was waited for than what arrived may take. What came early is no credit: who sends fast, and
    /// then nothing, holds a place for no longer than who sends nothing.
    behind: Duration,
}

impl Pace {
    /// The pace of a body that is `received`, while these wait for what it holds.
    pub fn new(rate: LeastRate, received: Received, waiting: Waiting) -> Self {
        Self {
            rate,
            received,
            waiting,
            counted: 0,
            age: Duration::ZERO,
            behind: Duration::ZERO,
        }
    }

    /// Waits for what arrives.
    ///
    /// # Errors
    ///
    /// If the body is further behind than those who wait can be asked to bear.
    pub async fn arriving<T>(&mut self, read: impl Future<Output = T>) -> Result<T, ApiError> {
        let mut read = pin!(read);
        let mut looked = Instant::now();
        loop {
            let arrived = timeout(LOOK_INTERVAL, &mut read).await;
            let now = Instant::now();
            self.waited(now - looked);
            looked = now;
            if self.behind >= self.waiting.patience() {
                return Err(Limit::Pace.exceeded());
            }
            if let Ok(arrived) = arrived {
                return Ok(arrived);
            }
        }
    }

    fn waited(&mut self, time: Duration) {
        let received = self.received.bytes();
        let new = received - self.counted;
        self.counted = received;
        self.age += time;
        let asked = time.mul_f64(self.times_asked());
        self.behind = (self.behind + asked).saturating_sub(self.rate.time_of(new));
    }

    fn times_asked(&self) -> f64 {
        if self.waiting.is_any() {
            (1.0 + self.age.div_duration_f64(ASKED_MORE_AFTER)).min(MOST_ASKED)
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const RATE: LeastRate = LeastRate(NonZeroU32::new(1000).expect("not zero"));

    fn pace() -> Pace {
        Pace::new(RATE, Received::default(), Waiting::default())
    }

    #[test]
    fn who_sends_at_the_least_rate_is_never_behind_and_who_sends_less_more_and_more() {
        let (mut enough, mut less) = (pace(), pace());
        for _ in 0..100 {
            enough.received.add(1000);
            enough.waited(SECOND);
            less.received.add(900);
            less.waited(SECOND);
        }
        assert_eq!(enough.behind, Duration::ZERO);
        let behind = less.behind.as_secs_f64();
        assert!((9.9..10.1).contains(&behind), "{behind}");
    }

    #[test]
    fn a_quick_beginning_is_no_credit_and_a_pause_can_be_made_up_for() {
        let mut pace = pace();
        pace.received.add(1_000_000);
        pace.waited(SECOND);
        pace.waited(10 * SECOND);
        assert_eq!(pace.behind, 10 * SECOND);
        pace.received.add(6000);
        pace.waited(SECOND);
        assert_eq!(pace.behind, 5 * SECOND);
    }

    #[test]
    fn while_somebody_waits_more_is_asked_of_a_body_the_longer_it_takes() {
        let waiting = Waiting::default();
        let mut pace = Pace::new(RATE, Received::default(), waiting.clone());
        let mut after = |seconds: u32, bytes: usize| {
            for _ in 0..seconds {
                pace.received.add(bytes);
                pace.waited(SECOND);
            }
            pace.behind
        };
        assert_eq!(after(20, 1000), Duration::ZERO);
        let waits = waiting.begin();
        assert_eq!(after(10, 4000), Duration::ZERO);
        assert_eq!(after(4, 1000), 12 * SECOND);
        drop(waits);
        assert_eq!(after(4, 1000), 12 * SECOND);
    }

    #[test]
    fn the_more_wait_the_less_a_body_may_be_behind() {
        let waiting = Waiting::default();
        assert_eq!(waiting.patience(), LONGEST_PATIENCE);
        let two = [waiting.begin(), waiting.begin()];
        assert_eq!(waiting.patience(), LONGEST_PATIENCE / 3);
        let many: Vec<Waits> = (0..1000).map(|_| waiting.begin()).collect();
        assert_eq!(waiting.patience(), SHORTEST_PATIENCE);
        drop((two, many));
        assert_eq!(waiting.patience(), LONGEST_PATIENCE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stands_still_is_given_up_soon_where_many_wait_for_its_place() {
        let waiting = Waiting::default();
        let _many: Vec<Waits> = (0..20).map(|_| waiting.begin()).collect();
        let mut pace = Pace::new(RATE, Received::default(), waiting);
        let begun = Instant::now();
        let refused = pace.arriving(std::future::pending::<()>()).await;
        let refused = refused.expect_err("nothing arrives");
        assert_eq!(refused.status(), http::StatusCode::REQUEST_TIMEOUT);
        assert!(begun.elapsed() < 2 * SHORTEST_PATIENCE, "{:?}", begun.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn drops_that_come_more_often_than_anybody_looks_are_too_slow_like_nothing() {
        let waiting = Waiting::default();
        let _many: Vec<Waits> = (0..20).map(|_| waiting.begin()).collect();
        let mut pace = Pace::new(RATE, Received::default(), waiting);
        let dripping = async {
            loop {
                let drop = sleep(LOOK_INTERVAL / 5);
                pace.arriving(drop).await?;
                pace.received.add(1);
            }
        };
        let refused: Result<Result<(), ApiError>, _> = timeout(2 * SHORTEST_PATIENCE, dripping).await;
        assert!(refused.is_ok_and(|dripped| dripped.is_err()));
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_is_read_does_not_count() {
        let mut pace = pace();
        pace.arriving(std::future::ready(())).await.expect("it is there");
        sleep(Duration::from_millis(300)).await;
        pace.arriving(std::future::ready(())).await.expect("it is there");
        assert!(pace.behind < Duration::from_millis(100), "{:?}", pace.behind);
    }
}
