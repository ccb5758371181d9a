//! Progress of long work: seen at a terminal, and nowhere else.

use std::process::Command;

use anyhow::ensure;
use tempfile::TempDir;
use testkit::pass_flags;

use crate::{
    backup::Parts,
    tool::{command, sitectl},
};

/// What is seen of a command at a terminal of its own, which `script` makes.
fn seen(words: &[&str], flags: &[String]) -> anyhow::Result<String> {
    let mut terminal = Command::new("sh");
    let within = r#"exec script -qec "$0 $*" /dev/null"#;
    terminal.args(["-c", within, env!("CARGO_BIN_EXE_sitectl")]);
    let output = pass_flags(&mut terminal, &command(words, flags))
        .env("TERM", "xterm")
        .output()?;
    let seen = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "{words:?}: {seen}");
    Ok(seen)
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_a_terminal_sees_how_far_it_is_and_a_job_writes_nothing_of_it() -> anyhow::Result<()> {
    let parts = Parts::set_up().await?;
    parts.apply().await?;
    let disk = TempDir::new()?;
    let [first, second] = ["first", "second"].map(|name| disk.path().join(name).display().to_string());

    let at_terminal = seen(&["backup", &first], &parts.flags)?;
    for told in ["stream SITE, compressed: ", "objects: 1 of 1", "Backed up to "] {
        assert!(at_terminal.contains(told), "{told}: {at_terminal}");
    }
    let in_a_job = sitectl(&command(&["backup", &second], &parts.flags))?;
    assert!(in_a_job.status.success());
    assert_eq!(String::from_utf8(in_a_job.stderr)?, "");

    let fresh = Parts::fresh().await?;
    let at_terminal = seen(&["restore", &first, "--yes"], &fresh.flags)?;
    for told in [
        "checked: ",
        "stream SITE: ",
        "objects: 1 of 1",
        "Restored and checked ",
    ] {
        assert!(at_terminal.contains(told), "{told}: {at_terminal}");
    }
    Ok(())
}
