//! Running other programs, with a line for each step and the time it took.

use std::{
    env,
    ffi::OsStr,
    io::{BufRead, BufReader, Write, stdout},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::Context;

/// The root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A program to run in the root of the checkout.
pub fn program(name: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root());
    command
}

/// The cargo that runs us.
pub fn cargo(arguments: &[&str]) -> Command {
    program(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), arguments)
}

/// A script of the root package.json; it runs with the project's own Node.
pub fn npm(script: &str, arguments: &[&str]) -> Command {
    let mut command = program("npm", &["run", "--silent", script, "--"]);
    command.args(arguments);
    command
}

/// Says what is done, runs it with its output shown, and fails with `otherwise`, which
/// says what to do.
pub fn run(what: &str, command: &mut Command, otherwise: &str) -> anyhow::Result<()> {
    timed(what, || {
        let status = command.status().with_context(|| not_found(command))?;
        anyhow::ensure!(status.success(), "{what} failed. {otherwise}");
        Ok(())
    })
}

/// Runs it like [`run`], and hands each line of its standard output to `line` too. The
/// outcome is the caller's to judge.
pub fn run_and_read(what: &str, command: &mut Command, mut line: impl FnMut(&str)) -> anyhow::Result<bool> {
    timed(what, || {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| not_found(command))?;
        if let Some(output) = child.stdout.take() {
            for text in BufReader::new(output).lines() {
                let text = text?;
                writeln!(stdout(), "{text}")?;
                line(&text);
            }
        }
        Ok(child.wait()?.success())
    })
}

/// Whether a program is there and answers.
pub fn answers(name: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(name).args(arguments).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn timed<T>(what: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    writeln!(stdout(), "▸ {what}")?;
    let started = Instant::now();
    let done = work()?;
    writeln!(stdout(), "  {what}: {:.1} s", started.elapsed().as_secs_f64())?;
    Ok(done)
}

fn not_found(command: &Command) -> String {
    let name = command.get_program().to_string_lossy();
    format!("{name} cannot be run; is it installed?")
}
