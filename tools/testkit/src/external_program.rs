//! External programs that check our formats.

use std::{
    io::{Seek, Write},
    path::Path,
};

use anyhow::Context;
use tokio::process::Command;

use crate::root;

/// Python script of the checkout, with packages from `cargo xtask`.
pub fn python(script: impl AsRef<Path>) -> Command {
    let mut command = Command::new(root().join("target/tools/python/bin/python"));
    command.arg(root().join(script));
    command
}

/// Runs a command with this input. Returns its output, or fails with its standard error.
pub async fn run(mut command: Command, input: &[u8]) -> anyhow::Result<String> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let mut file = tempfile::tempfile()?;
    file.write_all(input)?;
    file.rewind()?;
    let ended = command.stdin(file).kill_on_drop(true).output().await;
    let output =
        ended.with_context(|| format!("{program} cannot be run; cargo xtask test rust fetches it"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{program} failed:\n{complaint}");
    Ok(String::from_utf8(output.stdout)?)
}
