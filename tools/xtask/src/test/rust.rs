//! The Rust tests: compiled by cargo, then run some test binaries at a time, because many of them wait for real parts.

use std::{
    cmp::Reverse,
    io::{Write, stdout},
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::Mutex,
    thread,
    time::Instant,
};

use anyhow::Context;
use serde_json::Value;

use crate::{
    bench,
    step::{cargo, compile, program},
};

use super::report::{Outcome, of_libtest};

/// How many test binaries run at once, and how many tests in each.
const AT_ONCE: usize = 2;
const TESTS_AT_ONCE: &str = "4";
/// Those that take longest, which begin first.
const START_FIRST: [&str; 3] = ["gateway/it", "notifier/it", "sitectl/it"];

/// The count of instructions among the tests: the word that names it in a filter, and in the table of the slowest.
const INSTRUCTIONS: &str = "tools/bench/instructions";

/// A compiled test binary.
pub struct Binary {
    name: String,
    /// Where it is.
    pub program: PathBuf,
    /// The folder of its package, in which cargo would run it.
    pub folder: PathBuf,
}

/// Runs the tests of all crates, or those whose names hold a filter.
///
/// # Errors
///
/// Where they do not compile or cannot be started.
pub fn tests(filter: &[String]) -> anyhow::Result<Outcome> {
    let mut tests = cargo(&["test", "--workspace", "--tests", "--no-run", "--quiet"]);
    compile("Compiling the Rust tests", &mut tests)?;
    let mut waiting = binaries(&mut cargo(&[
        "test",
        "--workspace",
        "--tests",
        "--no-run",
        "--quiet",
        "--message-format=json",
    ]))?;
    waiting.sort_by_key(|binary| {
        let place = START_FIRST.iter().position(|name| *name == binary.name);
        Reverse(place.unwrap_or(START_FIRST.len()))
    });
    let waiting = Mutex::new(waiting);
    let outcome = Mutex::new(Outcome::default());
    let next = || waiting.lock().ok().and_then(|mut left| left.pop());
    thread::scope(|scope| {
        let runs: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                scope.spawn(|| -> anyhow::Result<()> {
                    while let Some(binary) = next() {
                        let done = binary.run(filter)?;
                        if let Ok(mut all) = outcome.lock() {
                            all.add(done);
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        runs.into_iter().try_for_each(|run| {
            run.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    let mut outcome = outcome
        .into_inner()
        .map_err(|_| anyhow::anyhow!("a test run ended half-way"))?;
    if filter.is_empty() || filter.iter().any(|word| INSTRUCTIONS.contains(word)) {
        outcome.add(count_instructions()?);
    }
    Ok(outcome)
}

/// Where the test binaries are: cargo is asked, which has just compiled them.
///
/// # Errors
///
/// Where cargo cannot be asked, or does not answer as it documents.
pub fn binaries(ask: &mut Command) -> anyhow::Result<Vec<Binary>> {
    let said = ask.stderr(Stdio::inherit()).output()?;
    String::from_utf8(said.stdout)?
        .lines()
        .filter_map(|line| binary(line).transpose())
        .collect()
}

fn binary(message: &str) -> anyhow::Result<Option<Binary>> {
    let message: Value = serde_json::from_str(message)?;
    let (Some(executable), Some(true)) = (
        message["executable"].as_str(),
        message["profile"]["test"].as_bool(),
    ) else {
        return Ok(None);
    };
    let manifest = message["manifest_path"]
        .as_str()
        .context("an artifact without a manifest")?;
    let folder = PathBuf::from(manifest)
        .parent()
        .context("a manifest without a folder")?
        .to_owned();
    let package = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let target = message["target"]["name"].as_str().unwrap_or_default();
    Ok(Some(Binary {
        name: format!("{package}/{target}"),
        program: executable.into(),
        folder,
    }))
}

/// Counts as one test, which runs alone: into how many pieces an upload is cut, and so how often it allocates, depends on what else runs.
fn count_instructions() -> anyhow::Result<Outcome> {
    bench::build_instructions()?;
    let started = Instant::now();
    let output = bench::instructions().output().context(INSTRUCTIONS)?;
    show(INSTRUCTIONS, &output)?;
    Ok(Outcome::of_one(
        INSTRUCTIONS,
        output.status.success(),
        started.elapsed(),
    ))
}

fn show(name: &str, output: &Output) -> anyhow::Result<()> {
    let (said, complaint) = (&output.stdout, &output.stderr);
    let [said, complaint] = [said, complaint].map(|text| String::from_utf8_lossy(text));
    Ok(write!(
        stdout().lock(),
        "\n▸ {name}\n{}{complaint}",
        said.trim_start()
    )?)
}

impl Binary {
    /// Runs it and shows what it said once it has ended.
    fn run(&self, filter: &[String]) -> anyhow::Result<Outcome> {
        let output = self.command(filter).output().with_context(|| self.name.clone())?;
        show(&self.name, &output)?;
        let mut outcome = Outcome::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            outcome.add(of_libtest(line));
        }
        Ok(outcome.with_exit_status(output.status.success()))
    }

    /// The stable toolchain tells how long tests take to whoever asks as the standard library's own tests do. It is the
    /// tests that are told so, not the compiler.
    fn command(&self, filter: &[String]) -> Command {
        let mut command = program(&self.program, &["-Zunstable-options", "--report-time"]);
        command
            .args(filter)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("RUST_TEST_THREADS", TESTS_AT_ONCE)
            .env("RUSTC_BOOTSTRAP", "1");
        command
    }
}
