//! PDF by content: the header at the very start, and the trailer at the end (ISO 32000-1, 7.5.2 and 7.5.5).

use std::io::{self, Read, Seek, SeekFrom};

use super::{archive::Archive, verdict::Verdict};

/// How much is read of the start: as far as readers look for the header (annex H, implementation note 13).
const HEAD_BYTES: u64 = 1024;
/// How far from the end readers look for the marker of the end (annex H, implementation note 18).
const END_WITHIN_BYTES: usize = 1024;
/// How much is read of the end: the marker may be that far from it, and the offset of the last cross-reference stands before.
const TAIL_BYTES: u64 = 2048;
/// What may come before the header, besides white space: honest files get both from scripts that hand them out. All else
/// would make it another kind of file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const END_OF_STREAM: &[u8] = b"endstream";

/// A file that is an archive at the same time is none: which of both is opened is for others to choose.
///
/// # Errors
///
/// If the file cannot be read; a content that cannot be made sense of differs.
pub fn verify(file: &mut (impl Read + Seek)) -> io::Result<Verdict> {
    let is_pdf = has_header(file)? && has_trailer(file)?;
    let archive = Archive::find(file)?.filter(Archive::has_entries);
    let archive_end = archive.map(|archive| archive.end());
    let is_embedded = match archive_end {
        Some(end) => ends_a_stream(file, end)?,
        None => true,
    };
    Ok(if is_pdf && is_embedded {
        Verdict::Agrees
    } else {
        Verdict::Differs
    })
}

/// Whether what ends here is the content of a stream (7.3.8): some writers embed the text that a PDF was made of.
fn ends_a_stream(file: &mut (impl Read + Seek), end: u64) -> io::Result<bool> {
    let mut behind = Vec::new();
    file.seek(SeekFrom::Start(end))?;
    file.take(END_OF_STREAM.len() as u64 + 2)
        .read_to_end(&mut behind)?;
    Ok(behind.trim_ascii_start().starts_with(END_OF_STREAM))
}

fn has_header(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
    let version = text.trim_ascii_start().strip_prefix(b"%PDF-");
    Ok(matches!(version, Some([major, b'.', minor, ..]) if major.is_ascii_digit() && minor.is_ascii_digit()))
}

fn has_trailer(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail)?;
    let end = last(b"%%EOF", &tail).filter(|at| tail.len() - at <= END_WITHIN_BYTES);
    Ok(end.is_some_and(|end| last(b"startxref", &tail[..end]).is_some()))
}

/// Where `word` stands last.
fn last(word: &[u8], text: &[u8]) -> Option<usize> {
    text.windows(word.len()).rposition(|window| window == word)
}
