//! Fuzz targets: content and name of a résumé file.

use bolero::check;
use resumes::{readable_file_name, safe_file_name};
use visitor::invisible::is_invisible;

use crate::resume::{
    ResumeKind,
    samples::{KINDS, is_taken},
};

const ITERATIONS: usize = 300;
const COMPOUND_FILE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

fn begins_as(kind: ResumeKind, content: &[u8]) -> bool {
    let text = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    match kind {
        ResumeKind::Pdf => content[..content.len().min(1024)]
            .windows(5)
            .any(|window| window == b"%PDF-"),
        ResumeKind::Doc => content.starts_with(&COMPOUND_FILE),
        ResumeKind::Docx => text.trim_ascii_start().starts_with(b"PK\x03\x04"),
    }
}

#[test]
fn whatever_a_file_holds_it_is_of_one_kind_at_most() {
    check!(name = "resumes")
        .with_iterations(ITERATIONS)
        .with_max_len(16_384)
        .for_each(|content: &[u8]| {
            let found: Vec<_> = KINDS
                .into_iter()
                .filter(|kind| is_taken(*kind, content))
                .collect();
            assert!(found.len() <= 1, "{found:?}");
            for kind in found {
                assert!(begins_as(kind, content), "{kind:?}");
            }
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
