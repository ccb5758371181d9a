//! promtool, which evaluates rules and queries as Prometheus does.

use std::{ffi::OsStr, process::Command};

use anyhow::{Context, ensure};
use testkit::root;

/// Runs a command of promtool: `check rules` checks rules, `test rules` runs their tests.
pub fn promtool(what: &str, files: impl IntoIterator<Item = impl AsRef<OsStr>>) -> anyhow::Result<()> {
    let program = root().join("target/tools/promtool");
    ensure!(
        program.exists(),
        "There is no promtool; cargo xtask test rust fetches it"
    );
    let ended = Command::new(program)
        .args([what, "rules"])
        .args(files)
        .output()
        .context("promtool does not start")?;
    let complaint = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "promtool: {complaint}");
    Ok(())
}
