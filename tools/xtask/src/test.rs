//! `cargo xtask test`: the suite in parts, each with its own runner.

use std::{
    fs::{self, File},
    panic::resume_unwind,
    sync::mpsc::channel,
    thread,
    time::Instant,
};

use anyhow::Context;
use clap::ValueEnum;

use crate::{
    build::{self, Build},
    junit,
    step::{linting, root, run_quietly, script},
    tools::{self, *},
};

const SLOWEST: usize = 10;
/// Folder of `<part>.xml`, and of `<part>.log` for parts that run in parallel.
const REPORTS: &str = "target/test";

/// Failed tests keep their stacks' files for a day.
const REMOVE_OLD_STACKS: &str =
    "mkdir -p target/stack; find target/stack -mindepth 1 -maxdepth 1 -mtime +0 -exec rm -rf {} +";

/// A part of the suite.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Services, crates and tools, against a real broker, store and mail server
    Rust,
    /// The front ends' logic, and the built site as files
    Typescript,
    /// The Kubernetes tree against its policies and the programs
    Kubernetes,
    /// Visitors in Chromium, against the whole stack
    Browser,
    /// The container images, and one machine that runs them by compose.yaml; nightly
    Images,
    /// The main pages and the forms in Firefox and WebKit; nightly
    Engines,
}

pub const EVERY_CHANGE: [Part; 4] = [Part::Rust, Part::Typescript, Part::Kubernetes, Part::Browser];

struct Row {
    name: &'static str,
    tests: Vec<junit::Test>,
    is_green: bool,
    wall_seconds: f64,
    processor_seconds: f64,
}

/// Runs every part, or one with a filter. A failed part does not stop the others.
///
/// # Errors
///
/// If a tool is missing, something does not compile, a test fails, or a part ran no test.
pub fn test(part: Option<Part>, filter: &[String]) -> anyhow::Result<()> {
    fs::create_dir_all(root().join(REPORTS))?;
    run_quietly(&mut script(REMOVE_OLD_STACKS, &[]))?;
    let rows = match part {
        Some(part) => {
            tools::ensure(part.tools())?;
            if part == Part::Typescript {
                build::site()?;
            } else {
                Build::Site.run()?;
            }
            vec![part.run(filter, true)?]
        }
        None => suite()?,
    };
    summarize(&rows)
}

/// One thread builds and runs the part `rust`. Other threads run the other parts, each after its build. The
/// part `browser` comes last, because it occupies most processors.
fn suite() -> anyhow::Result<Vec<Row>> {
    let (site_is_built, wait_for_site) = channel();
    let (programs_are_built, wait_for_programs) = channel();
    thread::scope(|scope| {
        let beside = scope.spawn(move || {
            tools::ensure(&EVERY_CHANGE.map(Part::tools).concat())?;
            build::site()?;
            // The receiver is dropped if the programs do not compile.
            let _: Result<(), _> = site_is_built.send(());
            let kubernetes = scope.spawn(move || {
                wait_for_programs.recv().context("the programs do not compile")?;
                Part::Kubernetes.run(&[], false)
            });
            let mut rows = vec![timed("lint", r#""$XTASK" lint --fast"#, &[], false)?];
            rows.push(Part::Typescript.run(&[], false)?);
            rows.push(kubernetes.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            rows.push(Part::Browser.run(&[], false)?);
            anyhow::Ok(rows)
        });
        let rust = || {
            let mut rows = vec![timed("programs", build::PROGRAMS, &[], true)?];
            anyhow::ensure!(rows[0].is_green, "The programs do not compile.");
            let _: Result<(), _> = programs_are_built.send(());
            wait_for_site.recv().context("the site is not built")?;
            rows.push(timed(
                "test-binaries",
                "cargo nextest run --tests --no-run",
                &[],
                true,
            )?);
            rows.push(Part::Rust.run(&[], true)?);
            anyhow::Ok(rows)
        };
        let rust = rust();
        drop(programs_are_built);
        let beside = beside.join().unwrap_or_else(|panic| resume_unwind(panic));
        let (mut rows, beside) = match (rust, beside) {
            (Ok(rust), Ok(beside)) => (rust, beside),
            (Err(error), Ok(_)) | (_, Err(error)) => return Err(error),
        };
        rows.extend(beside);
        Ok(rows)
    })
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Typescript => "typescript",
            Self::Kubernetes => "kubernetes",
            Self::Browser => "browser",
            Self::Images => "images",
            Self::Engines => "engines",
        }
    }

    pub const fn tools(self) -> &'static [Tool] {
        match self {
            Self::Rust => &[
                CARGO_NEXTEST,
                NATS_SERVER,
                SITE_PACKAGES,
                TRACE_VIEWER,
                FOREIGN_CLIENTS,
                MAIL_TOOLS,
                CLAMD,
                CLAMD_LIBRARY,
                PROMTOOL,
                MAKE,
            ],
            Self::Typescript => &[ALL_PACKAGES],
            Self::Kubernetes => &[
                NATS_SERVER,
                SITE_PACKAGES,
                KUBERNETES_CHECKERS,
                KUBERNETES_MODELS,
                CLAMD,
                CLAMD_LIBRARY,
            ],
            Self::Browser => &[NATS_SERVER, ALL_PACKAGES, CHROMIUM],
            Self::Images => &[NATS_SERVER, SITE_PACKAGES, CONTAINERS, CADDY, PODMAN_COMPOSE],
            Self::Engines => &[NATS_SERVER, ALL_PACKAGES, ENGINES],
        }
    }

    /// Runs the part. Its output is shown at once, or only on failure.
    fn run(self, filter: &[String], is_shown: bool) -> anyhow::Result<Row> {
        let name = self.name();
        let mut row = timed(name, self.script(), filter, is_shown)?;
        row.tests = match self {
            // The script of images writes no report.
            Self::Images => vec![junit::Test {
                name: "all".to_owned(),
                seconds: row.wall_seconds,
                has_failed: !row.is_green,
            }],
            Self::Rust => junit::tests(&root().join("target/nextest/default/junit.xml")),
            _ => junit::tests(&root().join(REPORTS).join(name).with_extension("xml")),
        };
        row.is_green &= !row.tests.is_empty();
        Ok(row)
    }

    /// Bash script of the part. Its `"$@"` is the filter, `$REPORT` the report.
    fn script(self) -> &'static str {
        match self {
            Self::Rust => r#"rm -f target/nextest/default/junit.xml; cargo nextest run --tests "$@""#,
            Self::Typescript => {
                r#"npm test --silent -- --reporter=default --reporter=junit --outputFile.junit="$REPORT" "$@""#
            }
            Self::Kubernetes => {
                r#"export PYTHONDONTWRITEBYTECODE=1
                target/tools/k8s/bin/python -m pytest --quiet -p no:cacheprovider --junitxml="$REPORT" k8s/tests ${1:+-k "$*"}"#
            }
            // A filter does not apply to projects that others depend on, so `--no-deps` skips them.
            Self::Browser => {
                r#"PLAYWRIGHT_JUNIT_OUTPUT_NAME="$REPORT" target/debug/stack run \
                npm run --silent test:browser -- --reporter=list,junit ${1:+--no-deps} "$@""#
            }
            Self::Images => {
                "python3 images/contents_test.py target/debug
                target/tools/compose/bin/python images/compose_test.py target/debug"
            }
            Self::Engines => {
                r#"target/debug/stack run \
                npm run --silent test:engines -- --reporter=default --reporter=junit --outputFile.junit="$REPORT" "$@""#
            }
        }
    }
}

/// Runs a script, and measures the processor time of all its processes.
fn timed(name: &'static str, text: &str, filter: &[String], is_shown: bool) -> anyhow::Result<Row> {
    let file = |ending: &str| root().join(REPORTS).join(name).with_extension(ending);
    let (times, log, report) = (file("times"), file("log"), file("xml"));
    let _: Result<(), _> = fs::remove_file(&report);
    let mut bash = linting(&format!("trap 'times > \"$TIMES\"' EXIT\n{text}"), filter);
    bash.env("TIMES", &times).env("REPORT", &report);
    if !is_shown {
        let log = File::create(&log)?;
        bash.stdout(log.try_clone()?).stderr(log);
    }
    println!("▸ {name}");
    let started = Instant::now();
    let is_green = bash.status().context("bash cannot be run")?.success();
    let wall_seconds = started.elapsed().as_secs_f64();
    println!(
        "  {name}: {} after {wall_seconds:.1} s",
        if is_green { "done" } else { "FAILED" }
    );
    if !is_green && !is_shown {
        println!("{}", fs::read_to_string(&log)?);
    }
    let processor_seconds = processor_seconds(&fs::read_to_string(&times)?);
    Ok(Row {
        name,
        tests: Vec::new(),
        is_green,
        wall_seconds,
        processor_seconds,
    })
}

/// Sums the last line of bash's `times`, for child processes: `1m2.345s 0m3.210s`.
fn processor_seconds(times: &str) -> f64 {
    let seconds = |text: &str| {
        let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let children = times.lines().last().unwrap_or_default();
    children.split_whitespace().filter_map(seconds).sum()
}

fn summarize(rows: &[Row]) -> anyhow::Result<()> {
    println!(
        "\n{:<14} {:>6} {:>6} {:>8} {:>8}",
        "part", "passed", "failed", "wall s", "CPU s"
    );
    let mut slowest: Vec<(&str, &junit::Test)> = Vec::new();
    for row in rows {
        let failed = row.tests.iter().filter(|test| test.has_failed).count();
        let passed = row.tests.len() - failed;
        let (wall, processor) = (row.wall_seconds, row.processor_seconds);
        println!(
            "{:<14} {passed:>6} {failed:>6} {wall:>8.1} {processor:>8.1}",
            row.name
        );
        slowest.extend(row.tests.iter().map(|test| (row.name, test)));
    }
    let failed = slowest.iter().filter(|(_, test)| test.has_failed).count();
    let passed = slowest.len() - failed;
    slowest.sort_by(|(_, one), (_, next)| next.seconds.total_cmp(&one.seconds));
    println!("\nThe slowest tests:");
    for (part, test) in slowest.iter().take(SLOWEST) {
        println!("{:>7.1} s  {part}: {}", test.seconds, test.name);
    }
    println!("\n{passed} passed, {failed} failed");
    let red: Vec<&str> = rows
        .iter()
        .filter(|row| !row.is_green)
        .map(|row| row.name)
        .collect();
    anyhow::ensure!(red.is_empty(), "These parts failed: {}.", red.join(", "));
    Ok(())
}
