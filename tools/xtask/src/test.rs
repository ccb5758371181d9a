//! `cargo xtask test`: the suite in parts, each by a runner of its own.

use std::{
    env,
    fs::{self, File},
    panic::resume_unwind,
    path::PathBuf,
    process::Command,
    sync::mpsc::channel,
    thread,
    time::Instant,
};

use anyhow::Context;
use clap::ValueEnum;

use crate::{
    build, junit,
    step::{linting, npm, on_stack, program, root},
    tools::{self, *},
};

const SLOWEST: usize = 10;
/// What each part writes: `<part>.xml`, and `<part>.log` if others run beside it.
const REPORTS: &str = "target/test";
/// Runs a command, and writes the processor time of all its processes to the file that is named first.
const TIMED: &str = r#"file=$1; shift; "$@"; code=$?; times > "$file"; exit "$code""#;

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
    /// What is in the container images; nightly
    Images,
    /// The main pages and the forms in Firefox and WebKit; nightly
    Engines,
}

/// Parts that run on every change.
pub const EVERY_CHANGE: [Part; 4] = [Part::Rust, Part::Typescript, Part::Kubernetes, Part::Browser];

/// A row of the table at the end.
struct Row {
    name: &'static str,
    tests: Vec<junit::Test>,
    is_green: bool,
    wall_seconds: f64,
    processor_seconds: f64,
}

/// Lints, and runs the parts of every change; or runs one part, or those of its tests that a filter names. All parts run even if
/// one fails.
///
/// # Errors
///
/// If a tool is missing, something does not compile, a test fails, or a part ran no test.
pub fn test(part: Option<Part>, filter: &[String]) -> anyhow::Result<()> {
    fs::create_dir_all(root().join(REPORTS))?;
    let rows = match part {
        Some(part) => {
            tools::ensure(part.tools())?;
            build::programs(&[])?;
            build::site()?;
            vec![part.run(filter, true)?]
        }
        None => suite()?,
    };
    summarize(&rows)
}

/// A command of cargo-nextest, with what it compiles linted.
pub fn nextest(arguments: &[&str]) -> Command {
    linting(CARGO_NEXTEST.program("cargo-nextest", &[&["nextest"], arguments].concat()))
}

/// Rust on one thread: programs, tests compiled, tests run. Beside it all else, each part as soon as what it runs is built; the browser
/// last, because it takes most of the processors.
fn suite() -> anyhow::Result<Vec<Row>> {
    let (tools_are_there, wait_for_tools) = channel();
    let (programs_are_built, wait_for_programs) = channel();
    thread::scope(|scope| {
        let beside = scope.spawn(move || {
            tools::ensure(&EVERY_CHANGE.map(Part::tools).concat())?;
            // Nobody waits if the programs do not compile.
            let _: Result<(), _> = tools_are_there.send(());
            let mut rows = vec![timed(
                "lint",
                program(env::current_exe()?, &["lint", "--fast"]),
                false,
            )?];
            build::site()?;
            rows.push(Part::Typescript.run(&[], false)?);
            wait_for_programs.recv().context("the programs do not compile")?;
            rows.push(Part::Kubernetes.run(&[], false)?);
            rows.push(Part::Browser.run(&[], false)?);
            anyhow::Ok(rows)
        });
        let rust = || {
            let mut rows = vec![timed("programs", build::of_programs(&[]), true)?];
            anyhow::ensure!(rows[0].is_green, "The programs do not compile.");
            let _: Result<(), _> = programs_are_built.send(());
            wait_for_tools.recv().context("the tools are not there")?;
            rows.push(timed(
                "test-binaries",
                nextest(&["run", "--bins", "--tests", "--no-run"]),
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

    /// What it needs beside the compiler.
    pub fn tools(self) -> &'static [Tool] {
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
                FAKETIME,
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
            Self::Images => &[SITE_PACKAGES, DOCKERFILE_READER],
            Self::Engines => &[NATS_SERVER, ALL_PACKAGES, ENGINES],
        }
    }

    /// Runs its tests, and shows what they print at once, or only if they fail.
    fn run(self, filter: &[String], is_shown: bool) -> anyhow::Result<Row> {
        let report = self.report();
        let _: Result<(), _> = fs::remove_file(&report);
        let mut row = timed(
            self.name(),
            self.command(filter, &report.display().to_string()),
            is_shown,
        )?;
        row.tests = match self {
            Self::Images => vec![junit::Test {
                name: "contents".to_owned(),
                seconds: row.wall_seconds,
                has_failed: !row.is_green,
            }],
            _ => junit::tests(&fs::read_to_string(&report).unwrap_or_default()),
        };
        row.is_green &= !row.tests.is_empty();
        Ok(row)
    }

    /// Where its JUnit report is.
    fn report(self) -> PathBuf {
        match self {
            Self::Rust => root().join("target/nextest/default/junit.xml"),
            part => root().join(REPORTS).join(part.name()).with_extension("xml"),
        }
    }

    fn command(self, filter: &[String], report: &str) -> Command {
        let junit = format!("--outputFile.junit={report}");
        let by_vitest = ["--reporter=default", "--reporter=junit", &junit];
        let mut command = match self {
            Self::Rust => nextest(&["run", "--bins", "--tests"]),
            Self::Typescript => npm("test", &by_vitest),
            Self::Engines => on_stack(
                &[],
                &[&["npm", "run", "--silent", "test:engines", "--"], &by_vitest[..]].concat(),
            ),
            Self::Kubernetes => {
                let mut pytest =
                    kubernetes_python(&["-m", "pytest", "--quiet", "-p", "no:cacheprovider", "k8s/tests"]);
                pytest.arg(format!("--junitxml={report}"));
                if !filter.is_empty() {
                    pytest.args(["-k", &filter.join(" or ")]);
                }
                return pytest;
            }
            Self::Browser => {
                let mut playwright = on_stack(
                    &[],
                    &[
                        "npm",
                        "run",
                        "--silent",
                        "test:browser",
                        "--",
                        "--reporter=list,junit",
                    ],
                );
                // Projects that follow one run whole, whatever the filter names.
                playwright.args((!filter.is_empty()).then_some("--no-deps"));
                playwright.env("PLAYWRIGHT_JUNIT_OUTPUT_NAME", report);
                playwright
            }
            Self::Images => DOCKERFILE_READER.program("python", &["images/contents_test.py", "target/debug"]),
        };
        command.args(filter);
        command
    }
}

/// The Python that has kubectl and the checkers of manifests.
pub fn kubernetes_python(arguments: &[&str]) -> Command {
    let mut python = KUBERNETES_CHECKERS.program("python", arguments);
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

/// Runs it, and measures the processor time of all its processes.
fn timed(name: &'static str, command: Command, is_shown: bool) -> anyhow::Result<Row> {
    let reports = root().join(REPORTS);
    let (times, log) = (
        reports.join(format!("{name}.times")),
        reports.join(format!("{name}.log")),
    );
    let mut bash = program("bash", &["-c", TIMED, "timed"]);
    bash.arg(&times)
        .arg(command.get_program())
        .args(command.get_args());
    for (variable, value) in command.get_envs() {
        match value {
            Some(value) => bash.env(variable, value),
            None => bash.env_remove(variable),
        };
    }
    if !is_shown {
        let file = File::create(&log)?;
        bash.stdout(file.try_clone()?).stderr(file);
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
    let processor_seconds = processor_seconds(&fs::read_to_string(&times).unwrap_or_default());
    Ok(Row {
        name,
        tests: Vec::new(),
        is_green,
        wall_seconds,
        processor_seconds,
    })
}

/// The sum of the last line that `times` of bash prints, which is that of children: `1m2.345s 0m3.210s`.
fn processor_seconds(times: &str) -> f64 {
    let seconds = |text: &str| {
        let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let children = times.lines().last().unwrap_or_default();
    children.split_whitespace().filter_map(seconds).sum()
}

/// Prints the parts, the slowest tests and how many passed and failed.
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
