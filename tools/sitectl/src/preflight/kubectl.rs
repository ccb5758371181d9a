//! The operator's own kubectl: renders an overlay, and asks the cluster with the operator's rights.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use tokio::process::Command;

/// How long one answer may take, as kubectl has it.
const TIMEOUT: &str = "--request-timeout=30s";

/// What the API server says of something.
pub enum Answer {
    /// The object, or the list.
    Found(Value),
    /// There is none.
    NotFound,
    /// We may not know.
    Forbidden,
    /// Why it cannot be known, in kubectl's words: an API of a server that is away, for instance.
    Failed(String),
}

/// The program, and the cluster that it speaks to.
pub struct Kubectl {
    program: PathBuf,
    context: Option<String>,
}

impl Kubectl {
    pub fn new(program: &Path, context: Option<&str>) -> Self {
        Self {
            program: program.to_owned(),
            context: context.map(str::to_owned),
        }
    }

    /// What an overlay renders to: of a folder, or of a file that holds it already.
    ///
    /// # Errors
    ///
    /// If it does not render or cannot be read, or kubectl cannot be run.
    pub async fn rendered(&self, overlay: &Path) -> anyhow::Result<String> {
        if overlay.is_file() {
            let read = tokio::fs::read_to_string(overlay).await;
            return read.with_context(|| format!("{} cannot be read", overlay.display()));
        }
        let mut render = Command::new(&self.program);
        render.arg("kustomize").arg(overlay);
        let (rendered, complaint) = self.run(render).await?;
        rendered.with_context(|| format!("{} does not render: {complaint}", overlay.display()))
    }

    /// Asks the API server for what is at this path.
    ///
    /// # Errors
    ///
    /// If kubectl cannot be run.
    pub async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let mut get = Command::new(&self.program);
        get.args(self.context.iter().map(|context| format!("--context={context}")));
        get.args([TIMEOUT, "get", "--raw", path]);
        let (answer, complaint) = self.run(get).await?;
        Ok(match answer {
            Some(answer) => match serde_json::from_str(&answer) {
                Ok(object) => Answer::Found(object),
                Err(_) => Answer::Failed("the answer is no JSON".to_owned()),
            },
            None if complaint.contains("(NotFound)") => Answer::NotFound,
            None if complaint.contains("(Forbidden)") => Answer::Forbidden,
            None => Answer::Failed(complaint),
        })
    }

    /// What it prints, where it succeeds, and the last line of its complaint.
    async fn run(&self, mut command: Command) -> anyhow::Result<(Option<String>, String)> {
        let program = self.program.display();
        let output = command.kill_on_drop(true).output().await;
        let output = output.with_context(|| format!("{program} cannot be run (--kubectl)"))?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        let complaint = complaint.lines().last().unwrap_or_default().to_owned();
        if !output.status.success() {
            ensure!(!complaint.is_empty(), "{program} ended with {}", output.status);
            return Ok((None, complaint));
        }
        Ok((Some(String::from_utf8(output.stdout)?), complaint))
    }
}

/// The items of a list.
pub fn items(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["items"].as_array().into_iter().flatten()
}
