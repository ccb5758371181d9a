//! Processor time of the processes that work for a contender.

use std::{process, time::Duration};

use anyhow::Context;
use testkit::{
    ChildProcess,
    measure::{children, median, processor_time},
};

/// A figure of each process, by its name: microseconds of its processor time a request, or megabytes of its memory.
pub type PerProcess = Vec<(String, f64)>;

/// Takes the processor time of processes from its start on.
pub struct CpuMeter {
    /// Name and ids: with a process goes what it started, such as nginx's workers.
    parts: Vec<(String, Vec<u32>)>,
    before: Vec<Duration>,
}

impl CpuMeter {
    /// Starts to.
    ///
    /// # Errors
    ///
    /// If one of them has ended.
    pub fn start(processes: &[&ChildProcess]) -> anyhow::Result<Self> {
        let part = |process: &&ChildProcess| {
            let name = process.name().to_owned();
            let pid = process.pid().with_context(|| format!("{name} ended"))?;
            Ok((name, [vec![pid], children(pid)?].concat()))
        };
        let parts: Vec<(String, Vec<u32>)> = processes.iter().map(part).collect::<anyhow::Result<_>>()?;
        let before = times(&parts)?;
        Ok(Self { parts, before })
    }

    /// Takes that of this process, too: where it is the load and what stores.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub fn and_own(mut self) -> anyhow::Result<Self> {
        let pid = process::id();
        self.before.push(processor_time(pid)?);
        self.parts.push(("load and store".to_owned(), vec![pid]));
        Ok(self)
    }

    /// What each has taken since, for each of so many requests.
    ///
    /// # Errors
    ///
    /// If one of them has ended.
    pub fn per(self, requests: u64) -> anyhow::Result<PerProcess> {
        let after = times(&self.parts)?;
        let spent = after.into_iter().zip(self.before);
        let micros = spent.map(|(after, before)| (after - before).as_secs_f64() * 1e6 / requests as f64);
        let names = self.parts.into_iter().map(|(name, _)| name);
        Ok(names.zip(micros).collect())
    }
}

fn times(parts: &[(String, Vec<u32>)]) -> anyhow::Result<Vec<Duration>> {
    let time = |(_, pids): &(String, Vec<u32>)| pids.iter().map(|pid| processor_time(*pid)).sum();
    parts.iter().map(time).collect()
}

/// The medians of turns, in each of which the same processes worked.
pub fn medians<'a>(turns: impl Iterator<Item = &'a PerProcess> + Clone) -> PerProcess {
    let first = turns.clone().next().into_iter().flatten();
    first
        .enumerate()
        .map(|(at, (name, _))| {
            let micros = turns.clone().map(|turn| turn[at].1).collect();
            (name.clone(), median(micros))
        })
        .collect()
}

/// As it stands in a table.
pub fn cell(figures: &PerProcess) -> String {
    let parts: Vec<String> = figures
        .iter()
        .map(|(name, figure)| format!("{name} {figure:.0}"))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_process_has_the_median_of_its_own() {
        let turn = |gateway: f64, nats: f64| vec![("gateway".to_owned(), gateway), ("nats".to_owned(), nats)];
        let turns = [turn(3.0, 9.0), turn(1.0, 7.0), turn(2.0, 8.0)];
        let medians = medians(turns.iter());
        assert_eq!(medians, turn(2.0, 8.0));
        assert_eq!(cell(&medians), "gateway 2, nats 8");
    }
}
