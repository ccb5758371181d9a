//! Properties of the check for any content and any name.

use proptest::prelude::*;

use super::{
    ResumeKind,
    samples::{KINDS, doc, docx, is_taken, pdf},
};

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let sample = prop_oneof![
        Just(pdf()),
        Just(docx()),
        Just(doc()),
        Just([pdf(), docx()].concat())
    ];
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12);
    let piece = (
        any::<prop::sample::Index>(),
        0..64_usize,
        any::<prop::sample::Index>(),
    );
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
    fn whatever_a_file_holds_the_look_into_it_ends(content in prop::collection::vec(any::<u8>(), 0..4096)) {
        for kind in KINDS {
            prop_assert!(!is_taken(kind, &content));
        }
    }

    #[test]
    fn however_a_file_was_broken_the_look_into_it_ends_and_finds_one_kind_at_most(content in mutated()) {
        let found: Vec<_> = KINDS.into_iter().filter(|kind| is_taken(*kind, &content)).collect();
        prop_assert!(found.len() <= 1, "{found:?}");
    }

    #[test]
    fn whatever_a_file_is_called_its_kind_is_that_of_the_name_that_is_kept(raw in "(\\PC|[\\x00-\\x20./]|\\.(pdf|DOC|docx|exe)){0,12}") {
        let kind = ResumeKind::of_name(&raw);
        for kept in [resumes::readable_file_name(&raw), resumes::safe_file_name(&raw)] {
            prop_assert_eq!(ResumeKind::of_name(&kept), kind, "{}", kept);
        }
    }
}
