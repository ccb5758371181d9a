//! Reads a recipe and renders it with samples, so that mistakes show up before the first event.

use std::{collections::BTreeMap, fs, path::Path};

use http::{HeaderName, Method, Uri};
use serde_json::{Map, Value as Json};
use site_events::EventType;
use time::OffsetDateTime;
use url::Url;

use super::{
    RecipeError,
    answers::Answers,
    file::{RecipeFile, StepFile, Text},
    keep::Keep,
    secrets::Secrets,
    templates::{ErrorDetail, Expression, Place, TemplateName, Templates},
};
use crate::{
    addresses::{PrivateAddresses, ensure_public},
    outgoing::samples,
};

const MAX_STEPS: usize = 20;

pub struct Recipe {
    pub(super) templates: Templates,
    pub(super) steps: Vec<Step>,
    pub(super) oauth: Option<OAuth>,
    pub(super) error_codes: Vec<String>,
}

pub struct Step {
    pub name: String,
    pub events: Vec<EventType>,
    pub when: Option<Expression>,
    pub keep: Vec<Keep>,
    pub answers: Answers,
    pub(super) method: Method,
    pub(super) path: Option<TemplateName>,
    pub(super) headers: Vec<(HeaderName, TemplateName)>,
    pub(super) body: Body,
    pub(super) line: usize,
}

pub struct OAuth {
    pub(super) url: TemplateName,
    pub(super) form: Vec<(String, TemplateName)>,
}

pub enum Body {
    None,
    Json(TemplateName),
    Form(Vec<(String, TemplateName)>),
}

impl Recipe {
    pub fn read(path: &Path, secrets: Secrets) -> Result<Self, RecipeError> {
        let file = path.display().to_string();
        let source = fs::read_to_string(path).map_err(|error| RecipeError {
            file: file.clone(),
            line: 1,
            reason: format!("it cannot be read: {error}"),
        })?;
        Self::parse(&file, &source, secrets)
    }

    pub fn parse(file: &str, source: &str, secrets: Secrets) -> Result<Self, RecipeError> {
        let read: Result<RecipeFile, _> = serde_saphyr::from_str(source);
        let read = read.map_err(|error| RecipeError {
            file: file.to_owned(),
            line: error
                .location()
                .and_then(|at| usize::try_from(at.line()).ok())
                .unwrap_or(1),
            reason: first_line_of(&error.to_string()),
        })?;
        let mut templates = Templates::new(file, source, secrets);
        if read.steps.is_empty() || read.steps.len() > MAX_STEPS {
            return Err(templates.wrong(1, format!("a recipe has 1 to {MAX_STEPS} steps")));
        }
        let oauth = read.oauth.map(|oauth| -> Result<OAuth, RecipeError> {
            Ok(OAuth {
                url: templates.add(Place::Header, "oauth url", &oauth.url)?,
                form: add_fields(&mut templates, "oauth", &oauth.form)?,
            })
        });
        let oauth = oauth.transpose()?;
        let mut steps: Vec<Step> = Vec::new();
        for step in read.steps {
            let line = templates.first_line(&step.name);
            let step = read_step(&mut templates, step)?;
            if steps.iter().any(|other| other.name == step.name) {
                return Err(templates.wrong(line, format!("two steps are called {}", step.name)));
            }
            steps.push(step);
        }
        Ok(Self {
            templates,
            steps,
            oauth,
            error_codes: read.error_codes,
        })
    }

    /// Renders every request of these event types twice: with all optional fields and with none.
    pub fn check(
        &self,
        base: &Uri,
        events: &[EventType],
        values: &Map<String, Json>,
        private: PrivateAddresses,
    ) -> Result<(), RecipeError> {
        for &event in events {
            if self.steps_for(event).next().is_none() {
                let reason = format!("no step is made for the event {}", event.short_name());
                return Err(self.templates.wrong(1, reason));
            }
            let (mut whole, least) = samples(event, OffsetDateTime::now_utc());
            if event == EventType::CareersApplied {
                whole.resume_link = Some("https://store.example/cv.pdf".to_owned());
            }
            for sample in [whole, least] {
                let context = self.context(&sample, values);
                let context = context.map_err(|error| self.templates.wrong(1, error.to_string()))?;
                self.requests(base, &context, ErrorDetail::Full)?;
            }
        }
        self.check_token_request(values, private)
    }

    fn check_token_request(
        &self,
        values: &Map<String, Json>,
        private: PrivateAddresses,
    ) -> Result<(), RecipeError> {
        let request = self.token_request(values, ErrorDetail::Full)?;
        let Some((oauth, request)) = self.oauth.as_ref().zip(request) else {
            return Ok(());
        };
        if private == PrivateAddresses::Allowed {
            return Ok(());
        }
        let url = Url::parse(&request.uri().to_string()).map_err(|_| "it is no address");
        url.and_then(|url| ensure_public(&url))
            .map_err(|reason| self.templates.wrong_output(&oauth.url, 1, reason))
    }
}

fn read_step(templates: &mut Templates, step: StepFile) -> Result<Step, RecipeError> {
    let line = templates.first_line(&step.name);
    let name = step.name.value;
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return Err(templates.wrong(line, "a step is named by lower-case letters, digits and _"));
    }
    let body = match (&step.json, &step.form) {
        (None, None) => Body::None,
        (Some(json), None) => Body::Json(templates.add(Place::Json, &name, json)?),
        (None, Some(fields)) => Body::Form(add_fields(templates, &name, fields)?),
        (Some(_), Some(_)) => return Err(templates.wrong(line, "a step has json or a form, and not both")),
    };
    let path = step.path.as_ref();
    let path = path
        .map(|path| templates.add(Place::Path, &name, path))
        .transpose()?;
    let when = step.when.as_ref();
    let keep = step.keep.iter().map(|(name, pointer)| {
        Keep::parse(name, &pointer.value).map_err(|reason| templates.wrong_text(pointer, reason))
    });
    let keep = keep.collect::<Result<_, _>>()?;
    Ok(Step {
        events: read_events(templates, &step.events)?,
        when: when.map(|when| templates.expression(when)).transpose()?,
        method: read_method(templates, step.method.as_ref())?,
        headers: read_headers(templates, &name, &step.headers)?,
        answers: Answers::read(step.answers).map_err(|(line, reason)| templates.wrong(line, reason))?,
        keep,
        path,
        body,
        line,
        name,
    })
}

fn read_method(templates: &Templates, method: Option<&Text>) -> Result<Method, RecipeError> {
    method.map_or(Ok(Method::POST), |method| {
        let read = Method::from_bytes(method.value.as_bytes());
        read.map_err(|_| templates.wrong_text(method, "it is no method of HTTP"))
    })
}

fn read_headers(
    templates: &mut Templates,
    step: &str,
    headers: &BTreeMap<String, Text>,
) -> Result<Vec<(HeaderName, TemplateName)>, RecipeError> {
    let read = headers.iter().map(|(header, text)| {
        let name = HeaderName::from_bytes(header.as_bytes());
        let name = name.map_err(|_| templates.wrong_text(text, "it is no name of a header"))?;
        let value = templates.add(Place::Header, &format!("{step} {header}"), text)?;
        Ok((name, value))
    });
    read.collect()
}

fn read_events(templates: &Templates, names: &[Text]) -> Result<Vec<EventType>, RecipeError> {
    let events = names.iter().map(|name| {
        EventType::short_named(&name.value)
            .ok_or_else(|| templates.wrong_text(name, format!("there is no event {}", name.value)))
    });
    events.collect()
}

fn add_fields(
    templates: &mut Templates,
    name: &str,
    fields: &BTreeMap<String, Text>,
) -> Result<Vec<(String, TemplateName)>, RecipeError> {
    let add = |(field, text): (&String, &Text)| {
        let added = templates.add(Place::Field, &format!("{name} {field}"), text)?;
        Ok((field.clone(), added))
    };
    fields.iter().map(add).collect()
}

fn first_line_of(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
