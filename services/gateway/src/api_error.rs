//! API error: status of a failed answer, its sentence for the visitor, and its JSON.

use std::{collections::BTreeMap, error::Error, time::Duration};

use altcha::Challenge;
use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use site_service::status;
use tonic::{Code, Status};
use utoipa::ToSchema;

use crate::{contact_details::OTHER_WAY, content_type};

const API: &str = "/api";
/// The contact form's errors have the sentence in `message`. All others have it in `error`.
const CONTACT: &str = "/api/contact";

/// Sentence if the idempotency key belongs to another submission.
const KEY_REUSED: &str = "This Idempotency-Key was used before, and not certainly for this message. Please send it again, under a \
                          key of its own.";

/// Sentence if the browser cannot solve a challenge. The answer appends [`OTHER_WAY`].
const UNCHECKED: &str = "Robots are sending us a lot of forms right now, and we could not check that you are not one. Please try again in \
                         a few minutes.";

/// A failed answer.
#[derive(Serialize, ToSchema)]
pub struct Failure {
    /// Always false
    success: bool,
    /// Contact form: a sentence that the visitor can act on
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Everything else: a sentence that the visitor can act on
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// A sentence for each invalid field
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, String>,
    /// `challenge` if a challenge must be solved first
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The challenge (version 2 of ALTCHA's protocol), if the request has an Idempotency-Key
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    challenge: Option<Box<Challenge>>,
}

/// Reason why a request is rejected, as shown to the visitor.
#[derive(Debug, Clone)]
pub struct ApiError {
    status: StatusCode,
    sentence: String,
    fields: BTreeMap<String, String>,
    retry_after: Option<Duration>,
    /// `Some` if a challenge is required; `Some(None)` if the sender cannot receive one.
    challenge: Option<Option<Box<Challenge>>>,
}

impl ApiError {
    /// Creates an error with the default sentence of the status.
    pub fn of(status: StatusCode) -> Self {
        let sentence = match status {
            StatusCode::BAD_REQUEST => "This request cannot be read. Please reload the page and try again.",
            StatusCode::FORBIDDEN => {
                "This form was sent from another site. Please fill it in here, and send it again."
            }
            StatusCode::NOT_FOUND => "There is nothing at this address.",
            StatusCode::METHOD_NOT_ALLOWED => "This address does not take this kind of request.",
            StatusCode::REQUEST_TIMEOUT => "Your request took too long to arrive. Please try again.",
            StatusCode::PAYLOAD_TOO_LARGE => "Your message is too large. Please shorten it and try again.",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "This address does not take this kind of content.",
            StatusCode::UNPROCESSABLE_ENTITY => "Please check the marked fields.",
            StatusCode::TOO_MANY_REQUESTS => {
                "You have sent this form several times. Please wait a moment and try again."
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                "We cannot take this right now. Please try again in a few seconds."
            }
            _ => "Something went wrong on our side. Please try again later.",
        };
        Self {
            status,
            sentence: sentence.to_owned(),
            fields: BTreeMap::new(),
            retry_after: None,
            challenge: None,
        }
    }

    pub fn with_message(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self {
            sentence: sentence.into(),
            ..Self::of(status)
        }
    }

    /// Requires a challenge; `None` if the sender cannot receive one.
    pub fn challenge(challenge: Option<Challenge>) -> Self {
        Self {
            challenge: Some(challenge.map(Box::new)),
            ..Self::with_message(StatusCode::TOO_MANY_REQUESTS, UNCHECKED)
        }
    }

    pub fn retry_after(self, pause: Duration) -> Self {
        Self {
            retry_after: Some(pause),
            ..self
        }
    }

    pub fn with_fields(self, fields: BTreeMap<String, String>) -> Self {
        Self { fields, ..self }
    }

    /// Returns the error in the answer's extensions, or else the default error of its status.
    pub fn in_answer(answer: &Response) -> Self {
        let carried = answer.extensions().get::<Self>().cloned();
        carried.unwrap_or_else(|| Self::of(answer.status()))
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    pub fn is_challenge(&self) -> bool {
        self.challenge.is_some()
    }

    pub fn sentence(&self) -> &str {
        &self.sentence
    }

    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    pub fn headers(&self) -> HeaderMap {
        let pause = self.retry_after.map(|pause| {
            let seconds = pause.as_secs_f64().ceil().max(1.0) as u64;
            (header::RETRY_AFTER, HeaderValue::from(seconds))
        });
        pause.into_iter().collect()
    }

    fn failure(self, field: SentenceField) -> Failure {
        let is_challenge = self.is_challenge();
        let sentence = match is_challenge {
            true => format!("{} {}", self.sentence, *OTHER_WAY),
            false => self.sentence,
        };
        let (message, error) = match field {
            SentenceField::Message => (Some(sentence), None),
            SentenceField::Error => (None, Some(sentence)),
        };
        Failure {
            success: false,
            message,
            error,
            fields: self.fields,
            code: is_challenge.then_some("challenge"),
            challenge: self.challenge.flatten(),
        }
    }
}

/// Logs the message of an unexpected status instead of showing it to the visitor.
impl From<Status> for ApiError {
    fn from(status: Status) -> Self {
        match status.code() {
            Code::InvalidArgument => {
                let fields = status::violations(&status);
                let refused = Self::of(StatusCode::UNPROCESSABLE_ENTITY);
                let sentence = fields.get("token").unwrap_or(&refused.sentence).clone();
                Self { sentence, ..refused }.with_fields(fields)
            }
            Code::AlreadyExists => Self::with_message(StatusCode::UNPROCESSABLE_ENTITY, KEY_REUSED),
            Code::OutOfRange => Self::with_message(StatusCode::PAYLOAD_TOO_LARGE, status.message()),
            Code::Unavailable | Code::DeadlineExceeded | Code::Unknown => unavailable(&status),
            _ if status.source().is_some() => unavailable(&status),
            code => {
                tracing::error!(grpc.code = ?code, reason = status.message(), "a service answered with an unexpected status");
                Self::of(StatusCode::INTERNAL_SERVER_ERROR)
            }
        }
    }
}

fn unavailable(status: &Status) -> ApiError {
    tracing::warn!(grpc.code = ?status.code(), reason = status.message(), "a service is unavailable");
    ApiError::of(StatusCode::SERVICE_UNAVAILABLE).retry_after(status::retry_after(status))
}

/// Only attaches the error to the answer. [`as_json`] or the form pages render it, because they know the form.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Field of a [`Failure`] that holds the sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SentenceField {
    Message,
    Error,
}

/// Returns the sentence's field for the route at `path`; `None` outside the API.
pub fn sentence_field(path: &str) -> Option<SentenceField> {
    let is_api = path == API || path.strip_prefix(API).is_some_and(|rest| rest.starts_with('/'));
    let is_contact = path == CONTACT;
    is_api.then_some(if is_contact {
        SentenceField::Message
    } else {
        SentenceField::Error
    })
}

/// Converts a failed answer of a handler, middleware or the router to JSON. Pages stay unchanged.
pub fn as_json(answer: Response, field: SentenceField) -> Response {
    let status = answer.status();
    let has_failed = status.is_client_error() || status.is_server_error();
    if !has_failed || content_type::is(answer.headers(), "text/html") {
        return answer;
    }
    let error = ApiError::in_answer(&answer);
    let (mut parts, _) = answer.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    parts.headers.extend(error.headers());
    let failure = Json(error.failure(field));
    (parts.status, parts.headers, parts.extensions, failure).into_response()
}
