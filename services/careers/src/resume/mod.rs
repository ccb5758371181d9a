//! What a résumé may be: a PDF, DOC or DOCX by content, whatever its name says.

use std::io::{self, Read, Seek, SeekFrom};

/// The largest résumé taken: 10 MiB.
pub const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// Where a PDF's header may begin (ISO 32000-1, annex H, implementation note 13).
const PDF_HEADER_WITHIN_BYTES: u64 = 1024;

/// The kinds of file that recruiters can open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeKind {
    Pdf,
    Doc,
    Docx,
}

impl ResumeKind {
    /// Reads the kind from the file's content; `None` for anything else. Nothing is
    /// unpacked, so a small archive cannot grow.
    ///
    /// # Errors
    ///
    /// If it cannot be rewound, or its first bytes cannot be read; an archive that cannot be read is no document.
    pub fn of_content(file: &mut (impl Read + Seek)) -> io::Result<Option<Self>> {
        for (kind, matches) in [
            (Self::Pdf, is_pdf as fn(&mut _) -> io::Result<bool>),
            (Self::Docx, is_docx),
            (Self::Doc, is_doc),
        ] {
            file.seek(SeekFrom::Start(0))?;
            if matches(file)? {
                return Ok(Some(kind));
            }
        }
        Ok(None)
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

fn is_pdf(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(PDF_HEADER_WITHIN_BYTES).read_to_end(&mut head)?;
    Ok(head.windows(5).any(|bytes| bytes == b"%PDF-"))
}

fn is_docx(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    // Only the directory is read: an archive it cannot make sense of is no document.
    let Ok(archive) = zip::ZipArchive::new(file) else {
        return Ok(false);
    };
    let holds = |name| archive.index_for_name(name).is_some();
    Ok(holds("[Content_Types].xml") && holds("word/document.xml"))
}

fn is_doc(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let Ok(compound) = cfb::CompoundFile::open(file) else {
        return Ok(false);
    };
    Ok(compound.is_stream("/WordDocument"))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    fn kind(content: &[u8]) -> Option<ResumeKind> {
        ResumeKind::of_content(&mut Cursor::new(content)).expect("reading memory works")
    }

    fn zip_of(names: &[&str]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for name in names {
            writer.start_file(*name, stored).expect("a valid name");
            writer.write_all(b"<xml/>").expect("writing memory works");
        }
        writer.finish().expect("writing memory works").into_inner()
    }

    fn compound_of(stream: &str) -> Vec<u8> {
        let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).expect("writing memory works");
        file.create_stream(stream)
            .and_then(|mut stream| stream.write_all(b"text"))
            .expect("writing memory works");
        file.into_inner().into_inner()
    }

    #[test]
    fn a_pdf_a_doc_and_a_docx_are_known_by_their_content() {
        assert_eq!(kind(b"%PDF-1.7\n..."), Some(ResumeKind::Pdf));
        assert_eq!(kind(b"\n\n%PDF-1.4\n"), Some(ResumeKind::Pdf));
        assert_eq!(
            kind(&zip_of(&["[Content_Types].xml", "word/document.xml"])),
            Some(ResumeKind::Docx)
        );
        assert_eq!(kind(&compound_of("/WordDocument")), Some(ResumeKind::Doc));
    }

    #[test]
    fn look_alikes_are_refused() {
        assert_eq!(kind(b""), None);
        assert_eq!(kind(b"MZ\x90\x00 not a document"), None);
        assert_eq!(kind(&zip_of(&["[Content_Types].xml", "xl/workbook.xml"])), None);
        assert_eq!(kind(&compound_of("/Workbook")), None);
        assert_eq!(kind(b"PK\x03\x04 broken archive"), None);
        assert_eq!(
            kind(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 1, 2, 3]),
            None
        );
    }
}
