//! A real IMAP server over TLS (pymap), which serves a folder of mails.

use std::{fs, io, path::PathBuf, time::Duration};

use tempfile::TempDir;
use tokio::process::Command;
use uuid::Uuid;

use testkit::{CertificateAuthority, ChildProcess, TcpProxy, free_ports, root};

const START: Duration = Duration::from_secs(60);
/// Password of [`USER`]. The server's settings contain its hash below (PBKDF2, `pysasl.hashing.BuiltinHash`).
const PASSWORD: &str = "secret";
const PASSWORD_HASH: &str =
    "$pbkdf2-sha256$500000$jdgCPUqf6gY0LpQuXwitUA==$e9Ugn5DB2wlU3+Ca1fnAS4+gxfrynThWBMZ/EshdPd8=";
const USER: &str = "check";

pub struct ImapServer {
    /// Proxy that adds implicit TLS, which pymap does not support.
    encrypted: TcpProxy,
    folder: TempDir,
    authority: CertificateAuthority,
    _server: ChildProcess,
}

impl ImapServer {
    pub async fn start() -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        for part in ["new", "cur", "tmp"] {
            fs::create_dir_all(folder.path().join(USER).join(part))?;
        }
        let (passwd, shadow) = (
            format!("{USER}:x::::{USER}:\n"),
            format!("{USER}:{PASSWORD_HASH}:::::::\n"),
        );
        for (file, lines) in [("passwd", &*passwd), ("shadow", &*shadow), ("group", "")] {
            fs::write(folder.path().join(format!("pymap-etc-{file}")), lines)?;
        }
        let program = root().join("target/tools/python/bin/pymap");
        anyhow::ensure!(
            program.exists(),
            "The IMAP server is not installed; cargo xtask test rust fetches it"
        );
        let [plain] = free_ports()?;
        let mut command = Command::new(program);
        command
            .args([
                "--host",
                "127.0.0.1",
                "--port",
                &plain.to_string(),
                "--no-tls",
                "maildir",
            ])
            .arg(folder.path());
        let mut server = ChildProcess::start("imap", folder.path(), command)?;
        server.listens(plain, START).await?;
        let authority = CertificateAuthority::new()?;
        Ok(Self {
            encrypted: TcpProxy::start_encrypted(authority.issue("127.0.0.1")?, plain).await?,
            folder,
            authority,
            _server: server,
        })
    }

    /// Adds a mail to the folder as a mail server does (maildir(5)).
    pub fn deliver(&self, mail: &str) -> anyhow::Result<()> {
        let name = Uuid::now_v7().to_string();
        let written = self.mailbox("tmp").join(&name);
        fs::write(&written, mail)?;
        Ok(fs::rename(written, self.mailbox("new").join(name))?)
    }

    pub fn mails(&self) -> anyhow::Result<usize> {
        let count = |part| Ok::<_, io::Error>(fs::read_dir(self.mailbox(part))?.count());
        Ok(count("new")? + count("cur")?)
    }

    pub fn flags(&self) -> Vec<String> {
        vec![
            "--imap-host=127.0.0.1".to_owned(),
            format!("--imap-port={}", self.encrypted.port),
            format!("--imap-user={USER}"),
            format!("--imap-password={PASSWORD}"),
        ]
    }

    pub fn authority(&self) -> &CertificateAuthority {
        &self.authority
    }

    fn mailbox(&self, part: &str) -> PathBuf {
        self.folder.path().join(USER).join(part)
    }
}
