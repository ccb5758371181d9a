//! Encryption of a backup's files by age (age-encryption.org/v1): for public keys, so that whoever writes a backup
//! cannot read it.

use std::{
    cell::RefCell,
    io::{self, Write},
    mem,
    rc::Rc,
};

use age::{Decryptor, Encryptor, Identity, IdentityFile, stream::StreamWriter, x25519::Recipient};
use anyhow::Context as _;
use site_service::settings::{ExposeSecret, Secret};
use tokio_util::compat::{FuturesAsyncReadCompatExt as _, TokioAsyncReadCompatExt as _};

use super::store::Content;

/// What the name of an encrypted file ends with.
pub const ENDING: &str = ".age";

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

/// Encryption of one file.
pub struct Encryption {
    writer: StreamWriter<Buffer>,
    encrypted: Buffer,
}

/// What was encrypted and not taken yet.
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

impl Buffer {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.borrow_mut())
    }
}

impl Encryption {
    /// Begins a file that each of the recipients can decrypt.
    ///
    /// # Errors
    ///
    /// If there is no recipient.
    pub fn begin(recipients: &[Recipient]) -> anyhow::Result<Self> {
        let recipients = recipients
            .iter()
            .map(|recipient| -> &dyn age::Recipient { recipient });
        let encrypted = Buffer::default();
        Ok(Self {
            writer: Encryptor::with_recipients(recipients)?.wrap_output(encrypted.clone())?,
            encrypted,
        })
    }

    /// Encrypts more of the file; gives what is to be stored now.
    ///
    /// # Errors
    ///
    /// Never: what is written to is memory.
    pub fn write(&mut self, content: &[u8]) -> io::Result<Vec<u8>> {
        self.writer.write_all(content)?;
        Ok(self.encrypted.take())
    }

    /// Ends the file; gives the rest of what is to be stored.
    ///
    /// # Errors
    ///
    /// Never: what is written to is memory.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        self.writer.finish()?;
        Ok(self.encrypted.take())
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

    /// What an encrypted file holds. Whatever was altered, exchanged or cut off fails to be read.
    ///
    /// # Errors
    ///
    /// If it is not encrypted for any of these.
    pub async fn decrypt(&self, encrypted: Content) -> anyhow::Result<Content> {
        let decryptor = Decryptor::new_async(encrypted.compat()).await?;
        let identities = self.0.iter().map(|identity| identity.as_ref());
        let decrypted = decryptor.decrypt_async(identities)?;
        Ok(Box::new(decrypted.compat()))
    }
}
