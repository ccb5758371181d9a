//! DOCX by content: an archive with a list of content types (ECMA-376, part 2) that names a word processor's document.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchiveEntryWayfinder};

use super::{
    archive::{Archive, end_records},
    content_types,
    verdict::Verdict,
};

/// The most entries of an archive that are looked at. Office writes some twenty, and one for each picture.
pub(super) const MAX_ENTRIES: u64 = 4096;
/// The largest directory that is read.
pub(super) const MAX_DIRECTORY_BYTES: u64 = 512 * 1024;
/// The longest list of content types that is unpacked.
pub(super) const MAX_CONTENT_TYPES_BYTES: u64 = 512 * 1024;

const CONTENT_TYPES: &str = "[Content_Types].xml";
/// What every archive begins with that has nothing before it (APPNOTE 4.3.7).
const LOCAL_HEADER: [u8; 4] = *b"PK\x03\x04";

/// Nothing may come before the archive or behind it, so that the file is nothing else at the same time.
///
/// # Errors
///
/// If the file cannot be read; a content that cannot be made sense of differs.
pub fn verify(file: &mut (impl Read + Seek)) -> io::Result<Verdict> {
    if !begins_as_archive(file)? {
        return Ok(Verdict::Differs);
    }
    let records = end_records(file)?;
    let Some(&last) = records.last() else {
        return Ok(Verdict::Differs);
    };
    let Some(archive) = Archive::at(file, last)? else {
        return Ok(Verdict::Differs);
    };
    if archive.told_entries() > MAX_ENTRIES || archive.directory_bytes() > MAX_DIRECTORY_BYTES {
        return Ok(Verdict::Crowded);
    }
    // Before its directory stand its files, which may be archives: Word embeds workbooks, and some writers do not pack them.
    let has_one_end = records
        .iter()
        .all(|record| *record == last || *record < archive.directory_offset());
    let is_document = archive.ends_the_file()
        && has_one_end
        && archive.has_one_directory()?
        && is_document(&archive).unwrap_or(false);
    Ok(if is_document {
        Verdict::Agrees
    } else {
        Verdict::Differs
    })
}

fn begins_as_archive(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    let mut head = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LOCAL_HEADER.len() as u64).read_to_end(&mut head)?;
    Ok(head == LOCAL_HEADER)
}

fn is_document<F: Read + Seek>(archive: &Archive<'_, F>) -> Result<bool, rawzip::Error> {
    let (mut entries, mut first_offset) = (0, u64::MAX);
    archive.for_each(|entry| {
        entries += 1;
        first_offset = first_offset.min(entry.local_header_offset());
    })?;
    if entries != archive.told_entries() || first_offset != 0 {
        return Ok(false);
    }
    let Some(types) = only_entry(archive, CONTENT_TYPES)? else {
        return Ok(false);
    };
    let Some(document) = document_part(archive, types)? else {
        return Ok(false);
    };
    Ok(only_entry(archive, document.trim_start_matches('/'))?.is_some())
}

struct Entry {
    wayfinder: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

/// The entry of this name; `None` also where there are two, of which readers choose differently. Names of parts are compared
/// without case (ECMA-376, part 2, 6.2.2.3).
fn only_entry<F: Read + Seek>(archive: &Archive<'_, F>, name: &str) -> Result<Option<Entry>, rawzip::Error> {
    let (mut found, mut times) = (None, 0);
    archive.for_each(|entry| {
        if entry.file_path().as_bytes().eq_ignore_ascii_case(name.as_bytes()) {
            times += 1;
            found = Some(Entry {
                wayfinder: entry.wayfinder(),
                method: entry.compression_method(),
            });
        }
    })?;
    Ok(found.filter(|_| times == 1))
}

/// The part that the list of content types calls the document.
fn document_part<F: Read + Seek>(
    archive: &Archive<'_, F>,
    Entry { wayfinder, method }: Entry,
) -> Result<Option<String>, rawzip::Error> {
    let entry = archive.inner().get_entry(wayfinder)?;
    let packed = entry.reader();
    Ok(match method {
        CompressionMethod::STORE => unpacked_document_part(packed),
        CompressionMethod::DEFLATE => unpacked_document_part(DeflateDecoder::new(packed)),
        _ => None,
    })
}

fn unpacked_document_part(list: impl Read) -> Option<String> {
    content_types::document_part(BufReader::new(list.take(MAX_CONTENT_TYPES_BYTES)))
}
