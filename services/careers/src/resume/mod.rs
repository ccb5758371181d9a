//! What a résumé may be: a PDF, DOC or DOCX by the ending of its name and by its content, which must agree.
//!
//! Damage that every reader opens is accepted. Active content is not refused but listed for the recruiters ([`ActiveContent`]).
//! Each check has a budget (docs/decisions/0019).

mod doc;
mod docx;
mod kind;
mod pdf;
mod verification;

use std::collections::BTreeSet;

use site_events::event::ActiveContent;

pub use kind::ResumeKind;
pub use verification::Verification;

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
        .0.name()
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
