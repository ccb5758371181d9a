//! `cargo xtask test`.

use std::{
    fs,
    io::{Write, stdout},
    path::Path,
};

use serde_json::Value;

use crate::{
    build::build,
    lint::lint,
    setup::setup,
    step::{cargo, npm, program, root, run_and_read},
};

/// How many tests a runner ran.
#[derive(Default, Clone, Copy)]
struct Count {
    passed: u64,
    failed: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Every test there is. Runs all runners even where one fails, then says what came of them.
pub fn test() -> anyhow::Result<()> {
    setup()?;
    lint()?;
    build()?;

    let mut all = Count::default();
    let mut failed = Vec::new();
    for (name, outcome) in [
        ("Rust", rust_tests()?),
        ("TypeScript", typescript_tests()?),
        ("browser", browser_tests()?),
    ] {
        let (green, count) = outcome;
        writeln!(
            stdout(),
            "{name}: {} passed, {} failed",
            count.passed,
            count.failed
        )?;
        all.add(count);
        if !green || count.passed == 0 {
            failed.push(name);
        }
    }
    writeln!(stdout(), "\n{} passed, {} failed", all.passed, all.failed)?;
    anyhow::ensure!(failed.is_empty(), "These tests failed: {}.", failed.join(", "));
    Ok(())
}

fn rust_tests() -> anyhow::Result<(bool, Count)> {
    let mut count = Count::default();
    let mut tests = cargo(&["test", "--workspace", "--no-fail-fast"]);
    let green = run_and_read("Rust tests", &mut tests, |line| {
        count.add(of_cargo(line).unwrap_or_default());
    })?;
    Ok((green, count))
}

fn typescript_tests() -> anyhow::Result<(bool, Count)> {
    let report = root().join("target/vitest.json");
    let output = format!("--outputFile.json={}", report.display());
    let mut tests = npm("test", &["--reporter=default", "--reporter=json", &output]);
    let green = run_and_read("TypeScript tests", &mut tests, |_| {})?;
    Ok((green, reported(&report, "/numPassedTests", "/numFailedTests")))
}

fn browser_tests() -> anyhow::Result<(bool, Count)> {
    let report = root().join("target/playwright.json");
    let mut tests = program(
        root().join("target/debug/stack"),
        &["run", "npm", "run", "--silent", "test:browser", "--"],
    );
    tests
        .arg("--reporter=list,json")
        .env("PLAYWRIGHT_JSON_OUTPUT_NAME", &report);
    let green = run_and_read("Browser tests", &mut tests, |_| {})?;
    Ok((green, reported(&report, "/stats/expected", "/stats/unexpected")))
}

/// `test result: ok. 12 passed; 0 failed; …`
fn of_cargo(line: &str) -> Option<Count> {
    let counts = line.strip_prefix("test result: ")?;
    let number = |word: &str| {
        let before = counts
            .split(';')
            .find_map(|part| part.trim_end().strip_suffix(word))?;
        before.split_whitespace().next_back()?.parse().ok()
    };
    Some(Count {
        passed: number(" passed")?,
        failed: number(" failed")?,
    })
}

fn reported(report: &Path, passed: &str, failed: &str) -> Count {
    let report: Option<Value> = fs::read(report)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    let number = |pointer: &str| report.as_ref()?.pointer(pointer)?.as_u64();
    Count {
        passed: number(passed).unwrap_or_default(),
        failed: number(failed).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runners_own_lines_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.01s";
        let count = of_cargo(line).map(|count| (count.passed, count.failed));
        assert_eq!(count, Some((12, 3)));
        assert!(of_cargo("running 15 tests").is_none());
    }
}
