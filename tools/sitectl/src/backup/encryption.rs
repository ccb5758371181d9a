//! Encryption of a backup's files by age (age-encryption.org/v1), for public keys: whoever writes a backup cannot read it, and a file
//! that was altered or cut off cannot be decrypted.

use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
};

use age::{
    DecryptError, Decryptor, Encryptor, Identity, IdentityFile, stream::StreamWriter, x25519::Recipient,
};
use anyhow::{Context as _, anyhow};
use site_service::settings::{ExposeSecret, Secret};
use tokio_util::compat::{FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};

use super::place::{Content, NewFile};

/// Parses a public key.
///
/// # Errors
///
/// If it is none.
pub fn recipient(text: &str) -> Result<Recipient, String> {
    text.trim()
        .parse()
        .map_err(|error| format!("{error}: a public key begins with age1, and `age-keygen` makes it"))
}

/// An encrypted file that is being written.
pub struct EncryptedFile {
    file: NewFile,
    writer: StreamWriter<Buffer>,
    encrypted: Buffer,
    bytes: u64,
}

/// What was encrypted and not stored yet.
#[derive(Clone, Default)]
struct Buffer(Rc<RefCell<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(content);
        Ok(content.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl EncryptedFile {
    /// Begins a file that each of the recipients can decrypt.
    ///
    /// # Errors
    ///
    /// If there is no recipient.
    pub fn begin(file: NewFile, recipients: &[Recipient]) -> anyhow::Result<Self> {
        let recipients = recipients
            .iter()
            .map(|recipient| recipient as &dyn age::Recipient);
        let encrypted = Buffer::default();
        let writer = Encryptor::with_recipients(recipients)?.wrap_output(encrypted.clone())?;
        Ok(Self {
            file,
            writer,
            encrypted,
            bytes: 0,
        })
    }

    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn write(&mut self, content: &[u8]) -> anyhow::Result<()> {
        self.writer.write_all(content)?;
        let encrypted = self.encrypted.0.take();
        self.bytes += encrypted.len() as u64;
        self.file.write(&encrypted).await
    }

    /// Stores it for good; gives its size.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn finish(self) -> anyhow::Result<u64> {
        let Self {
            mut file,
            writer,
            encrypted,
            bytes,
        } = self;
        writer.finish()?;
        let rest = encrypted.0.take();
        file.write(&rest).await?;
        file.finish().await?;
        Ok(bytes + rest.len() as u64)
    }
}

/// The keys that decrypt a backup.
pub struct Identities(Vec<Box<dyn Identity>>);

impl Identities {
    /// Parses the content of an identity file.
    ///
    /// # Errors
    ///
    /// If it holds anything but identities, blank lines and comments.
    pub fn parse(file: &Secret) -> anyhow::Result<Self> {
        let file = IdentityFile::from_buffer(file.expose_secret().as_bytes());
        let identities = file.ok().and_then(|file| file.into_identities().ok());
        let identities = identities.filter(|identities| !identities.is_empty());
        let no_identity = "the setting BACKUP_IDENTITY holds no identity of `age-keygen`";
        identities.map(Self).context(no_identity)
    }

    /// Decrypts a file of this name.
    ///
    /// # Errors
    ///
    /// If it was altered, or is not encrypted for any of these.
    pub async fn decrypt(&self, name: &str, encrypted: Content) -> anyhow::Result<Content> {
        let decryptor = Decryptor::new_async(encrypted.compat()).await;
        let identities = self.0.iter().map(|identity| identity.as_ref());
        match decryptor.and_then(|decryptor| decryptor.decrypt_async(identities)) {
            Ok(content) => Ok(Box::new(content.compat())),
            Err(DecryptError::NoMatchingKeys) => Err(anyhow!(
                "{name} cannot be decrypted with what the setting BACKUP_IDENTITY_FILE names"
            )),
            Err(error) => Err(error).with_context(|| altered(name)),
        }
    }
}

/// What is said of a file that is not what was written.
pub fn altered(name: &str) -> String {
    format!("the backup was altered: {name} is not what was written")
}
