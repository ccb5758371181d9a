//! `cargo xtask fuzz`: the fuzz targets by libFuzzer, which looks where an input leads and goes on from what is new.

mod memory;
mod targets;

use std::{
    collections::BTreeSet,
    fs,
    io::{Write, stdout},
    path::Path,
    process::Command,
};

use anyhow::Context;
use clap::Args;

use crate::{
    step::{cargo, command_output, compile, program, root},
    test::{Binary, binaries},
    tools::{self, Tool},
};

use targets::{Target, targets};

/// What tells libFuzzer where an input leads, by flags of the stable compiler: each edge is counted, and what is compared is
/// told. The two names are bolero's.
const COVERAGE: [&str; 7] = [
    "--cfg fuzzing",
    "--cfg fuzzing_libfuzzer",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// What one input may take, and a target: none that is honest comes near either.
const INPUT_SECONDS: u32 = 10;
const MEMORY_MB: u32 = 1024;
/// How much more a target may take after the first quarter of its inputs than in it: libFuzzer keeps what is new, and no target keeps anything.
const GROWTH_MB: u64 = 100;
/// What new inputs are kept in, for the next run.
const CORPORA: &str = "target/fuzz";
/// Before the number of inputs in what libFuzzer says at the end.
const INPUTS: &str = "stat::number_of_executed_units:";
const SHOWN_LINES: usize = 40;

/// What to attack, and for how long.
#[derive(Args)]
pub struct FuzzArgs {
    /// The target; all of them, one after the other, where none or `all` is named
    target: Option<String>,
    /// For how many seconds each
    #[arg(default_value_t = 60)]
    seconds: u64,
    /// With how many inputs each, instead
    #[arg(long)]
    iterations: Option<u64>,
    /// Names the targets and what each shows
    #[arg(long)]
    list: bool,
}

/// Attacks targets, all of them even where one fails.
///
/// # Errors
///
/// Where there is no such target, the build fails, or an input shows a fault.
pub fn fuzz(args: &FuzzArgs) -> anyhow::Result<()> {
    let chosen = chosen(args.target.as_deref())?;
    if args.list {
        for target in &chosen {
            let (name, package) = (&target.name, &target.package);
            writeln!(stdout(), "{name:<20} {package:<12} {}", target.sentence())?;
        }
        return Ok(());
    }
    tools::ensure_tools(&[Tool::CppCompiler])?;
    let binaries = build(&chosen)?;
    writeln!(
        stdout(),
        "{:<20} {:>10} {:>10} {:>10}",
        "target",
        "inputs",
        "a second",
        "MB at most"
    )?;
    let mut failed = Vec::new();
    for target in &chosen {
        if !attack(target, &binaries, args)? {
            failed.push(target.name.as_str());
        }
    }
    anyhow::ensure!(failed.is_empty(), "Faults were found: {}.", failed.join(", "));
    Ok(())
}

fn chosen(name: Option<&str>) -> anyhow::Result<Vec<Target>> {
    let mut chosen = targets()?;
    if let Some(name) = name.filter(|name| *name != "all") {
        chosen.retain(|target| target.name == name);
        anyhow::ensure!(
            !chosen.is_empty(),
            "There is no target {name}; see `cargo xtask fuzz --list`."
        );
    }
    Ok(chosen)
}

/// Compiles the crates of these targets and all below them. With a target platform, so that code which runs in the compiler is not
/// made to count.
fn build(targets: &[Target]) -> anyhow::Result<Vec<Binary>> {
    let version = command_output("rustc", &["-vV"]).context("rustc cannot be run")?;
    let platform = version.lines().find_map(|line| line.strip_prefix("host: "));
    let platform = format!("--target={}", platform.context("rustc has no host")?);
    let packages: BTreeSet<&str> = targets.iter().map(|target| target.package.as_str()).collect();
    let command = || {
        let mut command = cargo(&[
            "test",
            "--profile=fuzz",
            "--lib",
            "--no-run",
            "--quiet",
            &platform,
        ]);
        for package in &packages {
            command.args(["--package", package]);
        }
        command.env("RUSTFLAGS", COVERAGE.join(" "));
        command
    };
    compile("Compiling the fuzz targets", &mut command())?;
    binaries(command().arg("--message-format=json"))
}

/// Whether all went well; says how much was tried, or what failed and how to see it again.
fn attack(target: &Target, binaries: &[Binary], args: &FuzzArgs) -> anyhow::Result<bool> {
    let folder = root().join(&target.folder);
    let binary = binaries.iter().find(|binary| binary.folder == folder);
    let binary = binary.context("a target that was not compiled")?;
    let found = root().join(CORPORA).join(&target.name);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(folder.join(&target.inputs).join("crashes"))?;
    let output = libfuzzer(target, binary, &found, args).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let number = |name: &str| {
        let value = said.lines().find_map(|line| line.strip_prefix(name));
        value.unwrap_or("?").trim().to_owned()
    };
    writeln!(
        stdout(),
        "{:<20} {:>10} {:>10} {:>10}",
        target.name,
        number(INPUTS),
        number("stat::average_exec_per_sec:"),
        number("stat::peak_rss_mb:")
    )?;
    // A binary without this test ends well, too.
    let ends_well = output.status.success() && said.contains(INPUTS);
    let growth = memory::growth_mb(&said).filter(|growth| *growth > GROWTH_MB);
    if !ends_well {
        explain(target, &said)?;
    } else if let Some(growth) = growth {
        writeln!(
            stdout(),
            "It took {growth} MB more after the first quarter of its inputs, and may take {GROWTH_MB}: it keeps what it is given."
        )?;
    }
    // Where it holds nothing it is gone again.
    let _kept = fs::remove_dir(folder.join(&target.inputs).join("crashes"));
    Ok(ends_well && growth.is_none())
}

fn libfuzzer(target: &Target, binary: &Binary, found: &Path, args: &FuzzArgs) -> Command {
    let inputs = target.inputs.display();
    let limit = match args.iterations {
        Some(iterations) => format!("-runs={iterations}"),
        None => format!("-max_total_time={}", args.seconds),
    };
    let arguments = format!(
        "{} {inputs}/corpus -artifact_prefix={inputs}/crashes/ {limit} -timeout={INPUT_SECONDS} \
         -rss_limit_mb={MEMORY_MB} -max_len={} -print_final_stats=1",
        found.display(),
        target.input_bytes
    );
    let mut command = program(&binary.program, &["--exact", &target.test, "--nocapture"]);
    command
        .current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder)
        .env("BOLERO_LIBFUZZER_ARGS", arguments);
    command
}

/// Shows what the test said of the input that it failed on, or libFuzzer of one that takes too long or too much, and how to see it
/// again.
fn explain(target: &Target, said: &str) -> anyhow::Result<()> {
    let lines: Vec<&str> = match said.split_once("test failed") {
        Some((_, failure)) => failure
            .lines()
            .skip(1)
            .take_while(|line| !is_call(line))
            .collect(),
        None => said.lines().filter(|line| !is_progress(line)).collect(),
    };
    let last = lines.len().saturating_sub(SHOWN_LINES);
    let input = said.split("Test unit written to ").nth(1);
    let input = input.and_then(|rest| rest.lines().next()).unwrap_or("nowhere");
    writeln!(
        stdout(),
        "{}\nThe input is in {}/{input}. It is tried again by:\n  cargo test --package {} --lib {}\n\
         Once that is mended, move it to the seeds beside, under a name that says what it is.",
        lines[last..].join("\n"),
        target.folder.display(),
        target.package,
        target.test
    )?;
    Ok(())
}

/// What libFuzzer says while all is well.
fn is_progress(line: &str) -> bool {
    line.starts_with(['#', '\t'])
}

/// The first line of a backtrace.
fn is_call(line: &str) -> bool {
    line.trim_start().starts_with("0: ")
}
