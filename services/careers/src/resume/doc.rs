//! DOC by content: a compound file (MS-CFB) with Word's document stream (MS-DOC, 2.1.1).

use std::{
    collections::BTreeSet,
    io::{self, Cursor, Read, Seek, SeekFrom},
};

use cfb::CompoundFile;
use site_events::event::ActiveContent;

use super::{Look, ResumeError, kind::ResumeKind};

/// What every compound file begins with (MS-CFB, 2.2).
pub const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// How much is read: the tables of sectors and the directory, which are kept, and the start of one stream. The tables of 10 MiB take
/// 80 KiB, so this leaves room for thousands of streams.
const MAX_READ_BYTES: usize = 1024 * 1024;
const DOCUMENT_STREAM: &str = "/WordDocument";
/// What the document begins with (MS-DOC, 2.5.2), and did up to Word 95.
const DOCUMENT_MARKS: [&[u8]; 2] = [&[0xec, 0xa5], &[0xdc, 0xa5]];
/// Where the document says that it is encrypted (MS-DOC, 2.5.2), and the bit that does.
const ENCRYPTED: (usize, u8) = (11, 1);
/// What holds a document of any newer kind that is encrypted (MS-OFFCRYPTO, 2.3.4).
const ENCRYPTED_PACKAGE: &str = "/EncryptedPackage";

/// # Errors
///
/// If it is no document, is encrypted, or its tables are larger than those of a résumé.
pub fn look(content: &[u8]) -> Look {
    let mut file = Budget {
        file: Cursor::new(content),
        left: MAX_READ_BYTES,
        is_exceeded: false,
    };
    let looked = look_into(&mut file);
    if file.is_exceeded {
        return Err(ResumeError::Crowded);
    }
    looked.unwrap_or(Err(ResumeError::Content(ResumeKind::Doc)))
}

/// A file that cannot be read is none.
fn look_into(file: &mut Budget<'_>) -> io::Result<Look> {
    let mut compound = CompoundFile::open(file)?;
    if compound.is_stream(ENCRYPTED_PACKAGE) {
        return Ok(Err(ResumeError::Protected));
    }
    let mut head = Vec::new();
    let document = compound.open_stream(DOCUMENT_STREAM)?;
    document.take(ENCRYPTED.0 as u64 + 1).read_to_end(&mut head)?;
    if !DOCUMENT_MARKS.iter().any(|mark| head.starts_with(mark)) {
        return Ok(Err(ResumeError::Content(ResumeKind::Doc)));
    }
    if head
        .get(ENCRYPTED.0)
        .is_some_and(|flags| flags & ENCRYPTED.1 != 0)
    {
        return Ok(Err(ResumeError::Protected));
    }
    let meanings = compound.walk().filter_map(|entry| match entry.name() {
        "Macros" | "_VBA_PROJECT" => Some(ActiveContent::Macros),
        "\u{1}Ole10Native" => Some(ActiveContent::EmbeddedFile),
        _ => None,
    });
    Ok(Ok(meanings.collect::<BTreeSet<_>>()))
}

/// A file of which so much may be read: the reader of compound files keeps what it reads of tables, and its tables can name one
/// sector as often as they like.
struct Budget<'a> {
    file: Cursor<&'a [u8]>,
    left: usize,
    is_exceeded: bool,
}

impl Read for Budget<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            self.is_exceeded = true;
            return Err(io::Error::other("more is read of it than a résumé needs"));
        }
        let most = buffer.len().min(self.left);
        let read = self.file.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}

impl Seek for Budget<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
