//! Encrypts backup files for public keys of age (age-encryption.org/v1). The job that writes backups cannot read them.
//! Altered or truncated files fail to decrypt.

use std::fs::File;

use age::{
    DecryptError, Decryptor, Encryptor, Identity, IdentityFile, stream::StreamWriter, x25519::Recipient,
};
use anyhow::{Context as _, anyhow};
use site_service::settings::{ExposeSecret, Secret};
use tokio::io::AsyncRead;
use tokio_util::compat::{FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};

/// # Errors
///
/// If the public key is invalid.
pub fn recipient(text: &str) -> Result<Recipient, String> {
    text.trim()
        .parse()
        .map_err(|error| format!("{error}: a public key begins with age1, and `age-keygen` makes it"))
}

/// Begins a temporary file that each of the recipients can decrypt.
///
/// # Errors
///
/// If there is no recipient, or no file can be created.
pub fn encrypted_file(recipients: &[Recipient]) -> anyhow::Result<StreamWriter<File>> {
    let recipients = recipients
        .iter()
        .map(|recipient| recipient as &dyn age::Recipient);
    let file = tempfile::tempfile().context("no temporary file can be created (see TMPDIR)")?;
    Ok(Encryptor::with_recipients(recipients)?.wrap_output(file)?)
}

pub struct Identities(Vec<Box<dyn Identity>>);

impl Identities {
    /// # Errors
    ///
    /// If the file contains anything but identities, blank lines and comments.
    pub fn parse(file: &Secret) -> anyhow::Result<Self> {
        let file = IdentityFile::from_buffer(file.expose_secret().as_bytes());
        let identities = file.ok().and_then(|file| file.into_identities().ok());
        let identities = identities.filter(|identities| !identities.is_empty());
        let no_identity = "the setting BACKUP_IDENTITY contains no identity of `age-keygen`";
        identities.map(Self).context(no_identity)
    }

    /// # Errors
    ///
    /// If the file was altered, or is not encrypted for these identities.
    pub async fn decrypt<R: AsyncRead + Unpin>(
        &self,
        name: &str,
        encrypted: R,
    ) -> anyhow::Result<impl AsyncRead + Unpin + use<R>> {
        let decryptor = Decryptor::new_async(encrypted.compat()).await;
        let identities = self.0.iter().map(|identity| identity.as_ref());
        match decryptor.and_then(|decryptor| decryptor.decrypt_async(identities)) {
            Ok(content) => Ok(content.compat()),
            Err(DecryptError::NoMatchingKeys) => Err(anyhow!(
                "{name} cannot be decrypted with the identities in BACKUP_IDENTITY_FILE"
            )),
            Err(error) => Err(error).with_context(|| altered(name)),
        }
    }
}

pub fn altered(name: &str) -> String {
    format!("the backup was altered: {name} is not what was written")
}
