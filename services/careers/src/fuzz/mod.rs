//! Fuzz target: the content of a résumé file. How to run it: docs/testing.md.

use bolero::check;

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
