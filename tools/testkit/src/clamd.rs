//! A real virus scanner that knows one virus, which is none.

use std::{fs, time::Duration};

use tempfile::TempDir;
use tokio::process::Command;

use crate::{child_process::ChildProcess, ports::free_ports, root};

const START: Duration = Duration::from_secs(90);
/// clamd's own limits are wider than any résumé.
const DEFAULT_CONFIG: &str = "";

/// A clamd on 127.0.0.1, without the signatures of the world.
pub struct Clamd {
    port: u16,
    part: ChildProcess,
    _folder: TempDir,
}

impl Clamd {
    /// What it takes for a virus, wherever it stands in a file.
    pub const VIRUS: &str = "The testkit calls this a virus.";
    /// The name of that virus.
    pub const SIGNATURE: &str = "Testkit.Virus";

    /// Its signature, a line of a file `.ndb`: name, any type of file, any place, the bytes in hexadecimal digits.
    pub fn signature() -> String {
        let bytes = base16ct::lower::encode_string(Self::VIRUS.as_bytes());
        format!("{}:0:*:{bytes}\n", Self::SIGNATURE)
    }

    /// Starts one on a free port.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(DEFAULT_CONFIG).await
    }

    /// Starts one that breaks off files of more than this many bytes.
    pub async fn start_for_files_up_to(bytes: usize) -> anyhow::Result<Self> {
        Self::start_with(&format!("StreamMaxLength {bytes}")).await
    }

    async fn start_with(line: &str) -> anyhow::Result<Self> {
        let program = root().join("target/tools/clamd");
        anyhow::ensure!(
            program.exists(),
            "There is no clamd; cargo xtask test rust fetches it"
        );
        let [port] = free_ports()?;
        let folder = TempDir::new()?;
        let signatures = folder.path().join("signatures");
        fs::create_dir(&signatures)?;
        fs::write(signatures.join("testkit.ndb"), Self::signature())?;
        let config = folder.path().join("clamd.conf");
        let (at, files) = (signatures.display(), folder.path().display());
        fs::write(
            &config,
            format!(
                "Foreground yes\nTCPAddr 127.0.0.1\nTCPSocket {port}\nDatabaseDirectory {at}\n\
                 TemporaryDirectory {files}\n{line}\n"
            ),
        )?;
        let mut server = Command::new(program);
        server.arg("--config-file").arg(config);
        let mut part = ChildProcess::start("clamd", folder.path(), server)?;
        part.listens(port, START).await?;
        Ok(Self {
            port,
            part,
            _folder: folder,
        })
    }

    /// Its address, as `host:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it at once, as a crash would.
    pub async fn kill(self) -> anyhow::Result<()> {
        self.part.kill().await
    }
}
