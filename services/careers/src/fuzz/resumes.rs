//! A file that somebody sends as their résumé, and its name.

use bolero::check;
use resumes::{readable_file_name, safe_file_name};
use visitor::invisible::is_invisible;

use crate::resume::{
    ResumeKind, Verdict,
    samples::{KINDS, looked},
};

const ITERATIONS: usize = 300;
/// More than this nobody reads of a file of so many bytes: each part of it a few times, in buffers of 64 KiB.
const MAX_READ_BYTES: u64 = 3 * 1024 * 1024;
const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// What a file of this kind begins with, whatever else it holds.
fn begins_as(kind: ResumeKind, content: &[u8]) -> bool {
    match kind {
        ResumeKind::Pdf => {
            let text = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
            text.trim_ascii_start().starts_with(b"%PDF-")
        }
        ResumeKind::Doc => content.starts_with(&COMPOUND_FILE),
        ResumeKind::Docx => content.starts_with(b"PK\x03\x04"),
    }
}

/// The names that programs for archives show which go by the end record at this offset, and by the size of the directory that it tells.
fn listed(content: &[u8], end_record: usize) -> Vec<&[u8]> {
    let number = |at: usize, bytes: usize| {
        let field = content.get(at..at + bytes)?;
        Some(
            field
                .iter()
                .rev()
                .fold(0_usize, |value, byte| (value << 8) | usize::from(*byte)),
        )
    };
    let mut names = Vec::new();
    let directory_bytes = number(end_record + 12, 4);
    let mut entry = directory_bytes.and_then(|bytes| end_record.checked_sub(bytes));
    while let Some(at) = entry.filter(|at| content[*at..].starts_with(b"PK\x01\x02")) {
        let lengths = [28, 30, 32].map(|field| number(at + field, 2).unwrap_or_default());
        names.extend(content.get(at + 46..at + 46 + lengths[0]));
        entry = Some(at + 46 + lengths.iter().sum::<usize>()).filter(|next| *next <= content.len());
    }
    names
}

/// Whether a program for archives shows one that a person or Java starts.
fn hides_a_program(content: &[u8]) -> bool {
    let end_records = (0..content.len()).filter(|at| content[*at..].starts_with(b"PK\x05\x06"));
    let programs = [&b".bat"[..], b".exe", b".class", b"MANIFEST.MF"];
    end_records
        .flat_map(|at| listed(content, at))
        .any(|name| programs.iter().any(|ending| name.ends_with(ending)))
}

/// Whether other programs take it for something else, wherever they look for that.
fn is_another(kind: ResumeKind, content: &[u8]) -> bool {
    let has_header = content[..content.len().min(1024)]
        .windows(5)
        .any(|window| window == b"%PDF-");
    let is_white_space = |byte: &u8| b"\0\t\n\x0c\r ".contains(byte);
    let text_bytes = content
        .iter()
        .rposition(|byte| !is_white_space(byte))
        .map_or(0, |last| last + 1);
    let ends_as_pdf = content[..text_bytes].ends_with(b"%%EOF");
    let from_end = |bytes: usize| content.len().checked_sub(bytes).map(|at| &content[at..]);
    has_header != (kind == ResumeKind::Pdf)
        || (kind == ResumeKind::Pdf && !ends_as_pdf)
        || (kind != ResumeKind::Docx && hides_a_program(content))
        || content.get(257..262) == Some(b"ustar")
        || from_end(512).is_some_and(|block| block.starts_with(b"koly"))
}

#[test]
fn whatever_a_file_holds_it_is_of_one_kind_at_most_and_little_is_read_to_tell() {
    check!(name = "resumes")
        .with_iterations(ITERATIONS)
        .with_max_len(16_384)
        .for_each(|content: &[u8]| {
            let mut found = Vec::new();
            for kind in KINDS {
                let (verdict, read_bytes) = looked(kind, content);
                assert!(
                    read_bytes <= MAX_READ_BYTES,
                    "{read_bytes} bytes are read for {kind}"
                );
                if verdict == Verdict::Agrees {
                    assert!(begins_as(kind, content), "{kind}");
                    assert!(!is_another(kind, content), "{kind}");
                    found.push(kind);
                }
            }
            assert!(found.len() <= 1, "{found:?}");
        });
}

#[test]
fn whatever_a_file_is_called_the_name_that_recruiters_see_ends_as_its_kind_and_hides_nothing() {
    check!(name = "resume-names")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let raw = String::from_utf8_lossy(input);
            let kind = ResumeKind::of_name(&raw);
            let readable = readable_file_name(&raw);
            assert!(
                !readable.contains(|c: char| c.is_control() || is_invisible(c)),
                "{readable:?}"
            );
            assert!(!readable.contains(['/', '\\']) && !readable.starts_with('.'));
            assert!((1..=120).contains(&readable.chars().count()));
            let safe = safe_file_name(&raw);
            for name in [&readable, &safe] {
                assert_eq!(ResumeKind::of_name(name), kind, "{name}");
                let ending = name
                    .rsplit_once('.')
                    .map(|(_, ending)| ending.to_ascii_lowercase());
                let is_allowed =
                    ending.is_some_and(|ending| ["pdf", "doc", "docx"].contains(&ending.as_str()));
                assert_eq!(is_allowed, kind.is_some(), "{name}");
            }
        });
}
