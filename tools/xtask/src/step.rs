//! Running other programs, with a line for each step and the time it took.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Instant,
};

use anyhow::Context;

/// Variables that `cargo run` sets. Build scripts watch some of them, so an inner cargo that inherited them would compile
/// anew what an outer one has built.
const SET_BY_CARGO: [&str; 7] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_CRATE_NAME",
    "CARGO_BIN_NAME",
    "CARGO_MAKEFLAGS",
    "RUSTC_BOOTSTRAP",
];

/// Compiler of the workspace's own crates, as `cargo clippy` sets it: one compilation lints and builds. `CLIPPY_ARGS` denies warnings.
const LINTING_COMPILER: [(&str, &str); 2] = [
    ("RUSTC_WORKSPACE_WRAPPER", "clippy-driver"),
    ("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"),
];

/// The root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// A program to run in the root of the checkout, in the environment that the chore was started in.
pub fn program(name: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root());
    for (variable, _) in env::vars_os() {
        let is_cargos = variable
            .to_str()
            .is_some_and(|name| SET_BY_CARGO.contains(&name) || name.starts_with("CARGO_PKG_"));
        if is_cargos {
            command.env_remove(variable);
        }
    }
    command
}

/// The cargo that runs us.
pub fn cargo(arguments: &[&str]) -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments)
}

/// A command that builds debug programs or tests through cargo. All chores use it, so that they share what is compiled.
pub fn linting(mut cargo: Command) -> Command {
    cargo.envs(LINTING_COMPILER);
    cargo
}

/// A script of the root package.json.
pub fn npm(script: &str, arguments: &[&str]) -> Command {
    program("npm", &[&["run", "--silent", script, "--"], arguments].concat())
}

/// A command that runs while a stack of its own runs.
pub fn on_stack(options: &[&str], command: &[&str]) -> Command {
    let stack = root().join("target/debug/stack");
    program(stack, &[&["run"], options, command].concat())
}

/// Prints what is done, and runs it with its output shown.
///
/// # Errors
///
/// If it cannot be started or does not succeed.
pub fn run(what: &str, command: &mut Command) -> anyhow::Result<()> {
    println!("▸ {what}");
    let started = Instant::now();
    let status = command.status().with_context(|| not_found(command))?;
    anyhow::ensure!(status.success(), "{what} failed: see above.");
    println!("  {what}: {:.1} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Runs it, and shows its output only if it fails: for steps that run side by side.
///
/// # Errors
///
/// If it cannot be started or does not succeed.
pub fn run_quietly(what: &str, command: &mut Command) -> anyhow::Result<()> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().with_context(|| not_found(command))?;
    let [stdout, stderr] = [&stdout, &stderr].map(|text| String::from_utf8_lossy(text));
    anyhow::ensure!(status.success(), "{stdout}{stderr}\n{what} failed.");
    Ok(())
}

/// Output of a command, if it succeeds.
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
