//! The harness itself, cut off: what it started ends with it.

use std::{fs, process::Stdio, time::Duration};

use anyhow::Context;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::NamedTempFile;
use testkit::eventually;
use tokio::process::Command;

/// On a machine that runs other tests, too.
const SOON: Duration = Duration::from_secs(60);
/// The broker and our services; the store and the mail server are threads of the harness.
const PARTS: usize = 6;

/// The processes that this one started (proc(5)).
fn children(of: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{of}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let ids = lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    ids.filter_map(|id| id.parse().ok()).collect()
}

#[tokio::test]
async fn asked_to_stop_it_leaves_nothing_running() -> anyhow::Result<()> {
    let said = NamedTempFile::new()?;
    // One for both: each of two would write over what the other has written.
    let out = said.reopen()?;
    let mut chaos = Command::new(env!("CARGO_BIN_EXE_chaos"))
        .args(["nothing", "--seed", "1"])
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .kill_on_drop(true)
        .spawn()?;
    let id = chaos.id().context("it has ended")?;
    let started = eventually("its services run", SOON, async || {
        let ended = chaos.try_wait().ok().flatten();
        let started = Some(children(id)).filter(|started| started.len() >= PARTS);
        ended.map(Err).or(started.map(Ok))
    });
    let started = started.await?.map_err(|status| {
        let said = fs::read_to_string(&said).unwrap_or_default();
        anyhow::anyhow!("{status}: {said}")
    })?;
    kill(Pid::from_raw(id.try_into()?), Signal::SIGTERM)?;
    assert!(!chaos.wait().await?.success());
    eventually("they have ended, too", SOON, async || {
        let runs = |id: &u32| fs::exists(format!("/proc/{id}")).unwrap_or(false);
        (!started.iter().any(runs)).then_some(())
    })
    .await
}
