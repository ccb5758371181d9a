//! Domain types for visitors' input, person ids, signed tokens and links. No I/O.
//!
//! A service parses input once, at its edge, and does not check it again.

pub mod email;
pub mod inbox;
pub mod invisible;
pub mod links;
pub mod person;
pub mod synthetic;
pub mod text;
pub mod token;

pub use email::EmailAddress;
pub use inbox::InboxId;
pub use person::{PersonId, PersonKey, PersonKeySettings};
pub use synthetic::SyntheticKey;
pub use text::{PersonName, TextRule};

/// Why an input is invalid, as a sentence for the visitor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

impl InvalidInput {
    fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}
