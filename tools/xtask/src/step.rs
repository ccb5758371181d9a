//! Running other programs, with a line for each step and the time it took.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader, Write, stdout},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::Context;

/// What `cargo run` and `cargo test` tell the program that they start: <https://doc.rust-lang.org/cargo/reference/environment-variables.html>.
/// Build scripts watch some of these, so an inner cargo that inherited them would compile anew what an outer one has built.
const SET_BY_CARGO: [&str; 7] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_PATH",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_CRATE_NAME",
    "CARGO_BIN_NAME",
    "CARGO_MAKEFLAGS",
    "RUSTC_BOOTSTRAP",
];

/// The root of the checkout.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// A program to run in the root of the checkout, in the environment that the chore itself was started in.
pub fn program(name: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments).current_dir(root());
    for (variable, _) in env::vars_os() {
        let is_ours = variable
            .to_str()
            .is_some_and(|name| SET_BY_CARGO.contains(&name) || name.starts_with("CARGO_PKG_"));
        if is_ours {
            command.env_remove(variable);
        }
    }
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

/// Says what is done, and runs it with its output shown.
///
/// # Errors
///
/// Where it cannot be started or does not succeed: `otherwise` says what to do then.
pub fn run(what: &str, command: &mut Command, otherwise: &str) -> anyhow::Result<()> {
    timed(what, || {
        let status = command.status().with_context(|| not_found(command))?;
        anyhow::ensure!(status.success(), "{what} failed. {otherwise}");
        Ok(())
    })
}

/// Runs what compiles something like [`run`].
///
/// # Errors
///
/// Where it cannot be started, or something does not compile.
pub fn compile(what: &str, command: &mut Command) -> anyhow::Result<()> {
    run(what, command, "The compiler's message stands above.")
}

/// Runs it like [`run`], but shows its output only where it fails: for steps that run side by side.
///
/// # Errors
///
/// Where it cannot be started or does not succeed: `otherwise` says what to do then.
pub fn run_quietly(what: &str, command: &mut Command, otherwise: &str) -> anyhow::Result<()> {
    let output = command.output().with_context(|| not_found(command))?;
    let said = [output.stdout, output.stderr].concat();
    anyhow::ensure!(
        output.status.success(),
        "{}\n{what} failed. {otherwise}",
        String::from_utf8_lossy(&said).trim_end()
    );
    Ok(())
}

/// Runs it like [`run`], and hands each line of its standard output to `line` too. The
/// outcome is the caller's to judge.
///
/// # Errors
///
/// Where it cannot be started, or a line of its output is not UTF-8.
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

/// Makes a folder anew: what a former run left is gone.
///
/// # Errors
///
/// Where it cannot be emptied or made.
pub fn empty_folder(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

/// Output of a program, where it is there and succeeds.
pub fn command_output(name: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = program(name, arguments).output().ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// `ring` and all above it were compiled anew whenever somebody changed from cargo to a chore or back.
    #[test]
    fn a_chore_compiles_nothing_that_cargo_has_just_compiled_nor_the_other_way_round() {
        let by_hand = |build: &mut Command| {
            for name in SET_BY_CARGO {
                build.env_remove(name);
            }
            for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_")) {
                build.env_remove(name);
            }
            compiled_by(build)
        };
        let build = [
            "build",
            "--workspace",
            "--bins",
            "--message-format=json",
            "--quiet",
        ];
        assert!(
            env::var_os("CARGO_MANIFEST_DIR").is_some(),
            "cargo tells nothing to be hidden"
        );
        by_hand(Command::new("cargo").args(build).current_dir(root()));
        assert_eq!(compiled_by(&mut cargo(&build)), [""; 0]);
        assert_eq!(
            by_hand(Command::new("cargo").args(build).current_dir(root())),
            [""; 0]
        );
    }

    fn compiled_by(build: &mut Command) -> Vec<String> {
        let output = build.output().expect("cargo runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        messages
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("cargo writes JSON"))
            .filter(|message| message["fresh"] == false)
            .map(|message| message["package_id"].to_string())
            .collect()
    }
}
