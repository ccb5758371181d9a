//! What a résumé may be: a PDF, DOC or DOCX by the ending of its name and by its content, which must agree.
//!
//! Damage that every reader opens is accepted. Active content is not refused but listed for the recruiters ([`ActiveContent`]).
//! Each check has a budget (docs/decisions/0019).

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

/// The largest résumé accepted: 10 MiB.
pub const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// The active content of a résumé, or why the file is none.
pub type Look = Result<BTreeSet<ActiveContent>, ResumeError>;

/// Why a file is not accepted as a résumé, in the visitor's words.
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

/// A kind of file that recruiters can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeKind {
    Pdf,
    Doc,
    Docx,
}

impl ResumeKind {
    /// The kind by the last ending of a file's name, as people see it; `None` for any other.
    pub fn of_name(file_name: &str) -> Option<Self> {
        let name = resumes::readable_file_name(file_name).to_ascii_lowercase();
        match name.rsplit_once('.')?.1 {
            "pdf" => Some(Self::Pdf),
            "doc" => Some(Self::Doc),
            "docx" => Some(Self::Docx),
            _ => None,
        }
    }

    /// The registered media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Doc => "application/msword",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        }
    }
}

/// The turn to be checked, and the file that is. It is kept: threads that take turns would each keep as much.
#[derive(Default)]
pub struct Verification(Arc<Mutex<Vec<u8>>>);

impl Verification {
    /// Waits for the turn and checks whether the file is of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub async fn verify(&self, kind: ResumeKind, file: &Path) -> io::Result<Look> {
        // Held by the thread: it works on when the visitor has left.
        let mut content = Arc::clone(&self.0).lock_owned().await;
        let file = file.to_owned();
        let work = spawn_blocking(move || {
            content.clear();
            File::open(file)?.read_to_end(&mut content)?;
            Ok(look(kind, &content))
        });
        // A parser that panics is no outage of ours: the visitor is asked for another file.
        let looked = work.await;
        looked.unwrap_or(Ok(Err(ResumeError::Content(kind))))
    }
}

/// Checks whether this is of this kind.
///
/// # Errors
///
/// If it is anything else, has a password, or exceeds the budget of a check.
fn look(kind: ResumeKind, content: &[u8]) -> Look {
    match kind {
        ResumeKind::Pdf => pdf::look(content),
        ResumeKind::Doc => doc::look(content),
        ResumeKind::Docx => docx::look(content),
    }
}

/// The content without the byte order mark and white space that scripts leave before a file.
fn without_white_space_before(content: &[u8]) -> &[u8] {
    let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    content.trim_ascii_start()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
pub mod samples;
#[cfg(test)]
mod tests;
