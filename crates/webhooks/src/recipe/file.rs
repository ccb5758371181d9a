//! The YAML of a recipe.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

/// A text with its line in the file.
pub type Text = Spanned<String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFile {
    /// How to get access tokens (OAuth 2.0), if the receiver requires them.
    pub oauth: Option<OAuthFile>,
    /// JSON pointers (RFC 6901) to the error code of an answer; the first that exists counts.
    #[serde(default)]
    pub error_codes: Vec<String>,
    pub steps: Vec<StepFile>,
}

/// The request for an access token (RFC 6749): a form of templates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthFile {
    pub url: Text,
    /// Fields, such as `grant_type`.
    pub form: BTreeMap<String, Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// Name in other steps, logs and dead letters.
    pub name: Text,
    /// Event types that need this step.
    pub events: Vec<Text>,
    /// An expression; the step is skipped if it is false.
    pub when: Option<Text>,
    /// POST by default.
    pub method: Option<Text>,
    /// Appended to the endpoint's `url`.
    pub path: Option<Text>,
    #[serde(default)]
    pub headers: BTreeMap<String, Text>,
    pub json: Option<Text>,
    /// A form of templates. Empty fields are left out.
    pub form: Option<BTreeMap<String, Text>>,
    /// Values of the answer for later steps (JSON pointers), by name.
    #[serde(default)]
    pub keep: BTreeMap<String, Text>,
    /// Rules for answers; the first match counts, else the status.
    #[serde(default)]
    pub answers: Vec<AnswerFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFile {
    /// `409`, `2xx` or `400-499`; any by default.
    pub status: Option<Spanned<Value>>,
    /// Expected fields of the answer (JSON pointers); a list names alternatives.
    #[serde(default)]
    pub body: BTreeMap<String, Value>,
    pub means: Meaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meaning {
    /// The receiver accepted it.
    Done,
    /// Retry later.
    Again,
    /// Rejected for good.
    Never,
}
