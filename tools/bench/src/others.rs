//! What others take of this machine: a rate that was measured beside compilers says little.

use std::{fs, time::Duration};

use anyhow::Context;
use tokio::time::sleep;

const SAMPLE: Duration = Duration::from_secs(2);

/// The share of the processors' time that is taken just now, while nothing of ours runs.
///
/// # Errors
///
/// If the system does not tell.
pub async fn share_taken() -> anyhow::Result<f64> {
    let before = Ticks::now()?;
    sleep(SAMPLE).await;
    Ok(Ticks::now()?.share_since(&before))
}

/// Time of all processors since the start of the system (proc(5): `cpu` of `/proc/stat`).
struct Ticks {
    all: u64,
    idle: u64,
}

impl Ticks {
    fn now() -> anyhow::Result<Self> {
        Self::of(&fs::read_to_string("/proc/stat")?)
    }

    fn of(stat: &str) -> anyhow::Result<Self> {
        let line = stat.lines().next().context("/proc/stat is empty")?;
        let fields = line.split_whitespace().skip(1).map(str::parse);
        let fields = fields.collect::<Result<Vec<u64>, _>>()?;
        // What guests take stands in the first fields, too. The fourth is idle time, the fifth what waits for a disk.
        let [all, idle] = [fields.iter().take(8).sum(), fields.iter().skip(3).take(2).sum()];
        Ok(Self { all, idle })
    }

    fn share_since(&self, before: &Self) -> f64 {
        let (all, idle) = (self.all - before.all, self.idle - before.idle);
        (all - idle) as f64 / all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_waits_for_a_disk_is_free() -> anyhow::Result<()> {
        let before = Ticks::of("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1 1 1 1")?;
        let after = Ticks::of("cpu  30 0 20 130 20 0 0 0 9 0")?;
        assert_eq!(after.share_since(&before), 0.3);
        Ok(())
    }
}
