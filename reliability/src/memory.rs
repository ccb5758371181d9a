//! Memory of the services while a run goes on: whether it grows.

use std::time::Duration;

use testkit::{Stack, measure::resident_bytes};

/// The services that are watched.
const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];
const MINUTE: Duration = Duration::from_secs(60);

/// Resident memory of a service, in bytes: means over a minute.
#[derive(Debug)]
pub struct Growth {
    /// Which one.
    pub service: &'static str,
    /// In the third minute.
    pub third_minute: u64,
    /// In the last minute.
    pub last_minute: u64,
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
    /// Takes a sample of each service that runs.
    pub fn take(&mut self, stack: &Stack, at: Duration) {
        for service in SERVICES {
            let running = stack.service(service);
            // One that has just been killed has none.
            if let Ok(bytes) = running.and_then(|part| resident_bytes(part, "VmRSS")) {
                self.0.push(Sample { service, at, bytes });
            }
        }
    }

    /// How it grew between the third minute and the last, where there are more than three.
    pub fn growth(&self) -> Vec<Growth> {
        let end = self.0.last().map_or(Duration::ZERO, |sample| sample.at);
        if end < 4 * MINUTE {
            return Vec::new();
        }
        let growth = |service| Growth {
            service,
            third_minute: self.mean(service, 2 * MINUTE, 3 * MINUTE),
            last_minute: self.mean(service, end - MINUTE, end),
        };
        SERVICES.map(growth).into()
    }

    fn mean(&self, service: &str, from: Duration, to: Duration) -> u64 {
        let within = self
            .0
            .iter()
            .filter(|sample| sample.service == service && (from..=to).contains(&sample.at));
        let bytes: Vec<u64> = within.map(|sample| sample.bytes).collect();
        bytes.iter().sum::<u64>() / (bytes.len() as u64).max(1)
    }
}
