//! The time by which the ledger counts: the broker's. Whatever the clocks of the notifiers say, one is as good as another: none opens
//! tomorrow's windows today, for itself and so for all.

use std::time::{Duration, Instant};

use time::OffsetDateTime;

use crate::{IssueStoreError, Issues};

/// How long it holds what the broker said: a host that slept, whose clock stood still, counts by a time that is past no longer than that.
const READ_HOLDS: Duration = Duration::from_secs(60);

/// The broker's clock, as whoever writes the ledger knows it.
#[derive(Debug, Default)]
pub struct BrokerClock(Option<Reading>);

/// What the broker said, and when it was heard. It lags by the way here; it is never ahead.
#[derive(Debug, Clone, Copy)]
struct Reading {
    time: OffsetDateTime,
    heard: Instant,
}

impl BrokerClock {
    /// The broker's time now. It is asked once a minute.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn now(&mut self, issues: &Issues) -> Result<OffsetDateTime, IssueStoreError> {
        let known = self.0.filter(|reading| reading.heard.elapsed() < READ_HOLDS);
        let reading = match known {
            Some(reading) => reading,
            None => Reading {
                time: issues.broker_time().await?,
                heard: Instant::now(),
            },
        };
        self.0 = Some(reading);
        Ok(reading.at(Instant::now()))
    }
}

impl Reading {
    fn at(self, now: Instant) -> OffsetDateTime {
        self.time + now.saturating_duration_since(self.heard)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use site_events::IssueId;
    use time::macros::datetime;
    use uuid::Uuid;

    use super::*;
    use crate::{Claim, Ledger, Outcome, SendingLimits};

    const NOON: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const DAY: u64 = 24 * 60 * 60;
    const PER_DAY: usize = 5;

    /// A notifier that hears the broker's time when it did not for a minute, so many milliseconds late.
    struct Notifier {
        lag: Duration,
        reading: Option<Reading>,
    }

    impl Notifier {
        /// What it takes for the time, so long after noon.
        fn time(&mut self, begin: Instant, since_noon: Duration) -> OffsetDateTime {
            let now = begin + since_noon;
            let known = self.reading.filter(|reading| now - reading.heard < READ_HOLDS);
            let reading = known.unwrap_or(Reading {
                time: NOON + since_noon.saturating_sub(self.lag),
                heard: now,
            });
            self.reading = Some(reading);
            reading.at(now)
        }
    }

    proptest! {
        /// However late notifiers hear it, within a second: after the first one of a day, no more are sent in it than may be.
        #[test]
        fn notifiers_that_hear_the_time_late_keep_a_daily_limit_together(
            lags in prop::array::uniform3(0u64..1_000),
            steps in prop::collection::vec((0usize..3, 0u64..20_000_000), 0..200),
        ) {
            let begin = Instant::now();
            let mut notifiers = lags.map(|lag| Notifier { lag: Duration::from_millis(lag), reading: None });
            let limits = SendingLimits { per_day: u32::try_from(PER_DAY).ok(), ..SendingLimits::default() };
            let (mut ledger, mut since_noon) = (Ledger::default(), Duration::ZERO);
            let issue = IssueId::named("smart-home");
            let mut sent: BTreeMap<u64, usize> = BTreeMap::new();
            for (number, (notifier, pause)) in steps.into_iter().enumerate() {
                since_noon += Duration::from_millis(pause);
                let now = notifiers[notifier].time(begin, since_noon);
                let sending = Uuid::from_u128(number as u128);
                if ledger.claim(sending, sending, (issue, "a.example"), now, &limits) != Claim::Granted {
                    continue;
                }
                ledger.finish(sending, sending, issue, Outcome::Sent, now);
                let since_midnight = since_noon + Duration::from_secs(DAY / 2);
                if !since_midnight.as_secs().is_multiple_of(DAY) {
                    *sent.entry(since_midnight.as_secs() / DAY).or_default() += 1;
                }
            }
            prop_assert!(sent.values().all(|mails| *mails <= PER_DAY), "{sent:?}");
        }
    }
}
