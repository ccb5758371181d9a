//! External programs, such as clients in Python, that check what we publish.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::Context;
use tokio::{io::AsyncWriteExt, process::Command, time::timeout};

use crate::root;

const RUN_TIMEOUT: Duration = Duration::from_secs(240);

/// A script of the checkout, for the Python that `cargo xtask` installs packages for.
pub fn python(script: impl AsRef<Path>) -> anyhow::Result<Command> {
    let python = root().join("target/tools/python/bin/python");
    anyhow::ensure!(
        python.exists(),
        "The Python clients are not installed; cargo xtask test rust fetches them"
    );
    let mut command = Command::new(python);
    command.arg(root().join(script));
    Ok(command)
}

/// Runs it with this on its standard input, and returns its standard output. Fails with its standard error.
pub async fn run(mut command: Command, input: &[u8]) -> anyhow::Result<String> {
    let program = command.as_std().get_program().to_string_lossy().into_owned();
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = pipes.stderr(Stdio::piped()).kill_on_drop(true).spawn();
    let mut child =
        child.with_context(|| format!("{program} cannot be run; cargo xtask test rust fetches it"))?;
    let mut stdin = child.stdin.take().context("it has no standard input")?;
    let writing = async move {
        stdin.write_all(input).await?;
        stdin.shutdown().await
    };
    let ended = timeout(RUN_TIMEOUT, async {
        tokio::try_join!(writing, child.wait_with_output())
    });
    let ((), output) = ended.await.with_context(|| format!("{program} does not end"))??;
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{program} failed:\n{complaint}");
    Ok(String::from_utf8(output.stdout)?)
}
