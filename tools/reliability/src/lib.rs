//! Forms with known ids, for `chaos` and the rehearsal.

mod submission;

pub use submission::{FormKind, Submission, digest};
