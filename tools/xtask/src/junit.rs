//! Reads JUnit reports of nextest, Vitest, pytest and Playwright.

use std::{fs, path::Path};

pub struct Test {
    pub name: String,
    pub seconds: f64,
    pub has_failed: bool,
}

/// Tests of a report, without skipped ones. A missing report has no tests.
pub fn tests(report: &Path) -> Vec<Test> {
    let report = fs::read_to_string(report).unwrap_or_default();
    let cases = report.split("<testcase").skip(1);
    cases
        .filter(|case| !case.contains("<skipped"))
        .map(test)
        .collect()
}

fn test(case: &str) -> Test {
    let (head, _) = case.split_once('>').unwrap_or((case, ""));
    let attribute = |name: &str| {
        let (_, rest) = head.split_once(&format!(" {name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    let [class, name, time] = ["classname", "name", "time"].map(|name| attribute(name).unwrap_or_default());
    Test {
        name: format!("{class} {name}").replace("&gt;", ">"),
        seconds: time.parse().unwrap_or_default(),
        has_failed: ["<failure", "<error"].iter().any(|tag| case.contains(tag)),
    }
}
