//! Property tests: guarantees of the résumé check for any content.

use proptest::prelude::*;

use super::samples::{KINDS, doc, docx, is_taken, pdf};

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let place = any::<prop::sample::Index>;
    let sample = prop::sample::select(vec![pdf(), docx(), doc(), [pdf(), docx()].concat()]);
    let changes = prop::collection::vec((place(), any::<u8>()), 0..12);
    let piece = (place(), 0..64_usize, place());
    (sample, changes, piece).prop_map(|(mut file, changes, (from, length, to))| {
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let from = from.index(file.len());
        let end = (from + length).min(file.len());
        let moved: Vec<u8> = file.drain(from..end).collect();
        let to = to.index(file.len() + 1);
        file.splice(to..to, moved);
        file
    })
}

proptest! {
    #[test]
    fn a_broken_file_is_of_one_kind_at_most(content in mutated()) {
        let found: Vec<_> = KINDS.into_iter().filter(|kind| is_taken(*kind, &content)).collect();
        prop_assert!(found.len() <= 1, "{found:?}");
    }
}
