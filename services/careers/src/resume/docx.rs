//! DOCX by content: an archive with a list of content types (ECMA-376, part 2, 6.2.3) that names a word processor's document.

use std::{borrow::Cow, collections::BTreeSet, io::Read};

use flate2::read::DeflateDecoder;
use quick_xml::{
    Reader, XmlVersion,
    events::{BytesStart, Event},
};
use rawzip::{CompressionMethod, ZipArchiveEntryWayfinder, ZipLocator, ZipSliceArchive};
use site_events::event::ActiveContent::{self, EmbeddedFile, ExternalTemplate, Macros};

use super::{Look, MAX_BYTES, ResumeError, doc, kind::ResumeKind, without_white_space_before};

/// The most entries of an archive that are looked at. Office writes some twenty, and one for each picture.
pub(super) const MAX_ENTRIES: usize = 4096;
/// The largest directory that is read.
const MAX_DIRECTORY_BYTES: u64 = 512 * 1024;
/// How much is unpacked of an archive: its list of content types and its relationships.
pub(super) const MAX_UNPACKED_BYTES: u64 = 4 * 1024 * 1024;

const NO_DOCUMENT: ResumeError = ResumeError::Content(ResumeKind::Docx);
/// What an archive begins with (APPNOTE 4.3.7).
const LOCAL_HEADER: &[u8] = b"PK\x03\x04";
const CONTENT_TYPES: &str = "[content_types].xml";
/// The documents of a word processor (ECMA-376, part 1, 11.3.10), and Office's own with macros.
const DOCUMENT: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.";
const MACRO_DOCUMENTS: [&str; 2] = [
    "application/vnd.ms-word.document.macroenabled.main+xml",
    "application/vnd.ms-word.template.macroenabledtemplate.main+xml",
];
/// What Office calls the document.
const USUAL_PART: &str = "word/document.xml";
/// Relationships that have a program load something on opening (ECMA-376, part 1, 11.3 and 15.2).
const LOADED: [&str; 5] = ["attachedtemplate", "oleobject", "subdocument", "frame", "afchunk"];

/// What stands behind the archive is no matter, and names may have backslashes: Word opens both.
///
/// # Errors
///
/// If it is no document, is encrypted, or there is more of it than a résumé needs.
pub fn look(content: &[u8]) -> Look {
    if content.starts_with(&doc::COMPOUND_FILE) {
        let is_protected = doc::look(content) == Err(ResumeError::Protected);
        return Err(if is_protected {
            ResumeError::Protected
        } else {
            NO_DOCUMENT
        });
    }
    let content = without_white_space_before(content);
    let locator = ZipLocator::new().max_search_space(MAX_BYTES);
    let archive = locator.locate_in_slice(content).map_err(|_| NO_DOCUMENT)?;
    let directory_bytes = archive.eocd_offset().saturating_sub(archive.directory_offset());
    if archive.entries_hint() > MAX_ENTRIES as u64 || directory_bytes > MAX_DIRECTORY_BYTES {
        return Err(ResumeError::Crowded);
    }
    if !content.starts_with(LOCAL_HEADER) {
        return Err(NO_DOCUMENT);
    }
    Package::default().look(&archive)
}

/// What is known of a package.
#[derive(Default)]
struct Package {
    names: BTreeSet<String>,
    /// The parts that are documents by their own lines, or by their ending.
    documents: BTreeSet<String>,
    active: BTreeSet<ActiveContent>,
    packed_bytes: u64,
    unpacked_bytes: u64,
}

impl Package {
    fn look(mut self, archive: &ZipSliceArchive<&[u8]>) -> Look {
        for (number, entry) in archive.entries().enumerate() {
            if number >= MAX_ENTRIES {
                return Err(ResumeError::Crowded);
            }
            let entry = entry.map_err(|_| NO_DOCUMENT)?;
            let name = part_name(&String::from_utf8_lossy(entry.file_path().as_bytes()));
            if name == CONTENT_TYPES || name.ends_with(".rels") {
                let list = self.unpacked(archive, entry.wayfinder(), entry.compression_method())?;
                self.read_list(&list)?;
            }
            self.active.extend(meaning(&name));
            self.names.insert(name);
        }
        if self.documents.is_disjoint(&self.names) {
            return Err(NO_DOCUMENT);
        }
        Ok(self.active)
    }

    /// The text of a list. All of them together are bounded, packed too: entries can share what is packed.
    fn unpacked(
        &mut self,
        archive: &ZipSliceArchive<&[u8]>,
        entry: ZipArchiveEntryWayfinder,
        method: CompressionMethod,
    ) -> Result<String, ResumeError> {
        let entry = archive.get_entry(entry).map_err(|_| NO_DOCUMENT)?;
        let packed = entry.data();
        self.packed_bytes += packed.len() as u64;
        if self.packed_bytes > archive.get_ref().len() as u64 {
            return Err(ResumeError::Crowded);
        }
        let most = MAX_UNPACKED_BYTES - self.unpacked_bytes;
        let mut list = Vec::new();
        let read = match method {
            CompressionMethod::STORE => packed.take(most + 1).read_to_end(&mut list),
            CompressionMethod::DEFLATE => DeflateDecoder::new(packed).take(most + 1).read_to_end(&mut list),
            _ => return Err(NO_DOCUMENT),
        };
        self.unpacked_bytes += read.map_err(|_| NO_DOCUMENT)? as u64;
        if self.unpacked_bytes > MAX_UNPACKED_BYTES {
            return Err(ResumeError::Crowded);
        }
        Ok(text(&list))
    }

    /// Reads a list as far as it is one.
    fn read_list(&mut self, list: &str) -> Result<(), ResumeError> {
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
        let is_macro_document = MACRO_DOCUMENTS.contains(&&content_type[..]);
        let is_document =
            is_macro_document || content_type.starts_with(DOCUMENT) && content_type.ends_with(".main+xml");
        match line.local_name().as_ref() {
            b"Override" if is_document => {
                self.documents.insert(part_name(&attribute(line, "PartName")));
            }
            b"Default" if is_document && attribute(line, "Extension") == "xml" => {
                self.documents.insert(USUAL_PART.to_owned());
            }
            b"Relationship" => self.active.extend(meaning_of_relationship(line)),
            _ => {}
        }
        if is_macro_document || content_type.ends_with(".vbaproject") {
            self.active.insert(Macros);
        }
    }
}

/// An attribute without case, or white space around it; nothing where there is none.
fn attribute(line: &BytesStart<'_>, name: &str) -> String {
    let found = line.try_get_attribute(name).ok().flatten();
    let value = found.and_then(|found| {
        found
            .normalized_value(XmlVersion::Implicit1_0)
            .ok()
            .map(Cow::into_owned)
    });
    value.unwrap_or_default().trim().to_ascii_lowercase()
}

fn meaning_of_relationship(line: &BytesStart<'_>) -> Option<ActiveContent> {
    let kind = attribute(line, "Type");
    let kind = kind.rsplit('/').next().unwrap_or_default();
    let is_loaded = LOADED.contains(&kind)
        && attribute(line, "TargetMode") == "external"
        && !is_on_ones_disk(&attribute(line, "Target"));
    match kind {
        "vbaproject" => Some(Macros),
        _ => is_loaded.then_some(ExternalTemplate),
    }
}

/// Whether this leads to the disk of whoever opens the file, where Word keeps its templates, and not to another machine (RFC 8089).
fn is_on_ones_disk(target: &str) -> bool {
    let target = target.replace('\\', "/");
    let file = target.strip_prefix("file:");
    let path = file.unwrap_or(&target);
    let bare = path.trim_start_matches('/');
    let has_drive = bare.get(1..2) == Some(":");
    let is_path = match path.len() - bare.len() {
        0 | 1 => file.is_some() || !bare.contains(':'),
        3 => file.is_some(),
        _ => false,
    };
    has_drive || is_path
}

/// What a part has a program do, by its name.
fn meaning(part: &str) -> Option<ActiveContent> {
    let is_program = part.contains("/activex/") || part.contains("/embeddings/");
    let is_plain = [".rels", "/", ".xml", ".docx", ".xlsx", ".pptx"]
        .iter()
        .any(|ending| part.ends_with(ending));
    match part.rsplit('/').next() {
        Some("vbaproject.bin") => Some(Macros),
        _ => (is_program && !is_plain).then_some(EmbeddedFile),
    }
}

/// Names of parts are compared without case (ECMA-376, part 2, 6.2.2.3), and some writers have backslashes in them.
fn part_name(raw: &str) -> String {
    let name = raw.replace('\\', "/").to_ascii_lowercase();
    name.trim_start_matches("./").trim_start_matches('/').to_owned()
}

/// A text in UTF-8 or UTF-16 (ECMA-376, part 2, 6.1.4).
fn text(xml: &[u8]) -> String {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let (units, _) = xml.as_chunks::<2>();
        String::from_utf16_lossy(&units.iter().copied().map(unit).collect::<Vec<_>>())
    };
    let text = match xml {
        [0xfe, 0xff, ..] | [0, b'<', ..] => wide(u16::from_be_bytes),
        [0xff, 0xfe, ..] | [b'<', 0, ..] => wide(u16::from_le_bytes),
        _ => String::from_utf8_lossy(xml).into_owned(),
    };
    text.trim_start_matches('\u{feff}').to_owned()
}
