//! Renders and checks the requests of an event.

use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header};
use minijinja::{Value, context, value::Serde};
use serde_json::{Map, Value as Json};
use site_events::EventType;
use url::form_urlencoded;

use super::{
    RecipeError,
    context::EventContext,
    reading::{Body, OAuth, Recipe, Step},
    templates::{ErrorDetail, TemplateName},
};
use crate::outgoing::Outgoing;

/// Placeholder for an access token in previews.
const UNKNOWN: &str = "unknown-yet";

impl Recipe {
    pub fn context(
        &self,
        event: &Outgoing,
        values: &Map<String, Json>,
    ) -> Result<EventContext, serde_json::Error> {
        let steps = self.steps.iter().map(|step| (step.name.as_str(), &step.keep[..]));
        EventContext::new(event, values, steps)
    }

    /// Renders the requests of an event, each with its step's name. Values from answers are placeholders.
    pub fn requests(
        &self,
        base: &Uri,
        context: &EventContext,
        detail: ErrorDetail,
    ) -> Result<Vec<(String, Request<Bytes>)>, RecipeError> {
        let mut context = context.clone();
        let token = self.oauth.as_ref().map(|_| UNKNOWN);
        let (mut requests, nothing_kept) = (Vec::new(), context.values(None));
        for step in self.steps_for(context.event_type) {
            if let Some(when) = &step.when {
                self.templates.is_true(when, &context.values(None), detail)?;
                self.templates.is_true(when, &nothing_kept, detail)?;
            }
            let request = self.request(step, base, &context.values(token), detail)?;
            requests.push((step.name.clone(), request));
            for keep in &step.keep {
                context.keep(&step.name, &keep.name, keep.unknown(&step.name));
            }
        }
        Ok(requests)
    }

    pub fn steps_for(&self, event: EventType) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.events.contains(&event))
    }

    pub fn request(
        &self,
        step: &Step,
        base: &Uri,
        values: &Value,
        detail: ErrorDetail,
    ) -> Result<Request<Bytes>, RecipeError> {
        let render = |name: &TemplateName| self.templates.render(name, values, detail);
        let uri = match &step.path {
            None => base.clone(),
            Some(path) => {
                below(base, &render(path)?).map_err(|reason| self.templates.wrong_output(path, 1, reason))?
            }
        };
        let mut request = Request::builder().method(step.method.clone()).uri(uri);
        let (content_type, content) = match &step.body {
            Body::None => (None, Bytes::new()),
            Body::Json(name) => (Some("application/json"), self.json(name, &render(name)?)?),
            Body::Form(fields) => (
                Some("application/x-www-form-urlencoded"),
                self.form(fields, values, detail)?,
            ),
        };
        let says_itself = step.headers.iter().any(|(name, _)| name == header::CONTENT_TYPE);
        if let Some(content_type) = content_type.filter(|_| !says_itself) {
            request = request.header(header::CONTENT_TYPE, content_type);
        }
        for (header, name) in &step.headers {
            let value = HeaderValue::from_str(&render(name)?);
            let value = value.map_err(|_| self.templates.wrong_output(name, 1, "it is no value of a header"));
            request = request.header(header, value?);
        }
        let request = request.body(content);
        request.map_err(|error| self.templates.wrong(step.line, error.to_string()))
    }

    pub fn token_request(
        &self,
        values: &Map<String, Json>,
        detail: ErrorDetail,
    ) -> Result<Option<Request<Bytes>>, RecipeError> {
        let Some(OAuth { url, form }) = &self.oauth else {
            return Ok(None);
        };
        let values = context! { values => Serde(values.clone()) };
        let address = self.templates.render(url, &values, detail)?;
        let content = self.form(form, &values, detail)?;
        let request = Request::post(address)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .body(content);
        let request = request.map_err(|_| {
            self.templates
                .wrong_output(url, 1, "it is no address such as https://vendor/token")
        });
        request.map(Some)
    }

    /// Parses the output of a template as JSON, and compacts it.
    fn json(&self, name: &TemplateName, rendered: &str) -> Result<Bytes, RecipeError> {
        let json: Json = serde_json::from_str(rendered).map_err(|error| {
            // serde's syntax errors contain no text of the input.
            self.templates
                .wrong_output(name, error.line(), format!("it makes no JSON: {error}"))
        })?;
        Ok(json.to_string().into())
    }

    fn form(
        &self,
        fields: &[(String, TemplateName)],
        values: &Value,
        detail: ErrorDetail,
    ) -> Result<Bytes, RecipeError> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        for (field, name) in fields {
            let value = self.templates.render(name, values, detail)?;
            if !value.is_empty() {
                form.append_pair(field, &value);
            }
        }
        Ok(form.finish().into())
    }
}

/// Appends a path to the endpoint's address. The path cannot change the host or leave the endpoint's path.
fn below(base: &Uri, path: &str) -> Result<Uri, &'static str> {
    let path = path.trim();
    if !path.starts_with('/') {
        return Err("a path begins with /");
    }
    let segments = path.split('?').next().unwrap_or_default().split('/');
    if segments.into_iter().any(is_dots) {
        return Err("a path leads not up");
    }
    let scheme = base.scheme_str().unwrap_or("https");
    let authority = base
        .authority()
        .map(http::uri::Authority::as_str)
        .unwrap_or_default();
    let above = base.path().trim_end_matches('/');
    let uri = format!("{scheme}://{authority}{above}{path}");
    uri.parse().map_err(|_| "it is no path of an address")
}

/// Whether a segment is `.` or `..`, plain or percent-encoded (RFC 3986, 5.2.4).
fn is_dots(segment: &str) -> bool {
    let plain = segment.to_ascii_lowercase().replace("%2e", ".");
    plain == "." || plain == ".."
}
