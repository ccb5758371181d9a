//! The verdict on a file's content.

/// What a look into a file showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is of this kind.
    Agrees,
    /// It is anything else.
    Differs,
    /// It lists more than is read of it.
    Crowded,
}
