//! A collector of traces with a page that shows them (autotel-devtools).

use std::{path::Path, time::Duration};

use anyhow::Context;
use serde_json::Value;
use tokio::process::Command;

use crate::{child_process::ChildProcess, eventually, root};

const START: Duration = Duration::from_secs(90);

/// Takes what services export, and shows it.
pub struct TraceViewer {
    web: u16,
    otlp: u16,
    part: ChildProcess,
    http: reqwest::Client,
}

impl TraceViewer {
    /// Starts one at these ports, with its log in this folder. It keeps what it gets in memory.
    pub async fn start_at(web: u16, otlp: u16, folder: &Path) -> anyhow::Result<Self> {
        let program = root().join("target/tools/trace-viewer/node_modules/autotel-devtools/dist/cli.js");
        anyhow::ensure!(
            program.exists(),
            "The trace viewer is not installed; cargo xtask up --observe fetches it"
        );
        let mut command = Command::new(root().join("node_modules/.bin/node"));
        command
            .arg(program)
            .args(["--host", "127.0.0.1", "--title", "Traces"])
            .args(["--port", &web.to_string(), "--grpc-port", &otlp.to_string()])
            // Else its page may read the files below the folder that it is started in.
            .env("AUTOTEL_DEVTOOLS_SOURCE_ROOT", "false");
        let viewer = Self {
            web,
            otlp,
            part: ChildProcess::start("traces", folder, command)?,
            http: reqwest::Client::new(),
        };
        eventually("the trace viewer answers", START, async || {
            viewer.traces().await.ok()
        })
        .await?;
        Ok(viewer)
    }

    /// Address of its page and API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.web)
    }

    /// What services are told, so that it gets every trace, and soon.
    pub fn env(&self) -> [(&'static str, String); 4] {
        [
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                format!("http://127.0.0.1:{}", self.otlp),
            ),
            ("OTEL_TRACES_SAMPLER_ARG", "1".to_owned()),
            ("OTEL_BSP_SCHEDULE_DELAY", "500".to_owned()),
            ("OTEL_BLRP_SCHEDULE_DELAY", "500".to_owned()),
        ]
    }

    /// The running process.
    pub fn process_mut(&mut self) -> &mut ChildProcess {
        &mut self.part
    }

    /// The running process.
    pub fn process(&self) -> &ChildProcess {
        &self.part
    }

    /// Stops it.
    pub async fn stop(self) -> anyhow::Result<()> {
        self.part.stop().await.map(drop)
    }

    /// All traces as the viewer describes them: `traceId`, and `spans` with `spanId`, `parentSpanId`, `name`,
    /// `kind` and `attributes`, among these `service.name`.
    pub async fn traces(&self) -> anyhow::Result<Vec<Value>> {
        let answer = self.http.get(format!("{}/v1/traces", self.url())).send().await?;
        let all: Value = answer.error_for_status()?.json().await?;
        all["traces"]
            .as_array()
            .cloned()
            .context("an answer without traces")
    }
}
