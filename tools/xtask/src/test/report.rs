//! What the runners report of their tests.

use std::{fs, path::Path, time::Duration};

use serde_json::Value;

/// What came of tests.
#[derive(Default)]
pub struct Outcome {
    pub passed: u64,
    pub failed: u64,
    /// Tests that took long; not all of them.
    pub slowest: Vec<Slow>,
    /// Whether a runner failed though it counted no failed test.
    broke: bool,
}

/// A test and how long it took.
pub struct Slow {
    pub name: String,
    pub took: Duration,
}

impl Outcome {
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.slowest.extend(other.slowest);
        self.broke |= other.broke;
    }

    /// With what the runner itself ended with.
    pub fn with_exit_status(mut self, green: bool) -> Self {
        self.broke |= !green;
        self
    }

    /// Whether tests ran and all passed.
    pub fn is_green(&self) -> bool {
        !self.broke && self.failed == 0 && self.passed > 0
    }

    /// Of a test alone.
    pub fn of_one(name: &str, is_green: bool, took: Duration) -> Self {
        let mut outcome = Self::slow(name, took.as_secs_f64());
        outcome.add(Self::of(is_green.into(), (!is_green).into()));
        outcome
    }

    fn of(passed: u64, failed: u64) -> Self {
        Self {
            passed,
            failed,
            ..Self::default()
        }
    }

    fn slow(name: &str, seconds: f64) -> Self {
        let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let name = name.to_owned();
        Self {
            slowest: vec![Slow { name, took }],
            ..Self::default()
        }
    }
}

/// A line of libtest: `test result: ok. 12 passed; 0 failed; …`, or `test name ... ok <0.012s>`.
pub fn of_libtest(line: &str) -> Outcome {
    test_result(line).or_else(|| timed_test(line)).unwrap_or_default()
}

fn test_result(line: &str) -> Option<Outcome> {
    let counts = line.strip_prefix("test result: ")?;
    let number = |word: &str| {
        let before = counts
            .split(';')
            .find_map(|part| part.trim_end().strip_suffix(word))?;
        before.split_whitespace().next_back()?.parse().ok()
    };
    Some(Outcome::of(number(" passed")?, number(" failed")?))
}

fn timed_test(line: &str) -> Option<Outcome> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds = rest.split_once('<')?.1.strip_suffix("s>")?;
    Some(Outcome::slow(name, seconds.parse().ok()?))
}

/// A line of pytest: `1 failed, 117 passed in 28.39s`, also with errors where a test could not even begin, or
/// `1.25s call     k8s/tests/test_pods.py::test_name`.
pub fn of_pytest(line: &str) -> Outcome {
    counts(line).or_else(|| duration(line)).unwrap_or_default()
}

fn counts(line: &str) -> Option<Outcome> {
    let (counts, _) = line.rsplit_once(" in ")?;
    let mut outcome = Outcome::default();
    for part in counts.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match word {
            "passed" => outcome.passed += number,
            "failed" | "error" | "errors" => outcome.failed += number,
            _ => {}
        }
    }
    Some(outcome)
}

fn duration(line: &str) -> Option<Outcome> {
    let mut words = line.split_whitespace();
    let seconds = words.next()?.strip_suffix('s')?.parse().ok()?;
    matches!(words.next()?, "call" | "setup" | "teardown").then_some(())?;
    Some(Outcome::slow(words.next()?, seconds))
}

/// Vitest's JSON report.
pub fn of_vitest(report: &Path) -> Outcome {
    let report = json(report);
    let mut outcome = counted(&report, "/numPassedTests", "/numFailedTests");
    for test in items(&report, "testResults").flat_map(|file| items(file, "assertionResults")) {
        let (name, took) = (text(test, "fullName"), milliseconds(test, "duration"));
        outcome.add(Outcome::slow(name, took));
    }
    outcome
}

/// Playwright's JSON report.
pub fn of_playwright(report: &Path) -> Outcome {
    let report = json(report);
    let mut outcome = counted(&report, "/stats/expected", "/stats/unexpected");
    // A test that passes at its second try is one that failed.
    outcome.failed += report
        .pointer("/stats/flaky")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    of_suite(&report, &mut outcome);
    outcome
}

fn of_suite(suite: &Value, outcome: &mut Outcome) {
    for spec in items(suite, "specs") {
        for test in items(spec, "tests") {
            let took = items(test, "results")
                .map(|run| milliseconds(run, "duration"))
                .sum();
            outcome.add(Outcome::slow(text(spec, "title"), took));
        }
    }
    for inner in items(suite, "suites") {
        of_suite(inner, outcome);
    }
}

/// The report of `images/contents_test.py`.
pub fn of_images(report: &Path) -> Outcome {
    let report = json(report);
    let mut outcome = counted(&report, "/passed", "/failed");
    for (name, seconds) in report["seconds"].as_object().into_iter().flatten() {
        outcome.add(Outcome::slow(name, seconds.as_f64().unwrap_or_default()));
    }
    outcome
}

fn json(report: &Path) -> Value {
    let text = fs::read(report).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn counted(report: &Value, passed: &str, failed: &str) -> Outcome {
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64);
    Outcome::of(
        number(passed).unwrap_or_default(),
        number(failed).unwrap_or_default(),
    )
}

fn items<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn milliseconds(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or_default() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(outcome: &Outcome) -> (u64, u64, Vec<(&str, u128)>) {
        let slowest = outcome.slowest.iter();
        let slowest = slowest.map(|test| (test.name.as_str(), test.took.as_millis()));
        (outcome.passed, outcome.failed, slowest.collect())
    }

    #[test]
    fn the_lines_of_libtest_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.01s";
        assert_eq!(of(&of_libtest(line)), (12, 3, vec![]));
        assert_eq!(
            of(&of_libtest(
                "test mails::a_mail_is_sent - should panic ... ok <1.250s>"
            )),
            (0, 0, vec![("mails::a_mail_is_sent - should panic", 1250)])
        );
        assert_eq!(of(&of_libtest("running 15 tests")), (0, 0, vec![]));
    }

    #[test]
    fn the_lines_of_pytest_are_counted() {
        assert_eq!(of(&of_pytest("118 passed in 28.39s")), (118, 0, vec![]));
        assert_eq!(
            of(&of_pytest("2 failed, 115 passed, 1 error in 75.20s (0:01:15)")),
            (115, 3, vec![])
        );
        assert_eq!(
            of(&of_pytest("FAILED k8s/tests/test_flows.py - in the table")),
            (0, 0, vec![])
        );
        assert_eq!(
            of(&of_pytest(
                "1.25s call     k8s/tests/test_pods.py::test_all_are_hardened"
            )),
            (
                0,
                0,
                vec![("k8s/tests/test_pods.py::test_all_are_hardened", 1250)]
            )
        );
    }

    #[test]
    fn a_runner_that_fails_or_runs_nothing_is_not_green() {
        assert!(Outcome::of(3, 0).with_exit_status(true).is_green());
        assert!(!Outcome::of(3, 0).with_exit_status(false).is_green());
        assert!(!Outcome::of(3, 1).with_exit_status(true).is_green());
        assert!(!Outcome::default().with_exit_status(true).is_green());
    }
}
