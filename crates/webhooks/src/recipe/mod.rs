//! Recipes: what an endpoint of the format `template` is sent, and what its answers mean, as a file of the installation says it
//! (docs/webhooks.md).

mod answers;
mod context;
mod file;
mod keep;
mod reading;
mod requests;
mod secrets;
mod sending;
mod templates;
mod tokens;

pub use self::{
    reading::Recipe,
    secrets::Secrets,
    sending::{DELIVERY_TIMEOUT, RecipeSender},
    tokens::Tokens,
};

/// A recipe is wrong, or makes nothing of an event. The words hold nothing of the event.
#[derive(Debug, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct RecipeError {
    /// The file, as the setting names it.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}
