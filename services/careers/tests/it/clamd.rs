//! A real virus scanner (clamd) that knows one virus, a harmless text.

use std::{fs, time::Duration};

use tempfile::TempDir;
use testkit::{ChildProcess, free_ports, root};
use tokio::process::Command;

const START: Duration = Duration::from_secs(90);

pub struct Clamd {
    port: u16,
    part: ChildProcess,
    _folder: TempDir,
}

impl Clamd {
    pub const VIRUS: &str = "The testkit calls this a virus.";

    /// Starts clamd on a free port. Its size limits exceed any résumé, unless the setting in `line` lowers a limit.
    pub async fn start(line: &str) -> anyhow::Result<Self> {
        let program = root().join("target/tools/clamd");
        anyhow::ensure!(
            program.exists(),
            "There is no clamd; cargo xtask test rust fetches it"
        );
        let [port] = free_ports()?;
        let folder = TempDir::new()?;
        let signatures = folder.path().join("signatures");
        fs::create_dir(&signatures)?;
        // Format of a signature: name, any file type, any offset, the bytes in hexadecimal.
        let virus: String = Self::VIRUS.bytes().map(|byte| format!("{byte:02x}")).collect();
        fs::write(
            signatures.join("testkit.ndb"),
            format!("Testkit.Virus:0:*:{virus}\n"),
        )?;
        let config = folder.path().join("clamd.conf");
        let (at, files) = (signatures.display(), folder.path().display());
        let text = format!(
            "Foreground yes\nTCPAddr 127.0.0.1\nTCPSocket {port}\nDatabaseDirectory {at}\n\
             TemporaryDirectory {files}\n{line}\n"
        );
        fs::write(&config, text)?;
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

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub async fn kill(self) -> anyhow::Result<()> {
        self.part.kill().await
    }
}
