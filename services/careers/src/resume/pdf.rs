//! PDF by content: the header at the very start, and the trailer at the end (ISO 32000-1, 7.5.2 and 7.5.5).

use std::io::{self, Read, Seek, SeekFrom};

use super::{embedded, verdict::Verdict};

/// How much is read of the start: as far as readers look for the header (annex H, implementation note 13).
const HEAD_BYTES: u64 = 1024;
/// How far from the end readers look for the marker of the end (annex H, implementation note 18).
const END_WITHIN_BYTES: usize = 1024;
/// How much is read of the end: the marker may be that far from it, and the offset of the last cross-reference stands before.
const TAIL_BYTES: u64 = 2048;
/// What may come before the header, besides white space: honest files get both from scripts that hand them out. All else
/// would make it another kind of file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const END_MARKER: &[u8] = b"%%EOF";
/// What may stand behind the marker: white space (7.2.2), to which some programs round files up.
const WHITE_SPACE: &[u8] = b"\0\t\n\x0c\r ";
const END_OF_STREAM: &[u8] = b"endstream";

/// A file that programs for archives open is none: which of both is opened is for others to choose. Let pass is the text that some writers
/// embed which a PDF was made of.
///
/// # Errors
///
/// If the file cannot be read; a content that cannot be made sense of differs.
pub fn verify(file: &mut (impl Read + Seek)) -> io::Result<Verdict> {
    Ok(
        if has_header(file)? && has_trailer(file)? && embeds_at_most_text(file)? {
            Verdict::Agrees
        } else {
            Verdict::Differs
        },
    )
}

fn embeds_at_most_text(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let Some(ends) = embedded::ends(file)? else {
        return Ok(false);
    };
    for end in ends {
        if !ends_a_stream(file, end)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether what ends here is the content of a stream (7.3.8).
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
    let Some(end) = last(END_MARKER, &tail).filter(|at| tail.len() - at <= END_WITHIN_BYTES) else {
        return Ok(false);
    };
    let (before, behind) = (&tail[..end], &tail[end + END_MARKER.len()..]);
    Ok(last(b"startxref", before).is_some() && behind.iter().all(|byte| WHITE_SPACE.contains(byte)))
}

/// Where `word` stands last.
fn last(word: &[u8], text: &[u8]) -> Option<usize> {
    text.windows(word.len()).rposition(|window| window == word)
}
