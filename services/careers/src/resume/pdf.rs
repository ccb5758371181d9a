//! PDF check: looks for header and trailer (ISO 32000-1, 7.5.2 and 7.5.5), and for active content.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::{Captures, Regex, RegexSet};
use site_events::event::ActiveContent::{self, EmbeddedFile, JavaScript, Launch};

use super::{Look, ResumeError, ResumeKind, without_white_space_before};

/// PDF viewers search this many bytes for the header (ISO 32000-1, annex H, implementation note 13).
const HEADER_WITHIN_BYTES: usize = 1024;
const HEADER: &[u8] = b"%PDF-";
/// First bytes of programs, scripts and web pages, which are rejected even if a PDF header follows.
const OTHER_KINDS: [&[u8]; 4] = [b"MZ", b"#!", b"@", b"<"];

/// Patterns of active content; compressed objects are not searched. Each pattern includes the value's type, so that a
/// text such as `HTML/JavaScript` does not match.
const ACTIVE: [(&str, ActiveContent); 7] = [
    (r"(?-u)/S\s*/JavaScript\b", JavaScript),
    (r"(?-u)/JavaScript\s*(<<|\d+\s+\d+\s+R)", JavaScript),
    (r"(?-u)/JS\s*(\(|<[\s\dA-Fa-f>]|\d+\s+\d+\s+R)", JavaScript),
    (r"(?-u)/S\s*/Launch\b", Launch),
    (r"(?-u)/(EmbeddedFiles|EF)\s*(<<|\d+\s+\d+\s+R)", EmbeddedFile),
    (r"(?-u)/Type\s*/EmbeddedFile\b", EmbeddedFile),
    (r"(?-u)/Subtype\s*/FileAttachment\b", EmbeddedFile),
];
static PATTERNS: LazyLock<RegexSet> =
    LazyLock::new(|| RegexSet::new(ACTIVE.map(|(pattern, _)| pattern)).expect("they are patterns"));
/// Escaped character of a name (ISO 32000-1, 7.3.5).
static ESCAPED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("(?-u)#([0-9A-Fa-f]{2})").expect("it is a pattern"));

/// Accepts any bytes after the trailer, because servers append padding and remarks, which PDF viewers ignore.
///
/// # Errors
///
/// If the header or the trailer is missing.
pub fn look(content: &[u8]) -> Look {
    if !has_header(content) || !has_trailer(content) {
        return Err(ResumeError::Content(ResumeKind::Pdf));
    }
    let content = ESCAPED.replace_all(content, |escaped: &Captures<'_>| {
        let digits = str::from_utf8(&escaped[1]).unwrap_or_default();
        u8::from_str_radix(digits, 16).map_or_else(|_| Vec::new(), |byte| vec![byte])
    });
    let found = PATTERNS.matches(&content).into_iter();
    Ok(found.map(|pattern| ACTIVE[pattern].1).collect())
}

/// Whether there is a header. Text may precede it, because some printer drivers and servers write text there.
fn has_header(content: &[u8]) -> bool {
    let head = &content[..content.len().min(HEADER_WITHIN_BYTES)];
    let Some(start) = memmem::find(head, HEADER) else {
        return false;
    };
    let is_text = |byte: &u8| byte.is_ascii_graphic() || b"\t\n\x0c\r\x1b ".contains(byte);
    let before = without_white_space_before(&head[..start]);
    let version = content.get(start + HEADER.len());
    version.is_some_and(u8::is_ascii_digit)
        && before.iter().all(is_text)
        && !OTHER_KINDS.iter().any(|other| before.starts_with(other))
}

fn has_trailer(content: &[u8]) -> bool {
    let end = memmem::rfind(content, b"%%EOF");
    end.is_some_and(|end| memmem::rfind(&content[..end], b"startxref").is_some())
}
