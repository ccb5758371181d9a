//! What signs a message as Amazon SNS does: a key of RSA and its certificate, made by openssl.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::Context as _;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use tempfile::TempDir;

/// The signer.
pub struct SnsSigner(TempDir);

impl SnsSigner {
    /// One with a key of its own.
    pub fn new() -> anyhow::Result<Self> {
        let signer = Self(TempDir::new()?);
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"])
            .args(["-subj", "/CN=sns.amazonaws.com", "-keyout"])
            .arg(signer.key())
            .arg("-out")
            .arg(signer.0.path().join("certificate.pem"))
            .output()?;
        anyhow::ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Ok(signer)
    }

    /// The certificate (PEM).
    pub fn certificate(&self) -> anyhow::Result<String> {
        Ok(fs::read_to_string(self.0.path().join("certificate.pem"))?)
    }

    /// The signature of these words, in base64.
    pub fn sign(&self, words: &str) -> anyhow::Result<String> {
        let mut openssl = Command::new("openssl")
            .args(["dgst", "-sha256", "-sign"])
            .arg(self.key())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut stdin = openssl.stdin.take().context("a pipe")?;
        stdin.write_all(words.as_bytes())?;
        drop(stdin);
        let signed = openssl.wait_with_output()?;
        anyhow::ensure!(signed.status.success(), "openssl signs nothing");
        Ok(BASE64_STANDARD.encode(signed.stdout))
    }

    fn key(&self) -> PathBuf {
        self.0.path().join("key.pem")
    }
}
