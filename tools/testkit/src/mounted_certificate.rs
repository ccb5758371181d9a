//! A certificate, its key and its authorities, as Kubernetes mounts and renews a Secret.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use uuid::Uuid;

use crate::CertificateAuthority;

/// The link that a kubelet redirects when a Secret changes, so that all files change at once.
const DATA: &str = "..data";

/// A folder with `tls.crt`, `tls.key` and `ca.crt`.
pub struct MountedCertificate {
    folder: TempDir,
}

impl MountedCertificate {
    /// This certificate and key, for a program that trusts this authority.
    pub fn new(issued: [String; 2], trusted: &CertificateAuthority) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        for name in ["tls.crt", "tls.key", "ca.crt"] {
            symlink(Path::new(DATA).join(name), folder.path().join(name))?;
        }
        let mounted = Self { folder };
        mounted.renew(issued, trusted.pem())?;
        Ok(mounted)
    }

    /// Replaces all files at once. The authorities are PEM.
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

    /// Path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Settings of gRPC that name its files, as flags.
    pub fn grpc_flags(&self) -> [String; 3] {
        let flag = |name: &str, file: &str| format!("--grpc-{name}-file={}", self.file(file).display());
        [
            flag("ca", "ca.crt"),
            flag("certificate", "tls.crt"),
            flag("key", "tls.key"),
        ]
    }
}
