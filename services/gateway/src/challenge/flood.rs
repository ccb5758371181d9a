//! Flood: whether more forms come within a minute than people send.

use std::{
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const MINUTE: Duration = Duration::from_secs(60);

/// Counts what arrives, and knows for a minute after the last excess that there is a flood.
pub struct Flood {
    per_minute: NonZeroU32,
    minute: Mutex<Minute>,
}

struct Minute {
    began: Instant,
    submissions: u32,
    last_excess: Option<Instant>,
}

impl Flood {
    /// A flood is more than so many submissions a minute.
    pub fn above(per_minute: NonZeroU32, now: Instant) -> Self {
        Self {
            per_minute,
            minute: Mutex::new(Minute {
                began: now,
                submissions: 0,
                last_excess: None,
            }),
        }
    }

    /// Counts a submission, and says whether it comes in a flood.
    pub fn arrives(&self, now: Instant) -> bool {
        let mut minute = self.minute.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(minute.began) >= MINUTE {
            minute.began = now;
            minute.submissions = 0;
        }
        minute.submissions = minute.submissions.saturating_add(1);
        if minute.submissions > self.per_minute.get() {
            minute.last_excess = Some(now);
        }
        minute
            .last_excess
            .is_some_and(|excess| now.saturating_duration_since(excess) < MINUTE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: NonZeroU32 = NonZeroU32::new(10).expect("not zero");

    #[test]
    fn what_people_send_in_a_minute_is_no_flood_and_more_is_one() {
        let begin = Instant::now();
        let flood = Flood::above(TEN, begin);
        let at = |seconds| flood.arrives(begin + Duration::from_secs(seconds));
        assert!((0..10).all(|second| !at(second)));
        assert!(at(10));
    }

    #[test]
    fn it_lasts_from_minute_to_minute_and_is_over_a_minute_after_its_last_excess() {
        let begin = Instant::now();
        let flood = Flood::above(TEN, begin);
        // Twelve a minute, for five minutes.
        let arrivals = (0..60).map(|n| flood.arrives(begin + Duration::from_secs(5 * n)));
        let floods: Vec<bool> = arrivals.collect();
        assert!(floods[..10].iter().all(|is_flood| !is_flood));
        assert!(floods[10..].iter().all(|is_flood| *is_flood));
        assert!(!flood.arrives(begin + Duration::from_secs(5 * 59) + MINUTE));
    }
}
