//! Forms with known ids, which can be found again: what visitors send in runs of faults and in the rehearsal.

mod submission;

pub use submission::{FormKind, Submission, digest};
