//! Inbox (maildev) and trace viewer (autotel-devtools).

use std::{path::Path, time::Duration};

use tokio::process::Command;

use crate::{child_process::ChildProcess, root};

const START: Duration = Duration::from_secs(90);

pub(crate) async fn start_inbox(web: u16, smtp: u16, folder: &Path) -> anyhow::Result<ChildProcess> {
    let mut inbox = node("node_modules/maildev/bin/maildev");
    inbox
        .args(["--ip", "127.0.0.1", "--web-ip", "127.0.0.1"])
        .args(["--smtp", &smtp.to_string(), "--web", &web.to_string()])
        .arg("--mail-directory")
        .arg(folder.join("mails"));
    start("inbox", inbox, folder, [web, smtp]).await
}

pub(crate) async fn start_trace_viewer(web: u16, otlp: u16, folder: &Path) -> anyhow::Result<ChildProcess> {
    let mut viewer = node("target/tools/trace-viewer/node_modules/autotel-devtools/dist/cli.js");
    viewer
        .args(["--host", "127.0.0.1", "--title", "Traces"])
        .args(["--port", &web.to_string(), "--grpc-port", &otlp.to_string()])
        // By default the trace viewer serves files below its working directory.
        .env("AUTOTEL_DEVTOOLS_SOURCE_ROOT", "false");
    start("traces", viewer, folder, [web, otlp]).await
}

/// Settings that export every trace without delay.
pub(crate) fn trace_settings(otlp: u16) -> [(&'static str, String); 4] {
    let address = format!("http://127.0.0.1:{otlp}");
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address),
        ("OTEL_TRACES_SAMPLER_ARG", "1".to_owned()),
        ("OTEL_BSP_SCHEDULE_DELAY", "500".to_owned()),
        ("OTEL_BLRP_SCHEDULE_DELAY", "500".to_owned()),
    ]
}

fn node(script: &str) -> Command {
    let mut node = Command::new(root().join("node_modules/.bin/node"));
    node.arg(root().join(script));
    node
}

async fn start(name: &str, command: Command, folder: &Path, ports: [u16; 2]) -> anyhow::Result<ChildProcess> {
    let mut process = ChildProcess::start(name, folder, command)?;
    for port in ports {
        process.listens(port, START).await?;
    }
    Ok(process)
}
