//! DOC by content: a compound file (MS-CFB) with Word's document stream (MS-DOC, 2.1.1).

use std::io::{self, Read, Seek, SeekFrom};

use cfb::CompoundFile;

use super::{archive::Archive, verdict::Verdict};

/// How much of a file is read: its tables of sectors and its directory, which are kept, and the start of one stream.
/// The tables of 10 MiB take 80 KiB, so this leaves room for thousands of streams.
pub(super) const MAX_READ_BYTES: u64 = 1024 * 1024;
const DOCUMENT_STREAM: &str = "/WordDocument";
/// What the stream begins with (MS-DOC, 2.5.2), and did up to Word 95.
const DOCUMENT_MARKS: [[u8; 2]; 2] = [[0xec, 0xa5], [0xdc, 0xa5]];

/// A file that an archive ends is none: which of both is opened is for others to choose. One that embeds an archive is.
///
/// # Errors
///
/// If the file cannot be read; a content that cannot be made sense of differs.
pub fn verify(file: &mut (impl Read + Seek)) -> io::Result<Verdict> {
    let mut budget = Budget {
        file,
        left: MAX_READ_BYTES,
        is_exceeded: false,
    };
    let is_document = has_document(&mut budget).unwrap_or(false);
    if budget.is_exceeded {
        return Ok(Verdict::Crowded);
    }
    let is_archive = |archive: Archive<'_, _>| archive.ends_the_file() && archive.has_entries();
    if !is_document || Archive::find(budget.file)?.is_some_and(is_archive) {
        return Ok(Verdict::Differs);
    }
    Ok(Verdict::Agrees)
}

fn has_document(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut compound = CompoundFile::open(file)?;
    let mut mark = [0; 2];
    compound.open_stream(DOCUMENT_STREAM)?.read_exact(&mut mark)?;
    Ok(DOCUMENT_MARKS.contains(&mark))
}

/// A file of which so much may be read: the reader of compound files keeps what it reads of tables, and its tables can name one
/// sector as often as they like.
struct Budget<'a, F> {
    file: &'a mut F,
    left: u64,
    is_exceeded: bool,
}

impl<F: Read> Read for Budget<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !buffer.is_empty() {
            self.is_exceeded = true;
            return Err(io::Error::other("more is read of it than a résumé needs"));
        }
        let read = self.file.by_ref().take(self.left).read(buffer)?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl<F: Seek> Seek for Budget<'_, F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
