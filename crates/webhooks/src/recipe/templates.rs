//! The templates of a recipe (minijinja). Each inserted value is escaped, so that a visitor's text cannot end a
//! JSON string or change a path.

use std::{borrow::Cow, collections::BTreeMap, error::Error as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value, escape_formatter,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use visitor::invisible::without_invisible;

use super::{RecipeError, file::Text, secrets::Secrets};

/// All characters except the unreserved ones (RFC 3986, 2.3).
const ENCODED_IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Part of a request that a template renders. It decides how the template's values are escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Path below the endpoint's address; values are percent-encoded.
    Path,
    /// Header; values are not escaped.
    Header,
    /// Form field; values are not escaped, because the whole form is encoded later. None becomes empty.
    Field,
    /// JSON; values are serialized as JSON.
    Json,
}

impl Place {
    /// Prefix of template names. [`escaping`] reads the place from it.
    fn prefix(self) -> &'static str {
        match self {
            Self::Path => "path ",
            Self::Header => "header ",
            Self::Field => "field ",
            Self::Json => "json ",
        }
    }
}

fn escaping(name: &str) -> AutoEscape {
    match name.split(' ').next() {
        Some("path") => AutoEscape::Custom("path".into()),
        Some("field") => AutoEscape::Custom("field".into()),
        Some("json") => AutoEscape::Json,
        _ => AutoEscape::None,
    }
}

#[derive(Debug, Clone)]
pub struct TemplateName(String);

#[derive(Debug, Clone)]
pub struct Expression {
    text: String,
    line: usize,
}

/// Detail of an error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorDetail {
    /// Full message. Only for samples, whose values are no personal data.
    Full,
    /// Line and kind of the error. The message itself may contain a visitor's text.
    Position,
}

pub struct Templates {
    environment: Environment<'static>,
    file: String,
    source: String,
    /// Line in the file where each template begins.
    first_lines: BTreeMap<String, usize>,
}

/// Our own error, wrapped in a minijinja error. Its text contains no data of the event.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Fault(String);

fn fault(reason: impl Into<String>) -> Error {
    let reason = reason.into();
    Error::new(ErrorKind::InvalidOperation, reason.clone()).with_source(Fault(reason))
}

impl Templates {
    pub fn new(file: &str, source: &str, secrets: Secrets) -> Self {
        let mut environment = Environment::new();
        // Makes an unknown name an error. By default, it renders as empty text.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(escaping);
        environment.set_formatter(write_value);
        environment.add_function("secret", move |name: String| secrets.get(&name).map_err(fault));
        // Removes invisible characters first. A word of only such characters would count as a name.
        environment.add_filter("first_name", |name: String| {
            first_name(&without_invisible(&name)).to_owned()
        });
        environment.add_filter("last_name", |name: String| {
            last_name(&without_invisible(&name)).to_owned()
        });
        environment.add_filter("html", |text: String| html(&text));
        environment.add_filter("base64", |text: String| STANDARD.encode(text));
        Self {
            environment,
            file: file.to_owned(),
            source: source.to_owned(),
            first_lines: BTreeMap::new(),
        }
    }

    /// Parses and stores a template. Within a place, each template needs its own `name`.
    pub fn add(&mut self, place: Place, name: &str, text: &Text) -> Result<TemplateName, RecipeError> {
        let name = format!("{}{name}", place.prefix());
        self.first_lines.insert(name.clone(), self.first_line(text));
        let added = self
            .environment
            .add_template_owned(name.clone(), text.value.clone());
        added.map_err(|error| self.error(&name, &error, ErrorDetail::Full))?;
        Ok(TemplateName(name))
    }

    pub fn expression(&self, text: &Text) -> Result<Expression, RecipeError> {
        let expression = Expression {
            text: text.value.clone(),
            line: self.first_line(text),
        };
        let compiled = self.environment.compile_expression(&expression.text);
        let wrong = |error: Error| self.wrong(expression.line, described(&error, ErrorDetail::Full));
        compiled.map(drop).map_err(wrong)?;
        Ok(expression)
    }

    pub fn render(
        &self,
        name: &TemplateName,
        values: &Value,
        detail: ErrorDetail,
    ) -> Result<String, RecipeError> {
        let template = self.environment.get_template(&name.0);
        let rendered = template.and_then(|template| template.render(values.clone()));
        rendered.map_err(|error| self.error(&name.0, &error, detail))
    }

    pub fn is_true(
        &self,
        expression: &Expression,
        values: &Value,
        detail: ErrorDetail,
    ) -> Result<bool, RecipeError> {
        let compiled = self.environment.compile_expression(&expression.text);
        let value = compiled.and_then(|compiled| compiled.eval(values.clone()));
        let value = value.map_err(|error| self.wrong(expression.line, described(&error, detail)))?;
        Ok(value.is_true())
    }

    /// Error in a line of a template's output, reported at the matching line of the recipe's file.
    pub fn wrong_output(&self, name: &TemplateName, line: usize, reason: impl Into<String>) -> RecipeError {
        self.wrong(self.line_of(&name.0, line), reason)
    }

    pub fn wrong(&self, line: usize, reason: impl Into<String>) -> RecipeError {
        RecipeError {
            file: self.file.clone(),
            line,
            reason: reason.into(),
        }
    }

    pub fn wrong_text(&self, text: &Text, reason: impl Into<String>) -> RecipeError {
        self.wrong(self.first_line(text), reason)
    }

    /// Line of the file where a text begins. A YAML block begins one line below its `|` or `>`.
    pub fn first_line(&self, text: &Text) -> usize {
        let at = usize::try_from(text.referenced.line()).unwrap_or(1);
        let column = usize::try_from(text.referenced.column()).unwrap_or(1);
        let line = self.source.lines().nth(at.saturating_sub(1)).unwrap_or_default();
        let announced = line.chars().nth(column.saturating_sub(1));
        at + usize::from(matches!(announced, Some('|' | '>')))
    }

    fn error(&self, name: &str, error: &Error, detail: ErrorDetail) -> RecipeError {
        let line = self.line_of(name, error.line().unwrap_or(1));
        self.wrong(line, described(error, detail))
    }

    fn line_of(&self, name: &str, line: usize) -> usize {
        self.first_lines
            .get(name)
            .map_or(line, |first| first + line.max(1) - 1)
    }
}

fn described(error: &Error, detail: ErrorDetail) -> String {
    if let Some(fault) = error.source().and_then(|source| source.downcast_ref::<Fault>()) {
        return fault.to_string();
    }
    match error.detail().filter(|_| detail == ErrorDetail::Full) {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// Escapes a value for its place. Removes invisible characters, which could reverse the text around them.
fn write_value(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    let visible = match value.as_str().map(without_invisible) {
        Some(Cow::Owned(visible)) => Value::from(visible),
        Some(Cow::Borrowed(_)) | None => value.clone(),
    };
    let place = match state.auto_escape() {
        AutoEscape::Json => return escape_formatter(out, state, &visible),
        AutoEscape::Custom(place) => place.clone(),
        _ => Cow::Borrowed("header"),
    };
    let text = visible.to_string();
    let written = match &*place {
        "field" if visible.is_none() => return Ok(()),
        _ if visible.is_none() => return Err(fault("it has no value")),
        "path" => out.write_str(&utf8_percent_encode(&text, ENCODED_IN_PATHS).to_string()),
        _ => out.write_str(&text),
    };
    written.map_err(Error::from)
}

/// All words of a name except the last.
fn first_name(name: &str) -> &str {
    let split = name.trim().rsplit_once(char::is_whitespace);
    split.map_or("", |(first, _)| first.trim_end())
}

fn last_name(name: &str) -> &str {
    let name = name.trim();
    name.rsplit_once(char::is_whitespace)
        .map_or(name, |(_, last)| last)
}

/// Escapes HTML and keeps line breaks.
fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\n', "<br>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_name_is_a_first_and_a_last_one() {
        for (name, first, last) in [
            ("Asha Rao", "Asha", "Rao"),
            (" Ana María  Pérez ", "Ana María", "Pérez"),
            ("Madonna", "", "Madonna"),
        ] {
            assert_eq!((first_name(name), last_name(name)), (first, last), "{name}");
        }
    }

    #[test]
    fn text_is_no_markup() {
        assert_eq!(html("<b>\"a\" & b\nc"), "&lt;b&gt;&quot;a&quot; &amp; b<br>c");
    }
}
