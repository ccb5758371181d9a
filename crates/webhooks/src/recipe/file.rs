//! The file of a recipe, as it is written (YAML).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_saphyr::Spanned;

/// A text of the file, with the line where it stands.
pub type Text = Spanned<String>;

/// A recipe as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeFile {
    /// How access tokens are got (OAuth 2.0), where the receiver wants them.
    pub oauth: Option<OAuthFile>,
    /// Where an answer has the name of its reason (JSON pointers, RFC 6901), the first that is there.
    #[serde(default)]
    pub error_codes: Vec<String>,
    /// The requests, in this order.
    pub steps: Vec<StepFile>,
}

/// The request for an access token (RFC 6749): a form, whose fields are templates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthFile {
    /// The token endpoint.
    pub url: Text,
    /// The fields: `grant_type` and whatever it needs.
    pub form: BTreeMap<String, Text>,
}

/// One request as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// By what other steps, logs and dead letters call it.
    pub name: Text,
    /// The events that it is made for.
    pub events: Vec<Text>,
    /// An expression; where it is false the step is passed over.
    pub when: Option<Text>,
    /// The method; POST where none is named.
    pub method: Option<Text>,
    /// What comes behind the endpoint's `url`.
    pub path: Option<Text>,
    /// The headers.
    #[serde(default)]
    pub headers: BTreeMap<String, Text>,
    /// The body as JSON.
    pub json: Option<Text>,
    /// The body as a form, each field a template; an empty one is left out.
    pub form: Option<BTreeMap<String, Text>>,
    /// What later steps need of the answer, by name (JSON pointers).
    #[serde(default)]
    pub keep: BTreeMap<String, Text>,
    /// What answers mean, the first that fits; all others by their status.
    #[serde(default)]
    pub answers: Vec<AnswerFile>,
}

/// A line of the table of answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFile {
    /// `409`, `2xx` or `400-499`; any where none is named.
    pub status: Option<Spanned<Value>>,
    /// Fields that the answer has (JSON pointers), and what they are; a list names several.
    #[serde(default)]
    pub body: BTreeMap<String, Value>,
    /// What it means.
    pub means: Meaning,
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meaning {
    /// The receiver has it.
    Done,
    /// It may take it later.
    Again,
    /// It will never take it.
    Never,
}
