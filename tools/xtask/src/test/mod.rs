//! `cargo xtask test`: the suite in parts.

mod report;
mod rust;

use std::{
    cmp::Reverse,
    io::{Write, stdout},
    panic::resume_unwind,
    thread,
    time::{Duration, Instant},
};

use clap::ValueEnum;

use crate::{
    build, front_end,
    images::contents_test,
    k8s,
    lint::{self, lint},
    step::{npm, program, root, run_and_read},
    tools::{self, Tool},
};

pub use rust::{Binary, binaries};

use report::{Outcome, Slow, of_images, of_playwright, of_pytest, of_vitest};

const SLOWEST: usize = 10;

/// A part of the suite, with a runner of its own.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Services and crates, against a real broker, store and mail server
    Rust,
    /// The front ends' logic, and the built site as files
    Typescript,
    /// The Kubernetes tree against itself, its policies and the programs
    Kubernetes,
    /// What is in the container images, without an engine
    Images,
    /// Visitors in Chromium, against the whole stack in both forms of hosting
    Browser,
    /// The main pages and the three forms in Firefox and WebKit; not among those that run by default
    Engines,
}

/// Those that run where none is named. Engines are left to the workflow: they need two browsers more.
const DEFAULT: [Part; 5] = [
    Part::Rust,
    Part::Kubernetes,
    Part::Images,
    Part::Typescript,
    Part::Browser,
];

/// Runs all default parts, once the lints pass; or one part, or of one those tests that a filter names, as its runner
/// understands it. All parts run even where one fails.
///
/// # Errors
///
/// Where a tool is missing, a build fails, a test fails, or no test ran.
pub fn test(part: Option<Part>, filter: &[String]) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    match part {
        Some(part) => {
            prepare(&[part], part.tools())?;
            rows.push(run(part, filter)?);
        }
        None => {
            prepare(&DEFAULT, &tools_of(None))?;
            rows.push(lints()?);
            rows.extend(all_parts()?);
        }
    }
    print_summary(&rows)
}

/// What a part needs, or all default ones.
pub fn tools_of(part: Option<Part>) -> Vec<Tool> {
    match part {
        Some(part) => part.tools().to_vec(),
        None => DEFAULT
            .iter()
            .flat_map(|part| part.tools())
            .chain(&lint::TOOLS)
            .copied()
            .collect(),
    }
}

/// A row of the table at the end.
struct Row {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Typescript => "typescript",
            Self::Kubernetes => "kubernetes",
            Self::Images => "images",
            Self::Browser => "browser",
            Self::Engines => "engines",
        }
    }

    fn tools(self) -> &'static [Tool] {
        match self {
            Self::Rust => &[
                Tool::NatsServer,
                Tool::SitePackages,
                Tool::TraceViewer,
                Tool::ForeignClients,
                Tool::Schemathesis,
                Tool::SpamAssassin,
                Tool::OpenSsl,
                Tool::Clamd,
                Tool::Promtool,
                Tool::Faketime,
                Tool::Valgrind,
                Tool::Root,
            ],
            Self::Typescript => &[Tool::AllPackages],
            Self::Kubernetes => &k8s::TOOLS,
            Self::Images => &[Tool::SitePackages, Tool::DockerfileReader, Tool::Root],
            Self::Browser => &[Tool::NatsServer, Tool::AllPackages, Tool::Chromium],
            Self::Engines => &[Tool::NatsServer, Tool::AllPackages, Tool::Firefox, Tool::WebKit],
        }
    }

    /// Whether it starts programs of ours.
    fn needs_programs(self) -> bool {
        self != Self::Typescript
    }
}

/// Fetches what parts need beside the compiler, and builds what they run.
fn prepare(parts: &[Part], tools: &[Tool]) -> anyhow::Result<()> {
    let has_programs = parts.iter().any(|part| part.needs_programs());
    tools::ensure_tools_while(
        tools,
        || {
            if has_programs { build::programs() } else { Ok(()) }
        },
        front_end::build_where_changed,
    )
}

fn lints() -> anyhow::Result<Row> {
    let started = Instant::now();
    lint()?;
    Ok(Row {
        name: "lint",
        outcome: Outcome::default(),
        took: started.elapsed(),
    })
}

/// The Rust tests wait more than they work, so that others run beside them; the browser takes both cores.
fn all_parts() -> anyhow::Result<Vec<Row>> {
    let [rust, beside @ .., browser] = DEFAULT;
    thread::scope(|scope| {
        let rust = scope.spawn(move || run(rust, &[]));
        let beside: anyhow::Result<Vec<Row>> = beside.map(|part| run(part, &[])).into_iter().collect();
        let rust = rust.join().unwrap_or_else(|panic| resume_unwind(panic));
        let mut rows = vec![rust?];
        rows.extend(beside?);
        rows.push(run(browser, &[])?);
        Ok(rows)
    })
}

fn run(part: Part, filter: &[String]) -> anyhow::Result<Row> {
    let started = Instant::now();
    let outcome = match part {
        Part::Rust => rust::tests(filter)?,
        Part::Typescript => typescript_tests(filter)?,
        Part::Kubernetes => kubernetes_tests(filter)?,
        Part::Images => image_tests(filter)?,
        Part::Browser => browser_tests(filter)?,
        Part::Engines => engine_tests(filter)?,
    };
    Ok(Row {
        name: part.name(),
        outcome,
        took: started.elapsed(),
    })
}

fn typescript_tests(filter: &[String]) -> anyhow::Result<Outcome> {
    let report = root().join("target/vitest.json");
    let output = format!("--outputFile.json={}", report.display());
    let mut tests = npm("test", &["--reporter=default", "--reporter=json", &output]);
    let green = run_and_read("TypeScript tests", tests.args(filter), |_| {})?;
    Ok(of_vitest(&report).with_exit_status(green))
}

fn kubernetes_tests(filter: &[String]) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut tests = k8s::tests();
    if !filter.is_empty() {
        tests.arg("-k").arg(filter.join(" or "));
    }
    let green = run_and_read("Kubernetes tests", &mut tests, |line| {
        outcome.add(of_pytest(line));
    })?;
    Ok(outcome.with_exit_status(green))
}

fn image_tests(filter: &[String]) -> anyhow::Result<Outcome> {
    let mut tests = contents_test("target/debug");
    for pattern in filter {
        tests.args(["-k", pattern]);
    }
    let green = run_and_read("Image tests", &mut tests, |_| {})?;
    Ok(of_images(&root().join("target/images.json")).with_exit_status(green))
}

/// All of them against the usual stack, and those that hosting can change against one hosted as in the cluster.
fn browser_tests(filter: &[String]) -> anyhow::Result<Outcome> {
    let mut outcome = browser_tests_in("gateway", &["--pass-with-no-tests"], filter)?;
    let what_hosting_changes = [
        "--project=site",
        "--project=outages",
        "--grep=@hosting",
        "--pass-with-no-tests",
    ];
    outcome.add(browser_tests_in("cluster", &what_hosting_changes, filter)?);
    Ok(outcome)
}

fn browser_tests_in(hosting: &str, chosen: &[&str], filter: &[String]) -> anyhow::Result<Outcome> {
    let report = root().join(format!("target/playwright-{hosting}.json"));
    let mut tests = on_stack(hosting, "test:browser");
    tests
        .args(chosen)
        .args(filter)
        .args(only(filter))
        .arg("--reporter=list,json")
        // What a failed test left behind outlives the next run.
        .arg(format!("--output=target/playwright/{hosting}"))
        .env("PLAYWRIGHT_JSON_OUTPUT_NAME", &report);
    let what = format!("Browser tests, hosted by {hosting}");
    let green = run_and_read(&what, &mut tests, |_| {})?;
    Ok(of_playwright(&report).with_exit_status(green))
}

/// Tests of sites that a project of their own builds for them.
const OF_CHANGED_SITES: [&str; 2] = ["release", "shared-versions"];

/// What a filter names and nothing else: what Playwright's projects depend on, and what follows them, it runs whole.
fn only(filter: &[String]) -> &'static [&'static str] {
    let tests = OF_CHANGED_SITES.map(|name| {
        let test = format!("frontends/shell/tests/browser/{name}.test.ts");
        root().join(test).display().to_string()
    });
    // What is no part of a path, such as a flag, may name anything.
    let may_name_them = |word: &String| {
        let (path, _) = word.split_once(':').unwrap_or((word, ""));
        path.starts_with('-') || tests.iter().any(|test| test.contains(path))
    };
    if filter.is_empty() || filter.iter().any(may_name_them) {
        &[]
    } else {
        &["--no-deps"]
    }
}

fn engine_tests(filter: &[String]) -> anyhow::Result<Outcome> {
    let report = root().join("target/engines.json");
    let mut tests = on_stack("gateway", "test:engines");
    tests
        .args(["--reporter=default", "--reporter=json"])
        .arg(format!("--outputFile.json={}", report.display()))
        .args(filter);
    let green = run_and_read("Tests in Firefox and WebKit", &mut tests, |_| {})?;
    Ok(of_vitest(&report).with_exit_status(green))
}

/// A script of the root package.json, run while a stack of its own runs.
fn on_stack(hosting: &str, script: &str) -> std::process::Command {
    program(
        root().join("target/debug/stack"),
        &[
            "run",
            "--hosting",
            hosting,
            "npm",
            "run",
            "--silent",
            script,
            "--",
        ],
    )
}

/// Writes the table of parts and the slowest tests, and fails where a test failed or a part ran none.
fn print_summary(rows: &[Row]) -> anyhow::Result<()> {
    let mut out = stdout();
    let mut all = Outcome::default();
    let mut slow: Vec<(&str, &Slow)> = Vec::new();
    writeln!(
        out,
        "\n{:<12} {:>6} {:>6} {:>8}",
        "part", "passed", "failed", "seconds"
    )?;
    for Row { name, outcome, took } in rows {
        let (passed, failed) = (outcome.passed, outcome.failed);
        writeln!(
            out,
            "{name:<12} {passed:>6} {failed:>6} {:>8.1}",
            took.as_secs_f64()
        )?;
        all.passed += passed;
        all.failed += failed;
        slow.extend(outcome.slowest.iter().map(|test| (*name, test)));
    }
    slow.sort_by_key(|(_, test)| Reverse(test.took));
    writeln!(out, "\nThe slowest tests:")?;
    for (part, test) in slow.iter().take(SLOWEST) {
        writeln!(out, "{:>7.1} s  {part}: {}", test.took.as_secs_f64(), test.name)?;
    }
    writeln!(out, "\n{} passed, {} failed", all.passed, all.failed)?;
    let failed: Vec<&str> = rows
        .iter()
        .filter(|row| row.name != "lint" && !row.outcome.is_green())
        .map(|row| row.name)
        .collect();
    anyhow::ensure!(failed.is_empty(), "These parts failed: {}.", failed.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_runs_nothing_else_but_what_tests_it_may_name_depend_on() {
        for name in OF_CHANGED_SITES {
            let test = format!("frontends/shell/tests/browser/{name}.test.ts");
            assert!(root().join(test).exists(), "{name}");
        }
        let only = |words: &[&str]| only(&words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(only(&["contact"]), ["--no-deps"]);
        for whole in [
            &[][..],
            &["shell"],
            &["contact", "release.test.ts:7"],
            &["--grep=React"],
        ] {
            assert_eq!(only(whole), [""; 0], "{whole:?}");
        }
    }
}
