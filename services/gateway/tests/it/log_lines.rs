//! Reads log lines as a log collector does.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, ensure};
use regex_lite::Regex;
use serde_json::Value as Json;
use testkit::eventually;

/// Time to wait for a log line, far longer than a busy machine takes to write one.
const WRITTEN: Duration = Duration::from_secs(30);
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
/// Timestamp in UTC (RFC 3339, section 5.6).
const TIMESTAMP: &str = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$";

/// Reads the log, and fails if a line is not flat JSON with time, level, target and message.
pub fn read(file: &Path) -> anyhow::Result<Vec<Json>> {
    let timestamp = Regex::new(TIMESTAMP)?;
    let log = fs::read_to_string(file)?;
    log.lines()
        .map(|text| {
            let line: Json = serde_json::from_str(text).with_context(|| format!("no JSON: {text}"))?;
            let value = |name: &str| line[name].as_str().unwrap_or_default();
            ensure!(timestamp.is_match(value("timestamp")), "no time in UTC: {text}");
            ensure!(LEVELS.contains(&value("level")), "no level: {text}");
            ensure!(!value("target").is_empty(), "no part: {text}");
            ensure!(!value("message").is_empty(), "no message: {text}");
            let mut values = line.as_object().into_iter().flat_map(|fields| fields.values());
            ensure!(
                !values.any(|value| value.is_object() || value.is_array()),
                "not flat: {text}"
            );
            Ok(line)
        })
        .collect()
}

/// Waits for `count` matching lines, because a separate thread writes them a moment after they are logged.
pub async fn found(file: &Path, count: usize, is_meant: impl Fn(&Json) -> bool) -> anyhow::Result<Vec<Json>> {
    eventually("the lines in the log", WRITTEN, async || {
        let mut lines = read(file).ok()?;
        lines.retain(|line| is_meant(line));
        (lines.len() >= count).then_some(lines)
    })
    .await
}
