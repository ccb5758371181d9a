//! DOC by content: a compound file (MS-CFB) with Word's document stream (MS-DOC, 2.1.1).

use std::{
    cell::RefCell,
    io::{self, Read, Seek, SeekFrom},
    path::PathBuf,
};

use cfb::CompoundFile;

use super::{embedded, verdict::Verdict};

/// How much of a file is read: its tables of sectors and its directory, which are kept, and the start of one stream.
/// The tables of 10 MiB take 80 KiB, so this leaves room for thousands of streams.
pub(super) const MAX_READ_BYTES: u64 = 1024 * 1024;
/// The most streams that are searched for an archive. Word writes some ten, and a few for each embedded document.
const MAX_STREAMS: usize = 1000;
const DOCUMENT_STREAM: &str = "/WordDocument";
/// What the stream begins with (MS-DOC, 2.5.2), and did up to Word 95.
const DOCUMENT_MARKS: [[u8; 2]; 2] = [[0xec, 0xa5], [0xdc, 0xa5]];

/// A file that programs for archives open is none: which of both is opened is for others to choose. Word puts an archive into each file
/// itself, its theme, and one for each workbook: streams may have what holds nothing but parts of such documents.
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
    Ok(if is_document && has_archives_in_streams_only(budget.file)? {
        Verdict::Agrees
    } else {
        Verdict::Differs
    })
}

fn has_document(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut compound = CompoundFile::open(file)?;
    let mut mark = [0; 2];
    compound.open_stream(DOCUMENT_STREAM)?.read_exact(&mut mark)?;
    Ok(DOCUMENT_MARKS.contains(&mark))
}

fn has_archives_in_streams_only(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    Ok(match embedded::ends(file)? {
        Some(ends) if ends.is_empty() => true,
        Some(ends) => are_ends_in_streams(file, &ends).unwrap_or(false),
        None => false,
    })
}

/// Whether what ends at these offsets lies in streams, and not behind or between them.
fn are_ends_in_streams(file: &mut (impl Read + Seek), ends: &[u64]) -> io::Result<bool> {
    let file_bytes = file.seek(SeekFrom::End(0))?;
    let unread = RefCell::default();
    let watched = Watched {
        file: Budget {
            file,
            left: MAX_READ_BYTES + file_bytes,
            is_exceeded: false,
        },
        offset: 0,
        unread: &unread,
    };
    let compound = CompoundFile::open(watched)?;
    // Only now, so that tables are no streams.
    unread.replace(ends.iter().map(|end| end - 1).collect());
    read_streams(compound)?;
    Ok(unread.into_inner().is_empty())
}

fn read_streams<F: Read + Seek>(mut compound: CompoundFile<F>) -> io::Result<()> {
    let streams: Vec<PathBuf> = compound
        .walk()
        .filter(cfb::Entry::is_stream)
        .take(MAX_STREAMS)
        .map(|entry| entry.path().to_owned())
        .collect();
    for stream in streams {
        io::copy(&mut compound.open_stream(stream)?, &mut io::sink())?;
    }
    Ok(())
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

/// A file that strikes out which of these bytes were read.
struct Watched<'a, F> {
    file: F,
    offset: u64,
    unread: &'a RefCell<Vec<u64>>,
}

impl<F: Read> Read for Watched<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = self.offset;
        let read = self.file.read(buffer)?;
        self.offset += read as u64;
        let bytes = start..self.offset;
        self.unread.borrow_mut().retain(|offset| !bytes.contains(offset));
        Ok(read)
    }
}

impl<F: Seek> Seek for Watched<'_, F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.offset = self.file.seek(to)?;
        Ok(self.offset)
    }
}
