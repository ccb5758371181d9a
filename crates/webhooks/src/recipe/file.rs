//! Structure of a recipe's YAML file.

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
    /// JSON pointers (RFC 6901) to the error code in an answer. The first pointer that finds a value counts.
    #[serde(default)]
    pub error_codes: Vec<String>,
    pub steps: Vec<StepFile>,
}

/// Request for an access token (RFC 6749). Its body is a form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuthFile {
    pub url: Text,
    /// Templates of the form's fields, such as `grant_type`.
    pub form: BTreeMap<String, Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFile {
    /// Name of the step in other steps, logs and dead letters.
    pub name: Text,
    /// Event types that need this step.
    pub events: Vec<Text>,
    /// Expression. If it is false, the step is skipped.
    pub when: Option<Text>,
    /// HTTP method, by default POST.
    pub method: Option<Text>,
    /// Path that is appended to the endpoint's `url`.
    pub path: Option<Text>,
    #[serde(default)]
    pub headers: BTreeMap<String, Text>,
    pub json: Option<Text>,
    /// Templates of a form's fields. The request omits empty fields.
    pub form: Option<BTreeMap<String, Text>>,
    /// JSON pointers to values of the answer that later steps use, by name.
    #[serde(default)]
    pub keep: BTreeMap<String, Text>,
    /// Rules for answers. The first match counts. Without a match, the status decides.
    #[serde(default)]
    pub answers: Vec<AnswerFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerFile {
    /// Matching statuses: `409`, `2xx` or `400-499`. By default, any status matches.
    pub status: Option<Spanned<Value>>,
    /// Expected values in the answer, by JSON pointer. A list matches any of its values.
    #[serde(default)]
    pub body: BTreeMap<String, Value>,
    pub means: Meaning,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meaning {
    /// The receiver accepted the request.
    Done,
    /// The event is retried later.
    Again,
    /// The receiver rejected the request permanently.
    Never,
}
