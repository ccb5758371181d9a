//! Log lines as a collector reads them.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, ensure};
use regex_lite::Regex;
use serde_json::Value as Json;
use testkit::eventually;

/// Far longer than writing a line takes on a busy machine.
const WRITTEN: Duration = Duration::from_secs(30);
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
/// UTC (RFC 3339, section 5.6).
const TIMESTAMP: &str = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$";

/// Fails if a line does not have the common form.
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

/// A separate thread writes lines a moment after they are logged.
pub async fn found(file: &Path, count: usize, is_meant: impl Fn(&Json) -> bool) -> anyhow::Result<Vec<Json>> {
    eventually("the lines in the log", WRITTEN, async || {
        let mut lines = read(file).ok()?;
        lines.retain(|line| is_meant(line));
        (lines.len() >= count).then_some(lines)
    })
    .await
}
