//! Memory of the services while a run goes on: whether it grows.

use std::{ops::Range, time::Duration};

use testkit::{Stack, measure::resident_bytes};

use crate::plan::STEADY;

/// The services that are watched.
const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];
const MINUTE: Duration = Duration::from_secs(60);

/// Resident memory of one process of a service, in bytes: means over a minute, where there are samples.
#[derive(Debug)]
pub struct Growth {
    /// Which one.
    pub service: &'static str,
    /// In the first minute of the steady part of a soak, its third.
    pub third_minute: Option<u64>,
    /// In the last minute of the steady part, its fifteenth.
    pub fifteenth_minute: Option<u64>,
}

/// What was resident, and when.
#[derive(Default)]
pub struct Samples(Vec<Sample>);

struct Sample {
    service: &'static str,
    at: Duration,
    bytes: u64,
}

impl Samples {
    /// Takes a sample of each service that runs, or stands still.
    pub fn take(&mut self, stack: &Stack, at: Duration) {
        for service in SERVICES {
            let running = stack.service(service);
            // One that has just been killed has none.
            if let Ok(bytes) = running.and_then(|part| resident_bytes(part, "VmRSS")) {
                self.0.push(Sample { service, at, bytes });
            }
        }
    }

    /// How it grew in the steady part of a soak.
    pub fn growth(&self) -> Vec<Growth> {
        let growth = |service| Growth {
            service,
            third_minute: self.mean(service, STEADY.start..STEADY.start + MINUTE),
            fifteenth_minute: self.mean(service, STEADY.end - MINUTE..STEADY.end),
        };
        SERVICES.map(growth).into()
    }

    fn mean(&self, service: &str, minute: Range<Duration>) -> Option<u64> {
        let within = self
            .0
            .iter()
            .filter(|sample| sample.service == service && minute.contains(&sample.at));
        let bytes: Vec<u64> = within.map(|sample| sample.bytes).collect();
        bytes.iter().sum::<u64>().checked_div(bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_from_the_third_minute_to_the_fifteenth_and_unknown_without_samples() {
        let sample = |service, seconds, bytes| Sample {
            service,
            at: Duration::from_secs(seconds),
            bytes,
        };
        let mut samples = Samples(vec![
            sample("contact", 119, 900),
            sample("contact", 120, 10),
            sample("contact", 179, 20),
            sample("contact", 180, 900),
            sample("contact", 845, 30),
            sample("contact", 901, 900),
            sample("careers", 130, 10),
        ]);
        samples.0.push(sample("newsletter", 850, 10));
        let growth = samples.growth();
        let of = |service| {
            let of_it = growth.iter().find(|growth| growth.service == service);
            of_it.map(|growth| (growth.third_minute, growth.fifteenth_minute))
        };
        assert_eq!(of("contact"), Some((Some(15), Some(30))));
        assert_eq!(of("careers"), Some((Some(10), None)));
        assert_eq!(of("newsletter"), Some((None, Some(10))));
        assert_eq!(of("gateway"), Some((None, None)));
    }
}
