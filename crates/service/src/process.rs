//! Process metrics: resident memory and CPU time from `/proc`. Where there is none, nothing is measured.

use std::fs;

use opentelemetry::{KeyValue, global};

/// The unit of `/proc/<pid>/stat`, the same on every Linux (proc(5), `USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;

/// Reports memory and CPU time with every export from now on.
pub fn register_metrics() {
    let meter = global::meter("process");
    meter
        .i64_observable_up_down_counter("process.memory.usage")
        .with_unit("By")
        .with_description("Physical memory in use")
        .with_callback(|observer| {
            let status = fs::read_to_string("/proc/self/status");
            if let Some(bytes) = status.ok().as_deref().and_then(resident_bytes) {
                observer.observe(bytes, &[]);
            }
        })
        .build();
    meter
        .f64_observable_counter("process.cpu.time")
        .with_unit("s")
        .with_description("CPU time used")
        .with_callback(|observer| {
            let stat = fs::read_to_string("/proc/self/stat");
            let Some(times) = stat.ok().as_deref().and_then(cpu_times) else {
                return;
            };
            for (mode, seconds) in ["user", "system"].into_iter().zip(times) {
                observer.observe(seconds, &[KeyValue::new("cpu.mode", mode)]);
            }
        })
        .build();
}

/// Resident memory in bytes, from `/proc/<pid>/status`.
fn resident_bytes(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Seconds in user and in kernel mode, from `/proc/<pid>/stat`: its fields 14 and 15, of which
/// the second, the program's name in parentheses, may hold spaces.
fn cpu_times(stat: &str) -> Option<[f64; 2]> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut ticks = after_name.split_whitespace().skip(11).map(str::parse::<f64>);
    let mut next = || ticks.next()?.ok().map(|ticks| ticks / TICKS_PER_SECOND);
    Some([next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_bytes() {
        let status = "Name:\tgateway\nVmPeak:\t  9000 kB\nVmRSS:\t   2048 kB\nThreads:\t3\n";
        assert_eq!(resident_bytes(status), Some(2 * 1024 * 1024));
        assert_eq!(resident_bytes("Name:\tgateway\n"), None);
    }

    #[test]
    fn cpu_time_is_read_behind_a_name_with_spaces_and_parentheses() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 500 0 0 0 150 25 0 0 20 0 3 0 900 1 2";
        assert_eq!(cpu_times(stat), Some([1.5, 0.25]));
        assert_eq!(cpu_times("7 (short) S 1"), None);
    }
}
