//! Sending limits of the newsletter, and the mails that count against them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

/// Maximum backlog of the notifiers.
pub const MAX_PENDING: u64 = 250;
/// Retry interval while the queue is full.
const FULL_QUEUE_PAUSE: Duration = Duration::from_millis(250);
const DAY: i64 = 24 * 60 * 60;

/// Maximum numbers of newsletter mails; `None` means unlimited.
#[derive(Debug, Clone, Copy, Default)]
pub struct SendingLimits {
    /// Within a second.
    pub per_second: Option<u32>,
    /// Within a day (UTC).
    pub per_day: Option<u32>,
}

/// State of the work queue.
#[derive(Debug, Clone, Copy)]
pub struct Queue {
    /// Number of mails that the queue ever accepted, which is the sequence of its last message.
    pub taken: u64,
    /// Number of mails in the queue that no notifier has received.
    pub pending: u64,
}

/// A second or a day, numbered since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    number: i64,
    /// [`Queue::taken`] at the window's start, minus the mails pending then, which count in this window.
    begin: u64,
}

impl Window {
    fn enter(&mut self, number: i64, queue: Queue) {
        if number > self.number {
            let begin = queue.taken.saturating_sub(queue.pending);
            *self = Self { number, begin };
        }
    }

    fn spent(self, queue: Queue) -> u64 {
        queue.taken.saturating_sub(self.begin)
    }
}

/// Stored counts of mails against the limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitTable {
    second: Window,
    day: Window,
}

impl LimitTable {
    /// Reserves a place in the queue for a mail.
    ///
    /// # Errors
    ///
    /// The time to wait if a limit is reached or the queue is full.
    pub fn take(
        &mut self,
        queue: &mut Queue,
        limits: &SendingLimits,
        now: OffsetDateTime,
    ) -> Result<(), Duration> {
        self.enter(now.unix_timestamp(), *queue);
        let rows = [
            (self.day, DAY, limits.per_day),
            (self.second, 1, limits.per_second),
        ];
        for (window, length, allowed) in rows {
            if allowed.is_some_and(|allowed| window.spent(*queue) >= u64::from(allowed)) {
                return Err(time_until((window.number + 1) * length, now));
            }
        }
        if queue.pending >= MAX_PENDING {
            return Err(FULL_QUEUE_PAUSE);
        }
        queue.taken += 1;
        queue.pending += 1;
        Ok(())
    }

    /// Number of mails that count against today's limit (UTC).
    pub fn mails_of_the_day(&self, queue: Queue, now: OffsetDateTime) -> u64 {
        let is_today = now.unix_timestamp().div_euclid(DAY) == self.day.number;
        if is_today { self.day.spent(queue) } else { 0 }
    }

    fn enter(&mut self, time: i64, queue: Queue) {
        self.second.enter(time, queue);
        self.day.enter(time.div_euclid(DAY), queue);
    }
}

fn time_until(then: i64, now: OffsetDateTime) -> Duration {
    let nanoseconds = i128::from(then) * 1_000_000_000 - now.unix_timestamp_nanos();
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOON: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const ONE_DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// Simulated newsletter service. Its notifiers send mails only when the test says so.
    struct Service {
        table: LimitTable,
        queue: Queue,
        limits: SendingLimits,
        now: OffsetDateTime,
    }

    impl Service {
        fn with(set: impl FnOnce(&mut SendingLimits)) -> Self {
            let mut limits = SendingLimits::default();
            set(&mut limits);
            Self {
                table: LimitTable::default(),
                queue: Queue {
                    taken: 40,
                    pending: 0,
                },
                limits,
                now: NOON,
            }
        }

        /// Reserves as many mails as possible; returns their number and the wait.
        fn hand_out(&mut self) -> (u64, Duration) {
            let before = self.queue.taken;
            loop {
                let taken = self.table.take(&mut self.queue, &self.limits, self.now);
                if let Err(wait) = taken {
                    return (self.queue.taken - before, wait);
                }
            }
        }
    }

    #[test]
    fn each_window_hands_out_its_limit() {
        for (mut service, seconds) in [
            (Service::with(|limits| limits.per_second = Some(5)), 1),
            (Service::with(|limits| limits.per_day = Some(5)), 12 * 60 * 60),
        ] {
            let wait = Duration::from_secs(seconds);
            assert_eq!(service.hand_out(), (5, wait));
            service.queue.pending = 0;
            assert_eq!(service.hand_out(), (0, wait));
            service.now += wait;
            assert_eq!(service.hand_out().0, 5);
        }
    }

    #[test]
    fn waiting_mails_count_in_the_new_day() {
        let mut service = Service::with(|limits| limits.per_day = Some(100));
        assert_eq!(service.hand_out().0, 100);
        service.queue.pending = 30;
        service.now += ONE_DAY;
        assert_eq!(service.hand_out().0, 70);
        let today = service.table.mails_of_the_day(service.queue, service.now);
        assert_eq!(today, 100);
    }

    #[test]
    fn other_services_mails_count_in_the_daily_limit() {
        let mut service = Service::with(|limits| limits.per_day = Some(100));
        assert_eq!(service.hand_out().0, 100);
        service.queue.pending = 0;
        let written = service.table.clone();
        service.now += ONE_DAY;
        assert_eq!(service.hand_out().0, 100);
        service.table = written;
        service.queue.pending = 100;
        assert_eq!(service.hand_out().0, 0);

        let mut service = Service::with(|limits| limits.per_day = Some(100));
        service.table.enter(NOON.unix_timestamp(), service.queue);
        service.queue.taken += 61;
        assert_eq!(service.hand_out().0, 39);
    }

    #[test]
    fn the_queue_is_kept_short() {
        let mut service = Service::with(|_| {});
        assert_eq!(service.hand_out(), (MAX_PENDING, FULL_QUEUE_PAUSE));
        service.queue.pending -= 3;
        assert_eq!(service.hand_out().0, 3);
    }
}
