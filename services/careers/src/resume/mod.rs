//! What a résumé may be: a PDF, DOC or DOCX by the ending of its name and by its content, which must agree.
//!
//! Each check reads a bounded part of the file, and unpacks no more of it than one short list.

mod archive;
mod content_types;
mod doc;
mod docx;
mod embedded;
mod kind;
mod other_kinds;
mod pdf;
mod verdict;
mod verification;

pub use kind::ResumeKind;
pub use verdict::Verdict;
pub use verification::Verification;

/// The largest résumé taken: 10 MiB.
pub const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// Why a file is not taken for a résumé, in the visitor's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResumeError {
    #[error("This file is empty. Please choose your résumé again.")]
    Empty,
    #[error("Send your résumé as a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.")]
    Ending,
    #[error(
        "This file is called a {0}, but it is none, or is damaged. Please save your résumé as a PDF, DOC or DOCX file again."
    )]
    Content(ResumeKind),
    #[error("This file is made of more parts than a résumé needs. Please save it as a PDF, and send that.")]
    Crowded,
    #[error("Send one résumé only. If you have several files, please make one of them.")]
    Several,
}

#[cfg(test)]
mod polyglots;
#[cfg(test)]
mod properties;
#[cfg(test)]
pub mod samples;
#[cfg(test)]
mod tests;
