//! Memory of the services while a run goes on: whether it grows.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use testkit::{Stack, measure::resident_bytes_of};
use tokio::time::{Instant, interval};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{faults::SERVICES, plan::STEADY};

const MINUTE: Duration = Duration::from_secs(60);
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);

/// Resident memory of one process of a service, in bytes, in each minute of the steady part of a soak: what it is at rest, so that
/// what a fault makes pile up for some seconds is no growth.
#[derive(Debug)]
pub struct Growth {
    /// Which one.
    pub service: &'static str,
    /// From the third minute to the fifteenth, where there are samples.
    pub minutes: Vec<Option<u64>>,
}

impl Growth {
    /// In the first and the last of the minutes.
    pub fn ends(&self) -> Option<(u64, u64)> {
        let first = self.minutes.first().copied().flatten()?;
        Some((first, self.minutes.last().copied().flatten()?))
    }
}

/// Samples the memory of the services, until it is dropped.
pub struct MemoryWatch {
    shared: Arc<Mutex<Watched>>,
    _sampling: DropGuard,
}

#[derive(Default)]
struct Watched {
    processes: HashMap<&'static str, u32>,
    samples: Vec<Sample>,
}

struct Sample {
    service: &'static str,
    at: Duration,
    bytes: u64,
}

impl MemoryWatch {
    /// Begins to.
    pub fn start() -> Self {
        let shared = Arc::<Mutex<Watched>>::default();
        let stop = CancellationToken::new();
        tokio::spawn(stop.clone().run_until_cancelled_owned(sample(shared.clone())));
        Self {
            shared,
            _sampling: stop.drop_guard(),
        }
    }

    /// Goes on with the processes that run now: a fault may have replaced some.
    pub fn follow(&self, stack: &Stack) {
        let pid = |service| Some((service, stack.service(service).ok()?.pid()?));
        locked(&self.shared).processes = SERVICES.into_iter().filter_map(pid).collect();
    }

    /// How it grew in the steady part of a soak.
    pub fn growth(&self) -> Vec<Growth> {
        growth(&locked(&self.shared).samples)
    }
}

async fn sample(shared: Arc<Mutex<Watched>>) {
    let begun = Instant::now();
    let mut ticks = interval(SAMPLE_INTERVAL);
    loop {
        ticks.tick().await;
        let mut watched = locked(&shared);
        let at = begun.elapsed();
        // One that has just been killed has none.
        let sample = |(service, pid): (&&'static str, &u32)| {
            let bytes = resident_bytes_of(*pid, "VmRSS").ok()?;
            Some(Sample { service, at, bytes })
        };
        let samples: Vec<Sample> = watched.processes.iter().filter_map(sample).collect();
        watched.samples.extend(samples);
    }
}

fn locked(shared: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn growth(samples: &[Sample]) -> Vec<Growth> {
    let minutes = || (0..).map(|minute| STEADY.start + MINUTE * minute);
    let of = |service| {
        let minutes = minutes().take_while(|start| *start < STEADY.end);
        let at_rest = |start| at_rest(samples, service, start..start + MINUTE);
        Growth {
            service,
            minutes: minutes.map(at_rest).collect(),
        }
    };
    SERVICES.map(of).into()
}

/// What one sample in ten of this time is below.
fn at_rest(samples: &[Sample], service: &str, time: Range<Duration>) -> Option<u64> {
    let within = samples
        .iter()
        .filter(|sample| sample.service == service && time.contains(&sample.at));
    let mut bytes: Vec<u64> = within.map(|sample| sample.bytes).collect();
    bytes.sort_unstable();
    bytes.get(bytes.len() / 10).copied()
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
        let mut samples = vec![
            sample("contact", 119, 1),
            sample("contact", 180, 900),
            sample("contact", 845, 30),
            sample("contact", 901, 1),
            sample("careers", 130, 10),
            sample("newsletter", 850, 10),
        ];
        // Of ten samples the smallest is left out.
        samples.extend((120..130).map(|second| sample("contact", second, second * 10)));
        let growth = growth(&samples);
        let ends = |service| {
            let of_it = growth.iter().find(|growth| growth.service == service);
            of_it.and_then(Growth::ends)
        };
        assert_eq!(ends("contact"), Some((1_210, 30)));
        for unknown in ["careers", "newsletter", "gateway"] {
            assert_eq!(ends(unknown), None, "{unknown}");
        }
        assert_eq!(growth[0].minutes.len(), 13);
    }
}
