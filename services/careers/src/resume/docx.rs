//! DOCX check: an archive whose content types (ECMA-376, part 2, 6.2.3) name a word processing document.

use std::{collections::BTreeSet, io::Read, sync::LazyLock};

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use flate2::read::DeflateDecoder;
use quick_xml::escape::unescape;
use rawzip::{CompressionMethod, ZipLocator};
use regex::Regex;
use site_events::event::ActiveContent::{ExternalTemplate, Macros};

use super::{Look, MAX_BYTES, ResumeError, ResumeKind, doc, without_white_space_before};

/// Limit of files in the archive. Office writes about twenty, plus one for each picture.
pub(super) const MAX_ENTRIES: usize = 4096;
/// Limit of packed plus unpacked bytes of content types and relationships. Packed bytes count, because many entries
/// can share the same packed bytes.
pub(super) const MAX_LIST_BYTES: u64 = 4 * 1024 * 1024;

const NO_DOCUMENT: ResumeError = ResumeError::Content(ResumeKind::Docx);

/// Tag of an XML element.
static LINE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"<("[^"]*"|'[^']*'|[^"'>])*>"#));
/// Content type of a word processing document (ECMA-376, part 1, 11.3.10), or of Office's documents with macros.
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    let kinds = r"(openxmlformats-officedocument\.wordprocessingml|ms-word)";
    pattern(&format!(
        "contenttype=.application/vnd\\.{kinds}\\.[^\"']*\\.main\\+xml"
    ))
});
/// Relationships whose target Word loads when it opens the document (ECMA-376, part 1, 11.3 and 15.2).
static LOADED: LazyLock<Regex> =
    LazyLock::new(|| pattern("type=.[^\"']*/(attachedtemplate|oleobject|subdocument|frame|afchunk)[\"']"));
static EXTERNAL: LazyLock<Regex> = LazyLock::new(|| pattern("targetmode=.external"));
/// Target on another computer. A drive such as `C:` does not match, because templates are often on a local disk.
static ELSEWHERE: LazyLock<Regex> =
    LazyLock::new(|| pattern("target=.(//|file:////|file://[^/]|(f[^i]|[^f./])[^\"'/:]+:)"));

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("it is a pattern")
}

/// Accepts archives with trailing data or with backslashes in names, because Word opens them.
///
/// # Errors
///
/// If the content is no document, has a password, or has more parts than a résumé needs.
pub fn look(content: &[u8]) -> Look {
    if doc::look(content) == Err(ResumeError::Protected) {
        return Err(ResumeError::Protected);
    }
    let (names, lists) = names_and_lists(without_white_space_before(content))?;
    let (mut is_document, mut active) = (false, BTreeSet::new());
    for line in lists.iter().flat_map(|list| LINE.find_iter(list)) {
        let line = plain(&unescape(line.as_str()).unwrap_or(line.as_str().into()));
        is_document |= DOCUMENT.is_match(&line);
        let has_macros = line.contains("macroenabled") || line.contains(".vbaproject");
        active.extend(has_macros.then_some(Macros));
        let is_loaded = LOADED.is_match(&line) && EXTERNAL.is_match(&line) && ELSEWHERE.is_match(&line);
        active.extend(is_loaded.then_some(ExternalTemplate));
    }
    let has_macros = names.iter().any(|name| name.ends_with("vbaproject.bin"));
    active.extend(has_macros.then_some(Macros));
    is_document &= names.iter().any(|name| name.contains("word/"));
    // ECMA-376, part 2, 6.1.4 forbids a DOCTYPE. Its entities could hide keywords from this check.
    is_document &= !lists.iter().any(|list| list.contains("<!DOCTYPE"));
    is_document.then_some(active).ok_or(NO_DOCUMENT)
}

fn names_and_lists(content: &[u8]) -> Result<(Vec<String>, Vec<String>), ResumeError> {
    // Signature of a ZIP archive (APPNOTE 4.3.7).
    if !content.starts_with(b"PK\x03\x04") {
        return Err(NO_DOCUMENT);
    }
    let locator = ZipLocator::new().max_search_space(MAX_BYTES);
    let archive = locator.locate_in_slice(content).map_err(|_| NO_DOCUMENT)?;
    let (mut names, mut lists, mut left) = (Vec::new(), Vec::new(), MAX_LIST_BYTES);
    for entry in archive.entries() {
        let entry = entry.map_err(|_| NO_DOCUMENT)?;
        let name = plain(&String::from_utf8_lossy(entry.file_path().as_bytes()));
        if name.ends_with("[content_types].xml") || name.ends_with(".rels") {
            let part = archive.get_entry(entry.wayfinder()).map_err(|_| NO_DOCUMENT)?;
            let (packed, mut list) = (part.data(), Vec::new());
            let unpacked = match entry.compression_method() {
                CompressionMethod::STORE => packed.take(left).read_to_end(&mut list),
                CompressionMethod::DEFLATE => DeflateDecoder::new(packed).take(left).read_to_end(&mut list),
                _ => return Err(NO_DOCUMENT),
            };
            unpacked.map_err(|_| NO_DOCUMENT)?;
            left = left.saturating_sub((packed.len() + list.len()) as u64);
            lists.push(text(&list));
        }
        names.push(name);
        if left == 0 || names.len() > MAX_ENTRIES {
            return Err(ResumeError::Crowded);
        }
    }
    Ok((names, lists))
}

/// Decodes UTF-8 or UTF-16 (ECMA-376, part 2, 6.1.4).
fn text(list: &[u8]) -> String {
    let encoding = match list {
        [0, b'<', ..] => UTF_16BE,
        [b'<', 0, ..] => UTF_16LE,
        _ => UTF_8,
    };
    encoding.decode(list).0.into_owned()
}

/// Normalizes text for comparison: case and whitespace do not matter, and some programs write backslashes.
fn plain(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.replace('\\', "/").to_ascii_lowercase()
}
