//! Measures contenders in turns, under the same load.

use std::fs;

use anyhow::Context;
use testkit::ChildProcess;

use crate::{
    Turns,
    table::{Row, Turn},
    wrk::Requests,
};

pub struct Contender<'a> {
    pub name: &'a str,
    pub url: String,
    pub processes: Vec<&'a ChildProcess>,
    /// Minimum ratio of its rate to the peer's.
    pub least: Option<f64>,
}

/// Warms the contenders up, then measures them in turns. The first one is the peer.
///
/// # Errors
///
/// If wrk fails, or a request is rejected.
pub async fn compare(
    case: &str,
    contenders: &[Contender<'_>],
    requests: Requests<'_>,
    connections: u32,
    turns: Turns,
) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for contender in contenders {
        requests.send(&contender.url, connections, turns.seconds).await?;
        rows.push(Row {
            case: case.to_owned(),
            contender: contender.name.to_owned(),
            least: contender.least,
            turns: Vec::new(),
        });
    }
    for _ in 0..turns.turns {
        for (contender, row) in contenders.iter().zip(&mut rows) {
            let before = cpu_micros(&contender.processes)?;
            let sent = requests.send(&contender.url, connections, turns.seconds).await?;
            row.turns.push(Turn {
                rate: sent.per_second(),
                latencies_ms: Some(sent.latencies_ms()),
                cpu: cpu_of_each(&before, &contender.processes, sent.requests)?,
            });
        }
    }
    Ok(rows)
}

/// # Errors
///
/// If a process has ended.
pub fn cpu_micros(processes: &[&ChildProcess]) -> anyhow::Result<Vec<f64>> {
    let micros = |process: &&ChildProcess| {
        let pid = process.pid().context("a process ended")?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The process name, in brackets, may contain spaces and brackets.
        let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
        // Fields 14 and 15 are processor time in hundredths of a second (proc(5)).
        let ticks = fields.split_whitespace().skip(11).take(2);
        Ok(ticks.map(|field| field.parse().unwrap_or(0.0)).sum::<f64>() * 1e4)
    };
    processes.iter().map(micros).collect()
}

/// Processor microseconds per request.
///
/// # Errors
///
/// If a process has ended.
pub fn cpu_of_each(
    before: &[f64],
    processes: &[&ChildProcess],
    requests: u64,
) -> anyhow::Result<Vec<(String, f64)>> {
    let spent = cpu_micros(processes)?;
    let spent = spent
        .iter()
        .zip(before)
        .map(|(after, before)| (after - before) / requests as f64);
    let names = processes.iter().map(|process| process.name.clone());
    Ok(names.zip(spent).collect())
}
