//! Prints medians of turns as a Markdown table.

use std::{
    fs,
    io::{Write, stdout},
};

const HEAD: &str = "\
| case | contender | per second | of the peer | p50 ms | p99 ms | CPU µs each |
|---|---|---:|---:|---:|---:|---|";

pub struct Row {
    /// The first row of a case is the peer's.
    pub case: String,
    pub contender: String,
    /// Minimum ratio of its rate to the peer's.
    pub least: Option<f64>,
    pub turns: Vec<Turn>,
}

pub struct Turn {
    /// Requests or mails per second.
    pub rate: f64,
    /// Median and 99th percentile.
    pub latencies_ms: Option<[f64; 2]>,
    /// Processor microseconds per request, by process.
    pub cpu: Vec<(String, f64)>,
}

impl Row {
    fn median(&self, value: impl Fn(&Turn) -> f64) -> f64 {
        let mut values: Vec<f64> = self.turns.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    }

    fn rate(&self) -> f64 {
        self.median(|turn| turn.rate)
    }

    fn line(&self, ratio: f64) -> String {
        let latency = |at: usize| match self.turns[0].latencies_ms {
            Some(_) => format!(
                "{:.2}",
                self.median(|turn| turn.latencies_ms.unwrap_or_default()[at])
            ),
            None => String::new(),
        };
        let processes = self.turns[0].cpu.iter().enumerate();
        let cpu: Vec<String> = processes
            .map(|(at, (process, _))| format!("{process} {:.0}", self.median(|turn| turn.cpu[at].1)))
            .collect();
        format!(
            "| {} | {} | {:.1} | {:.0} % | {} | {} | {} |",
            self.case,
            self.contender,
            self.rate(),
            ratio * 100.0,
            latency(0),
            latency(1),
            cpu.join(", ")
        )
    }
}

/// Prints the table, and the load average: a busy machine distorts the ratios.
///
/// # Errors
///
/// If a contender does not reach its least ratio, stdout is closed, or `/proc` cannot be read.
pub fn print(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    writeln!(out, "{HEAD}")?;
    let (mut peer, mut missed) = (None::<&Row>, Vec::new());
    for row in rows {
        let base = *peer.filter(|peer| peer.case == row.case).get_or_insert(row);
        peer = Some(base);
        let ratio = row.rate() / base.rate();
        writeln!(out, "{}", row.line(ratio))?;
        if let Some(least) = row.least.filter(|least| ratio < *least) {
            missed.push(format!(
                "{}, {}: less than {least} of the peer",
                row.case, row.contender
            ));
        }
    }
    writeln!(
        out,
        "\nload average: {}",
        fs::read_to_string("/proc/loadavg")?.trim()
    )?;
    anyhow::ensure!(missed.is_empty(), "{}", missed.join("; "));
    Ok(())
}
