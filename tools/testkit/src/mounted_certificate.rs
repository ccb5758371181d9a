//! A certificate, its key and authorities as a cluster mounts a Secret of them, and renews it.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use site_service::tls::GrpcTlsSettings;
use tempfile::TempDir;
use uuid::Uuid;

use crate::CertificateAuthority;

/// The link that a kubelet leads to another folder when a Secret has changed: all of its files change at once.
const DATA: &str = "..data";

/// A folder with `tls.crt`, `tls.key` and `ca.crt`, as a Secret of cert-manager's is mounted.
pub struct MountedCertificate {
    folder: TempDir,
}

impl MountedCertificate {
    /// Of this certificate and key; who has it trusts that authority.
    pub fn new(issued: [String; 2], trusted: &CertificateAuthority) -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        for name in ["tls.crt", "tls.key", "ca.crt"] {
            symlink(Path::new(DATA).join(name), folder.path().join(name))?;
        }
        let mounted = Self { folder };
        mounted.renew(issued, trusted.pem())?;
        Ok(mounted)
    }

    /// Puts others in their place, at once. Whoever has them trusts the authorities of this PEM.
    pub fn renew(&self, [certificate, key]: [String; 2], trusted: String) -> anyhow::Result<()> {
        let version = self.folder.path().join(format!("..{}", Uuid::new_v4()));
        fs::create_dir(&version)?;
        for (name, content) in [("tls.crt", certificate), ("tls.key", key), ("ca.crt", trusted)] {
            fs::write(version.join(name), content)?;
        }
        let link = self.folder.path().join("..link");
        symlink(&version, &link)?;
        Ok(fs::rename(link, self.folder.path().join(DATA))?)
    }

    /// Where a file of it is.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The settings of gRPC that name its files.
    pub fn grpc_settings(&self) -> GrpcTlsSettings {
        GrpcTlsSettings {
            grpc_ca_file: Some(self.file("ca.crt")),
            grpc_certificate_file: Some(self.file("tls.crt")),
            grpc_key_file: Some(self.file("tls.key")),
        }
    }
}
