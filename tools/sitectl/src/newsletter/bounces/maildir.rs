//! A maildir (maildir(5)): each mail is a file, in `new` until somebody has seen it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use mail_reports::report_mail::MAX_BYTES;

/// What a file's name in `cur` ends with that was seen.
const SEEN: &str = ":2,S";

/// The folder.
pub struct Maildir(PathBuf);

impl Maildir {
    /// Opens it.
    ///
    /// # Errors
    ///
    /// If it is none.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let is_one = ["new", "cur"].iter().all(|part| folder.join(part).is_dir());
        anyhow::ensure!(
            is_one,
            "{} is no maildir: it has no folders new and cur",
            folder.display()
        );
        Ok(Self(folder.to_owned()))
    }

    /// The files that nobody has seen, oldest first as far as their names tell.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn new_mails(&self) -> anyhow::Result<Vec<PathBuf>> {
        let entries = fs::read_dir(self.0.join("new")).context("the maildir cannot be read")?;
        let files: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
        let mut files = files?;
        files.retain(|file| file.is_file());
        files.sort();
        Ok(files)
    }

    /// The beginning of a mail.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(&self, mail: &Path) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = fs::File::open(mail).with_context(|| format!("{} cannot be read", mail.display()))?;
        io::Read::read_to_end(&mut io::Read::take(file, MAX_BYTES), &mut bytes)?;
        Ok(bytes)
    }

    /// Notes that a mail was read.
    ///
    /// # Errors
    ///
    /// If it cannot be moved.
    pub fn mark_seen(&self, mail: &Path) -> anyhow::Result<()> {
        let name = mail
            .file_name()
            .context("a mail without a name")?
            .to_string_lossy()
            .into_owned();
        let seen = self.0.join("cur").join(format!("{name}{SEEN}"));
        fs::rename(mail, seen).with_context(|| format!("{} cannot be marked as seen", mail.display()))
    }
}
