//! The kinds of file that a résumé may be, by the ending of their names.

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
        let name = resumes::readable_file_name(file_name);
        let (_, ending) = name.rsplit_once('.')?;
        [Self::Pdf, Self::Doc, Self::Docx]
            .into_iter()
            .find(|kind| ending.eq_ignore_ascii_case(kind.name()))
    }

    /// The registered media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
            Self::Doc => "application/msword",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pdf => "PDF",
            Self::Doc => "DOC",
            Self::Docx => "DOCX",
        }
    }
}
