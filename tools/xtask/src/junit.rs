//! JUnit reports of nextest, Vitest, pytest and Playwright.

use std::{fs, path::Path};

pub struct Test {
    pub name: String,
    pub seconds: f64,
    pub has_failed: bool,
}

impl Test {
    /// Stands for all tests of a runner without a report.
    pub fn of_all(seconds: f64, has_failed: bool) -> Self {
        Self {
            name: "all".to_owned(),
            seconds,
            has_failed,
        }
    }
}

/// Leaves out skipped tests. A missing report has no tests.
pub fn tests(report: &Path) -> Vec<Test> {
    tests_in(&fs::read_to_string(report).unwrap_or_default())
}

fn tests_in(report: &str) -> Vec<Test> {
    let cases = report.split("<testcase ").skip(1);
    cases
        .filter(|case| !case.contains("<skipped"))
        .map(test)
        .collect()
}

fn test(case: &str) -> Test {
    let (head, _) = case.split_once('>').unwrap_or((case, ""));
    let attribute = |name: &str| {
        let (_, rest) = head.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0)
    };
    let class = attribute("classname").unwrap_or_default();
    // `classname` contains `name`.
    let name = head.replacen("classname=", "", 1);
    let name = name
        .split_once("name=\"")
        .and_then(|(_, rest)| rest.split_once('"'));
    Test {
        name: format!("{class} {}", name.map_or("", |(name, _)| name)).replace("&gt;", ">"),
        seconds: attribute("time")
            .and_then(|time| time.parse().ok())
            .unwrap_or_default(),
        has_failed: ["<failure", "<error"].iter().any(|tag| case.contains(tag)),
    }
}
