//! PDF by content: a header near the start and a trailer (ISO 32000-1, 7.5.2 and 7.5.5), and what its objects do.

use memchr::{memchr_iter, memmem};
use site_events::event::ActiveContent;

use super::{Look, ResumeError, kind::ResumeKind, without_white_space_before};

/// How far from the start readers look for the header (annex H, implementation note 13).
const HEADER_WITHIN_BYTES: usize = 1024;
const HEADER: &[u8] = b"%PDF-";
/// How programs, scripts and pages begin, which are no PDF whatever their second line says.
const OTHER_KINDS: [&[u8]; 4] = [b"MZ", b"#!", b"@", b"<"];
/// The longest name that is read of an object, with each character escaped (7.3.5).
const MAX_NAME_BYTES: usize = 64;

/// What stands behind the last trailer is no matter: readers pass over it, and servers leave padding and remarks there.
///
/// # Errors
///
/// If it has no header or no trailer.
pub fn look(content: &[u8]) -> Look {
    if !has_header(content) || !has_trailer(content) {
        return Err(ResumeError::Content(ResumeKind::Pdf));
    }
    let slashes = memchr_iter(b'/', content);
    Ok(slashes
        .filter_map(|at| meaning(&content[..at], &content[at + 1..]))
        .collect())
}

/// Text before the header is what printers' drivers and servers leave there.
fn has_header(content: &[u8]) -> bool {
    let head = &content[..content.len().min(HEADER_WITHIN_BYTES)];
    let Some(start) = memmem::find(head, HEADER) else {
        return false;
    };
    let is_text = |byte: &u8| byte.is_ascii_graphic() || b"\t\n\x0c\r\x1b ".contains(byte);
    let before = without_white_space_before(&head[..start]);
    let version = &content[start + HEADER.len()..];
    version.first().is_some_and(u8::is_ascii_digit)
        && before.iter().all(is_text)
        && !OTHER_KINDS.iter().any(|other| before.starts_with(other))
}

fn has_trailer(content: &[u8]) -> bool {
    let end = memmem::rfind(content, b"%%EOF");
    end.is_some_and(|end| memmem::rfind(&content[..end], b"startxref").is_some())
}

/// What the name that stands between these has a reader do. Names in packed objects are not seen, and none is what a text has behind a
/// slash, as `HTML/JavaScript`: it is neither the value of its key nor a key with a value of its kind.
fn meaning(before: &[u8], object: &[u8]) -> Option<ActiveContent> {
    let is_regular = |byte: &u8| byte.is_ascii_graphic() && !b"()<>[]{}/%".contains(byte);
    let object = &object[..object.len().min(MAX_NAME_BYTES)];
    let end = object.iter().position(|byte| !is_regular(byte))?;
    let (name, behind) = object.split_at(end);
    let behind = behind.trim_ascii_start();
    let has_dictionary = || behind.starts_with(b"<<") || is_reference(behind);
    let has_script = || behind.starts_with(b"(") || is_hexadecimal(behind) || is_reference(behind);
    let is_of = |key: &[u8]| {
        let before = before[before.len().saturating_sub(MAX_NAME_BYTES)..].trim_ascii_end();
        let slash = before.iter().rposition(|byte| *byte == b'/');
        slash.is_some_and(|slash| unescaped(&before[slash + 1..]) == key)
    };
    match &unescaped(name)[..] {
        b"JavaScript" if is_of(b"S") || has_dictionary() => Some(ActiveContent::JavaScript),
        b"JS" if has_script() => Some(ActiveContent::JavaScript),
        b"EmbeddedFiles" | b"EF" if has_dictionary() => Some(ActiveContent::EmbeddedFile),
        b"EmbeddedFile" if is_of(b"Type") => Some(ActiveContent::EmbeddedFile),
        b"FileAttachment" if is_of(b"Subtype") => Some(ActiveContent::EmbeddedFile),
        b"Launch" if is_of(b"S") => Some(ActiveContent::Launch),
        _ => None,
    }
}

/// Whether this begins with a reference to an object (7.3.10).
fn is_reference(object: &[u8]) -> bool {
    let mut words = object
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let mut is_number = || {
        words
            .next()
            .is_some_and(|word| word.iter().all(u8::is_ascii_digit))
    };
    is_number() && is_number() && words.next().is_some_and(|word| word.starts_with(b"R"))
}

/// Whether this begins with a text in hexadecimal digits (7.3.4.3), and not with an end of XML.
fn is_hexadecimal(object: &[u8]) -> bool {
    let digits = object.strip_prefix(b"<").unwrap_or_default().trim_ascii_start();
    matches!(
        digits.first(),
        Some(b'>' | b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F')
    )
}

/// A name may have any of its characters as a number (7.3.5).
fn unescaped(mut name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    while let [first, rest @ ..] = name {
        let escaped = if *first == b'#' { rest.get(..2) } else { None };
        let number = escaped.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
        plain.push(number.unwrap_or(*first));
        name = if number.is_some() { &rest[2..] } else { rest };
    }
    plain
}
