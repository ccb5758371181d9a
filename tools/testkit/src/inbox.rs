//! A real SMTP server that keeps what it gets (maildev).

use std::{path::Path, time::Duration};

use anyhow::Context;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::{child_process::ChildProcess, eventually, ports::free_ports, root};

const START: Duration = Duration::from_secs(90);

/// An inbox for every address.
pub struct Inbox {
    web: u16,
    smtp: u16,
    part: ChildProcess,
    http: reqwest::Client,
    _temporary: Option<TempDir>,
}

impl Inbox {
    /// Starts one on free ports.
    pub async fn start() -> anyhow::Result<Self> {
        let [web, smtp] = free_ports()?;
        let folder = TempDir::new()?;
        let mut inbox = Self::start_at(web, smtp, folder.path()).await?;
        inbox._temporary = Some(folder);
        Ok(inbox)
    }

    /// Starts one at these ports, with its mails and log in this folder.
    pub async fn start_at(web: u16, smtp: u16, folder: &Path) -> anyhow::Result<Self> {
        let program = root().join("node_modules/maildev/bin/maildev");
        anyhow::ensure!(
            program.exists(),
            "The inbox is not installed; cargo xtask up fetches it"
        );
        let node = root().join("node_modules/.bin/node");
        let mut command = Command::new(node);
        command
            .arg(program)
            .args(["--ip", "127.0.0.1", "--web-ip", "127.0.0.1"])
            .args(["--smtp", &smtp.to_string(), "--web", &web.to_string()])
            .arg("--mail-directory")
            .arg(folder.join("mails"));
        let inbox = Self {
            web,
            smtp,
            part: ChildProcess::start("inbox", folder, command)?,
            http: reqwest::Client::new(),
            _temporary: None,
        };
        eventually("the inbox answers", START, async || inbox.mails().await.ok()).await?;
        Ok(inbox)
    }

    /// Address of its page and API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.web)
    }

    /// Port of its SMTP server on 127.0.0.1.
    pub fn smtp_port(&self) -> u16 {
        self.smtp
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

    /// All mails as maildev describes them: `subject`, `from`, `to`, `replyTo`,
    /// `headers` (lower case), `text`, `html`, `envelope`.
    pub async fn mails(&self) -> anyhow::Result<Vec<Value>> {
        let mails = self.http.get(format!("{}/email", self.url())).send().await?;
        Ok(mails.error_for_status()?.json().await?)
    }

    /// The mails to this address, once there are at least `count` of them.
    pub async fn mails_to(
        &self,
        address: &str,
        count: usize,
        within: Duration,
    ) -> anyhow::Result<Vec<Value>> {
        eventually(&format!("{count} mails to {address}"), within, async || {
            let mails = self.mails().await.ok()?;
            let found: Vec<Value> = mails.into_iter().filter(|mail| is_to(mail, address)).collect();
            (found.len() >= count).then_some(found)
        })
        .await
    }

    /// The one mail to this address whose subject holds these words.
    pub async fn mail(&self, address: &str, subject: &str, within: Duration) -> anyhow::Result<Value> {
        let what = format!("a mail to {address} about \"{subject}\"");
        let holds = |mail: &Value| mail["subject"].as_str().is_some_and(|s| s.contains(subject));
        eventually(&what, within, async || {
            let mails = self.mails().await.ok()?;
            mails.into_iter().find(|mail| is_to(mail, address) && holds(mail))
        })
        .await
    }

    /// A mail as it came over the wire.
    pub async fn source(&self, mail: &Value) -> anyhow::Result<String> {
        let id = mail["id"].as_str().context("a mail without an id")?;
        let source = self
            .http
            .get(format!("{}/email/{id}/source", self.url()))
            .send()
            .await?;
        Ok(source.error_for_status()?.text().await?)
    }
}

fn is_to(mail: &Value, address: &str) -> bool {
    let to = mail["to"].as_array().map(Vec::as_slice).unwrap_or_default();
    to.iter().any(|to| to["address"] == address)
}
