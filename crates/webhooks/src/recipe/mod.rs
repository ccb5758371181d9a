//! Recipes: files that define the requests of endpoints with the format `template`, and what answers mean
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

/// Error in a recipe, with its line (from 1). The text contains no data of the event.
#[derive(Debug, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct RecipeError {
    pub file: String,
    pub line: usize,
    pub reason: String,
}
