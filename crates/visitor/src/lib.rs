//! What a visitor enters, as validated domain types; person ids, signed tokens and links.
//!
//! Parsing happens once, at the edge of a service; past that line nothing is
//! checked again. No I/O.

pub mod email;
#[cfg(test)]
mod fuzz;
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

/// What is wrong with an input, as a sentence for the visitor who typed it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidInput(pub String);

impl InvalidInput {
    fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}
