//! The service's keys do not leak through core dumps or `/proc`.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _},
        process::CommandExt as _,
    },
    path::Path,
};

use anyhow::Context as _;
use tempfile::TempDir;
use testkit::{ChildProcess, eventually};
use tokio::process::Command;

use crate::SOON;

/// The service runs as this user if the test runs as root, because root may read all memory.
const NOBODY: u32 = 65534;

/// Starts the service without a broker. It reads its settings, then waits up to 30 s for a broker.
fn contact(folder: &Path, debuggable: &str) -> anyhow::Result<ChildProcess> {
    let program = folder.join("contact");
    let is_root = fs::metadata("/proc/self")?.uid() == 0;
    if !program.exists() {
        // Often the user `nobody` cannot read the build folder, so the program is copied.
        fs::copy(env!("CARGO_BIN_EXE_contact"), &program)?;
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    }
    let mut command = Command::new(program);
    command
        .env("PERSON_KEY", "a key for tests, of thirty-two bytes")
        .env("NATS_URL", "nats://127.0.0.1:9")
        .env("DEBUGGABLE", debuggable);
    if is_root {
        command.as_std_mut().uid(NOBODY);
    }
    ChildProcess::start("contact", folder, command)
}

/// Whether the process's own user may read its memory (proc(5), `/proc/pid`).
fn is_open_to_its_user(pid: u32) -> anyhow::Result<bool> {
    let memory = fs::metadata(format!("/proc/{pid}/mem"))?;
    Ok(memory.uid() == fs::metadata(format!("/proc/{pid}"))?.uid())
}

#[tokio::test]
async fn a_service_has_no_core_dump_and_closed_memory() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    for (debuggable, is_open) in [("false", false), ("true", true)] {
        let service = contact(folder.path(), debuggable)?;
        let pid = service.pid().context("it runs")?;
        eventually("no core dump, and the memory is closed", SOON, async || {
            let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
            let core = limits
                .lines()
                .find(|line| line.starts_with("Max core file size"))?;
            let is_forbidden = core.split_whitespace().filter(|word| *word == "0").count() == 2;
            (is_forbidden && is_open_to_its_user(pid).ok()? == is_open).then_some(())
        })
        .await?;
        service.kill().await?;
    }
    Ok(())
}
