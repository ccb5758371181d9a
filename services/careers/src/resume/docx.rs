//! DOCX by content: an archive with a list of content types (ECMA-376, part 2, 6.2.3) that names a word processor's document.

use std::{borrow::Cow, collections::BTreeSet, io::Read};

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use flate2::read::DeflateDecoder;
use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};
use rawzip::{CompressionMethod, ZipLocator};
use site_events::event::ActiveContent::{self, EmbeddedFile, ExternalTemplate, Macros};

use super::{Look, MAX_BYTES, ResumeError, doc, kind::ResumeKind, without_white_space_before};

/// The most entries of an archive. Office writes some twenty, and one for each picture.
pub(super) const MAX_ENTRIES: usize = 4096;
/// How much is read of the lists of content types and of relationships, packed and unpacked together: entries can share packed bytes.
pub(super) const MAX_LIST_BYTES: u64 = 4 * 1024 * 1024;

const NO_DOCUMENT: ResumeError = ResumeError::Content(ResumeKind::Docx);
/// How an archive begins (APPNOTE 4.3.7).
const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
/// The documents of a word processor (ECMA-376, part 1, 11.3.10), and Office's own with macros.
const DOCUMENTS: [&str; 2] = [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.",
    "application/vnd.ms-word.",
];
/// Relationships that have a program load something on opening (ECMA-376, part 1, 11.3 and 15.2).
const LOADED: [&str; 5] = ["attachedtemplate", "oleobject", "subdocument", "frame", "afchunk"];
/// Embedded files that run nothing.
const PLAIN_ENDINGS: [&str; 6] = [".rels", "/", ".xml", ".docx", ".xlsx", ".pptx"];

/// Anything may stand behind the archive, and names may have backslashes: Word opens both.
///
/// # Errors
///
/// If it is no document, has a password, or has more parts than a résumé needs.
pub fn look(content: &[u8]) -> Look {
    if doc::look(content) == Err(ResumeError::Protected) {
        return Err(ResumeError::Protected);
    }
    let content = without_white_space_before(content);
    if !content.starts_with(LOCAL_HEADER) {
        return Err(NO_DOCUMENT);
    }
    let locator = ZipLocator::new().max_search_space(MAX_BYTES);
    let archive = locator.locate_in_slice(content).map_err(|_| NO_DOCUMENT)?;
    let (mut names, mut lists, mut left) = (BTreeSet::new(), Lists::default(), MAX_LIST_BYTES);
    for (number, entry) in archive.entries().enumerate() {
        let entry = entry.map_err(|_| NO_DOCUMENT)?;
        if number >= MAX_ENTRIES {
            return Err(ResumeError::Crowded);
        }
        let name = part_name(&String::from_utf8_lossy(entry.file_path().as_bytes()));
        if name == "[content_types].xml" || name.ends_with(".rels") {
            let part = archive.get_entry(entry.wayfinder()).map_err(|_| NO_DOCUMENT)?;
            let list = unpacked(part.data(), entry.compression_method(), left)?;
            left = left.saturating_sub((part.data().len() + list.len()) as u64);
            if left == 0 {
                return Err(ResumeError::Crowded);
            }
            lists.read(&text(&list))?;
        }
        names.insert(name);
    }
    if lists.documents.is_disjoint(&names) {
        return Err(NO_DOCUMENT);
    }
    lists
        .active
        .extend(names.iter().filter_map(|name| active_part(name)));
    Ok(lists.active)
}

/// At most so many bytes of a list.
fn unpacked(packed: &[u8], method: CompressionMethod, most: u64) -> Result<Vec<u8>, ResumeError> {
    let mut list = Vec::new();
    let read = match method {
        CompressionMethod::STORE => packed.take(most).read_to_end(&mut list),
        CompressionMethod::DEFLATE => DeflateDecoder::new(packed).take(most).read_to_end(&mut list),
        _ => return Err(NO_DOCUMENT),
    };
    read.map(|_| list).map_err(|_| NO_DOCUMENT)
}

/// The text of a list, in UTF-8 or UTF-16 (ECMA-376, part 2, 6.1.4).
fn text(list: &[u8]) -> Cow<'_, str> {
    let encoding = match list {
        [0, b'<', ..] => UTF_16BE,
        [b'<', 0, ..] => UTF_16LE,
        _ => UTF_8,
    };
    encoding.decode(list).0
}

/// Names of parts are compared without case (ECMA-376, part 2, 6.2.2.3), and some writers have backslashes in them.
fn part_name(raw: &str) -> String {
    let name = raw.replace('\\', "/").to_ascii_lowercase();
    name.trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// The active content that a part is, by its name.
fn active_part(name: &str) -> Option<ActiveContent> {
    let is_plain = PLAIN_ENDINGS.iter().any(|ending| name.ends_with(ending));
    if name.ends_with("vbaproject.bin") {
        Some(Macros)
    } else {
        let is_embedded = name.contains("/activex/") || name.contains("/embeddings/");
        (is_embedded && !is_plain).then_some(EmbeddedFile)
    }
}

/// What the lists of an archive declare: its documents, and active content.
#[derive(Default)]
struct Lists {
    documents: BTreeSet<String>,
    active: BTreeSet<ActiveContent>,
}

impl Lists {
    /// Reads a list up to its first mistake.
    fn read(&mut self, list: &str) -> Result<(), ResumeError> {
        let mut reader = Reader::from_str(list);
        loop {
            match reader.read_event() {
                Ok(Event::Start(line) | Event::Empty(line)) => self.read_line(&line),
                // Not allowed in packages (ECMA-376, part 2, 6.1.4), and the way to make a short text long.
                Ok(Event::DocType(_)) => return Err(NO_DOCUMENT),
                Ok(Event::Eof) | Err(_) => return Ok(()),
                Ok(_) => {}
            }
        }
    }

    fn read_line(&mut self, line: &BytesStart<'_>) {
        let content_type = attribute(line, "ContentType");
        let is_document = content_type.ends_with(".main+xml")
            && DOCUMENTS
                .iter()
                .any(|document| content_type.starts_with(document));
        match line.local_name().as_ref() {
            b"Override" if is_document => self.documents.extend([part_name(&attribute(line, "PartName"))]),
            b"Default" if is_document => self.documents.extend(["word/document.xml".to_owned()]),
            b"Relationship" if loads_from_elsewhere(line) => self.active.extend([ExternalTemplate]),
            _ => {}
        }
        if content_type.contains("macroenabled") || content_type.ends_with(".vbaproject") {
            self.active.insert(Macros);
        }
    }
}

/// An attribute in lower case, without white space around it; nothing where there is none.
fn attribute(line: &BytesStart<'_>, name: &str) -> String {
    let found = line.try_get_attribute(name).ok().flatten();
    let value = found
        .as_ref()
        .map(|found| found.normalized_value(XmlVersion::Implicit1_0));
    value
        .and_then(Result::ok)
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// Whether a relationship has Word load something that is not on the disk of whoever opens the file, where its templates are.
fn loads_from_elsewhere(line: &BytesStart<'_>) -> bool {
    let target = attribute(line, "Target").replace('\\', "/");
    let is_on_disk = match target.strip_prefix("file:///") {
        Some(path) => !path.starts_with('/'),
        // A scheme of one letter is a drive.
        None => target.find(':').is_none_or(|colon| colon == 1) && !target.starts_with("//"),
    };
    let kind = attribute(line, "Type");
    let kind = kind.rsplit('/').next().unwrap_or_default();
    LOADED.contains(&kind) && attribute(line, "TargetMode") == "external" && !is_on_disk
}
