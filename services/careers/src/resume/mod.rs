//! Résumé check: a PDF, DOC or DOCX whose content matches the extension of its name.
//!
//! The check accepts damage that every viewer program tolerates, and lists active content for the recruiters
//! ([`ActiveContent`]). Its time and memory are bounded (docs/decisions/0019).

mod doc;
mod docx;
mod pdf;

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use site_events::event::ActiveContent;
use tokio::{sync::Mutex, task::spawn_blocking};

/// Largest accepted résumé: 10 MiB.
pub const MAX_BYTES: u64 = 10 * 1024 * 1024;

pub type Look = Result<BTreeSet<ActiveContent>, ResumeError>;

/// Reason why a résumé is rejected, as shown to the visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    #[error("This file is empty. Please choose your résumé again.")]
    Empty,
    #[error("Send your résumé as a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.")]
    Ending,
    #[error(
        "This file is called a {}, but it is none, or is damaged. Please save your résumé as a PDF, DOC or DOCX file again.",
        format!("{:?}", .0).to_uppercase()
    )]
    Content(ResumeKind),
    #[error(
        "This file is protected by a password, so nobody here can open it. Please save it without one, and send that."
    )]
    Protected,
    #[error("This file is made of more parts than a résumé needs. Please save it as a PDF, and send that.")]
    Crowded,
    #[error("Send one résumé only. If you have several files, please make one of them.")]
    Several,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeKind {
    Pdf,
    Doc,
    Docx,
}

impl ResumeKind {
    /// Returns the kind by the last extension of the file's name; `None` if no kind has this extension.
    pub fn of_name(file_name: &str) -> Option<Self> {
        let name = resumes::readable_file_name(file_name).to_ascii_lowercase();
        match name.rsplit_once('.')?.1 {
            "pdf" => Some(Self::Pdf),
            "doc" => Some(Self::Doc),
            "docx" => Some(Self::Docx),
            _ => None,
        }
    }

    pub fn content_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Doc => "application/msword",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        }
    }
}

/// Checks one file at a time in a reused buffer, to bound memory.
#[derive(Default)]
pub struct Verification(Arc<Mutex<Vec<u8>>>);

impl Verification {
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn verify(&self, kind: ResumeKind, file: &Path) -> io::Result<Look> {
        // The blocking thread owns the lock, because it continues if the request is cancelled.
        let mut content = Arc::clone(&self.0).lock_owned().await;
        let file = file.to_owned();
        let work = spawn_blocking(move || {
            content.clear();
            File::open(file)?.read_to_end(&mut content)?;
            Ok(look(kind, &content))
        });
        // If a parser panics, the file counts as invalid.
        let looked = work.await;
        looked.unwrap_or(Ok(Err(ResumeError::Content(kind))))
    }
}

/// # Errors
///
/// If the content is of another kind, has a password, or exceeds a limit of the check.
fn look(kind: ResumeKind, content: &[u8]) -> Look {
    match kind {
        ResumeKind::Pdf => pdf::look(content),
        ResumeKind::Doc => doc::look(content),
        ResumeKind::Docx => docx::look(content),
    }
}

/// Skips a byte order mark and whitespace, which some web servers' scripts write before a file.
fn without_white_space_before(content: &[u8]) -> &[u8] {
    let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    content.trim_ascii_start()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
