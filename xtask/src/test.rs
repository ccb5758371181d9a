//! `cargo xtask test`.

use std::{
    fs,
    io::{Write, stdout},
    path::Path,
};

use serde_json::Value;

use crate::{
    build::build,
    images::contents_test,
    k8s,
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
        ("Kubernetes", kubernetes_tests()?),
        ("images", image_tests()?),
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

fn kubernetes_tests() -> anyhow::Result<(bool, Count)> {
    let mut count = Count::default();
    let green = run_and_read("Kubernetes tests", &mut k8s::tests(), |line| {
        count.add(of_pytest(line).unwrap_or_default());
    })?;
    Ok((green, count))
}

fn image_tests() -> anyhow::Result<(bool, Count)> {
    let mut tests = contents_test("target/debug");
    let green = run_and_read("Image tests", &mut tests, |_| {})?;
    let report = root().join("target/images.json");
    Ok((green, reported(&report, "/passed", "/failed")))
}

/// All of them against the usual stack, and again against one hosted as in the cluster, but for those that show a
/// remote by a developer's server of its own in either case.
fn browser_tests() -> anyhow::Result<(bool, Count)> {
    let (green, mut count) = browser_tests_in("Browser tests", "gateway", &[])?;
    let served = ["--project=site", "--project=outages"];
    let (green_too, more) = browser_tests_in("Browser tests, hosted as in the cluster", "cluster", &served)?;
    count.add(more);
    Ok((green && green_too, count))
}

fn browser_tests_in(what: &str, hosting: &str, chosen: &[&str]) -> anyhow::Result<(bool, Count)> {
    let report = root().join(format!("target/playwright-{hosting}.json"));
    let mut tests = program(
        root().join("target/debug/stack"),
        &[
            "run",
            "--hosting",
            hosting,
            "npm",
            "run",
            "--silent",
            "test:browser",
            "--",
        ],
    );
    tests
        .args(chosen)
        .arg("--reporter=list,json")
        .env("PLAYWRIGHT_JSON_OUTPUT_NAME", &report);
    let green = run_and_read(what, &mut tests, |_| {})?;
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

/// `1 failed, 117 passed in 28.39s`, or with errors where a test could not even begin.
fn of_pytest(line: &str) -> Option<Count> {
    let (counts, _) = line.rsplit_once(" in ")?;
    let mut count = Count::default();
    for part in counts.split(", ") {
        let (number, outcome) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match outcome {
            "passed" => count.passed += number,
            "failed" | "error" | "errors" => count.failed += number,
            _ => {}
        }
    }
    Some(count)
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

        let of_line = |line| of_pytest(line).map(|count| (count.passed, count.failed));
        assert_eq!(of_line("118 passed in 28.39s"), Some((118, 0)));
        assert_eq!(
            of_line("2 failed, 115 passed, 1 error in 75.20s (0:01:15)"),
            Some((115, 3))
        );
        assert_eq!(of_line("FAILED k8s/tests/test_flows.py - in the table"), None);
    }
}
