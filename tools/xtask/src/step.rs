//! Runs commands, and prints each step with its time.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

use anyhow::Context;

/// Variables that `cargo run` sets. Build scripts watch some of them, so an inner cargo would compile everything again.
const SET_BY_CARGO: [&str; 7] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_CRATE_NAME",
    "CARGO_BIN_NAME",
    "CARGO_MAKEFLAGS",
    "RUSTC_BOOTSTRAP",
];
/// Variables as `cargo clippy` sets them: one compilation lints and builds. `CLIPPY_ARGS` denies warnings.
const LINTING_COMPILER: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// Programs of `up`, and sitectl.
const PROGRAMS: &str = "--bin gateway --bin contact --bin newsletter --bin careers --bin notifier --bin web --bin sitectl --bin stack";

pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Command in the root of the checkout, without cargo's variables. Tools from crates.io are on its `PATH`.
pub fn program(name: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root()).env("PATH", path());
    for (variable, _) in env::vars_os() {
        let name = variable.to_string_lossy();
        if SET_BY_CARGO.contains(&&*name) || name.starts_with("CARGO_PKG_") {
            command.env_remove(&variable);
        }
    }
    command
}

/// Bash script that stops at the first failure. Its arguments are `"$@"`.
pub fn script(text: &str, arguments: &[String]) -> Command {
    let mut bash = program("bash", &["-euo", "pipefail", "-c", text, "xtask"]);
    bash.args(arguments).env("PROGRAMS", PROGRAMS);
    // Scripts call xtask by its path: `cargo xtask` would wait for the lock of a running build.
    bash.env("XTASK", env::current_exe().unwrap_or_default());
    bash
}

/// Script that compiles debug programs or tests. The same settings let all of them share build artifacts.
pub fn linting(text: &str, arguments: &[String]) -> Command {
    let mut bash = script(text, arguments);
    bash.envs(LINTING_COMPILER);
    bash
}

fn path() -> OsString {
    let tools = fs::read_dir(root().join("target/tools"))
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<PathBuf> = tools
        .filter(|tool| tool.file_name().to_string_lossy().starts_with("cargo-"))
        .map(|tool| tool.path().join("bin"))
        .collect();
    let path = env::var_os("PATH").unwrap_or_default();
    folders.extend(env::split_paths(&path));
    env::join_paths(folders).unwrap_or(path)
}

/// Runs a step with its output shown.
///
/// # Errors
///
/// If the command cannot be started, or fails.
pub fn run(what: &str, command: &mut Command) -> anyhow::Result<()> {
    println!("▸ {what}");
    let started = Instant::now();
    let status = command.status().with_context(|| not_found(command))?;
    anyhow::ensure!(status.success(), "{what} failed: see above.");
    println!("  {what}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Runs a step that shows its output only on failure, for steps in parallel.
///
/// # Errors
///
/// If the command cannot be started, or fails.
pub fn run_quietly(command: &mut Command) -> anyhow::Result<()> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().with_context(|| not_found(command))?;
    let [stdout, stderr] = [&stdout, &stderr].map(|text| String::from_utf8_lossy(text));
    anyhow::ensure!(status.success(), "{stdout}{stderr}");
    Ok(())
}

/// Output of a command; `None` if it fails.
pub fn output_of(command: &mut Command) -> Option<String> {
    let Output { status, stdout, .. } = command.output().ok()?;
    status
        .success()
        .then(|| String::from_utf8_lossy(&stdout).trim().to_owned())
}

fn not_found(command: &Command) -> String {
    let name = command.get_program().to_string_lossy();
    format!("{name} cannot be run; is it installed?")
}
