//! Certificate files, renewed as Kubernetes renews a mounted Secret.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use uuid::Uuid;

use crate::CertificateAuthority;

/// Name of the link that a kubelet replaces, so that all files change at once.
const DATA: &str = "..data";

/// Folder with `tls.crt`, `tls.key` and `ca.crt`.
pub struct MountedCertificate {
    folder: TempDir,
}

impl MountedCertificate {
    /// Writes certificate, key and the authority to trust.
    pub fn new(issued: [String; 2], trusted: &CertificateAuthority) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        for name in ["tls.crt", "tls.key", "ca.crt"] {
            symlink(Path::new(DATA).join(name), folder.path().join(name))?;
        }
        let mounted = Self { folder };
        mounted.renew(issued, trusted.pem())?;
        Ok(mounted)
    }

    /// Replaces all files at once. `trusted` is PEM.
    pub fn renew(&self, [certificate, key]: [String; 2], trusted: String) -> anyhow::Result<()> {
        let version = self.folder.path().join(format!("..{}", Uuid::new_v4()));
        fs::create_dir(&version)?;
        for (name, content) in [("tls.crt", certificate), ("tls.key", key), ("ca.crt", trusted)] {
            fs::write(version.join(name), content)?;
        }
        let link = self.folder.path().join("..link");
        symlink(&version, &link)?;
        Ok(fs::rename(link, self.file(DATA))?)
    }

    /// File path.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Flags of the gRPC TLS settings.
    pub fn grpc_flags(&self) -> [String; 3] {
        let flag = |name: &str, file: &str| format!("--grpc-{name}-file={}", self.file(file).display());
        [
            flag("ca", "ca.crt"),
            flag("certificate", "tls.crt"),
            flag("key", "tls.key"),
        ]
    }
}
