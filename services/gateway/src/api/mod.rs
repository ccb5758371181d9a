//! Public API: one file per form, and one for reports of parts that failed to load.

mod attribution;
pub mod careers;
pub mod contact;
pub mod newsletter;
pub mod openapi;
pub mod parts;
pub mod remote_failure;
mod unsent_parts;

use std::{sync::Arc, time::SystemTime};

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request, rejection::FormRejection},
    response::{IntoResponse, Response},
};
use http::{StatusCode, request::Parts};
use serde::{Serialize, de::DeserializeOwned};
use sha2::Sha256;
use site_proto::{Form, attribution::v1::Attribution};
use site_service::{
    RequestId, SYNTHETIC_MARK,
    idempotency::{self, IdempotencyKey},
};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::{
    api_error::ApiError, content_type, deadline::Deadline, forwarding::Services, submission_key::derived_key,
    submissions::SPAM, uploads::Uploads,
};

/// State of the handlers, cloned for each request.
#[derive(Clone)]
pub struct AppState {
    pub services: Arc<Services>,
    pub uploads: Arc<Uploads>,
}

/// The answer of the newsletter and careers forms.
#[derive(Serialize, ToSchema)]
pub struct Accepted {
    /// Always true: failures have their own answer
    success: bool,
}

impl Accepted {
    const YES: Json<Self> = Json(Self { success: true });
}

pub struct JsonForm<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonForm<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        if !content_type::is_json(request.headers()) || content_type::is_encoded(request.headers()) {
            return Err(ApiError::of(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|rejection| ApiError::of(rejection.status()))?;
        read_json(&body).map(Self)
    }
}

/// Rejects an array, which serde would accept for a struct.
fn read_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, ApiError> {
    // Some clients write a byte order mark, which RFC 8259, 8.1, lets us ignore.
    let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
    let is_object = json.trim_ascii_start().starts_with(b"{");
    let read = serde_json::from_slice(json).ok().filter(|_| is_object);
    read.ok_or_else(|| ApiError::of(StatusCode::BAD_REQUEST))
}

/// Form body: JSON, or URL-encoded, as browsers without scripts send it.
pub struct AnyForm<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for AnyForm<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let headers = request.headers();
        let is_pairs = content_type::is(headers, "application/x-www-form-urlencoded");
        if !is_pairs || content_type::is_encoded(headers) {
            let JsonForm(form) = JsonForm::from_request(request, state).await?;
            return Ok(Self(form));
        }
        match axum::Form::from_request(request, state).await {
            Ok(axum::Form(form)) => Ok(Self(form)),
            Err(FormRejection::FailedToDeserializeFormBody(_)) => Err(ApiError::of(StatusCode::BAD_REQUEST)),
            Err(rejection) => Err(ApiError::of(rejection.status())),
        }
    }
}

/// Headers that identify a submission, so that it can be repeated, and carry the solution of a challenge.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(
    dead_code,
    reason = "describes to OpenAPI the headers of `Submission` and challenges"
)]
pub struct SubmissionHeaders {
    /// Repeats with the same key by one person within an hour have one effect; other content under that key is refused. With a
    /// UUID of version 8, the client promises a new key for other content. Without a key, repeats of the same content within a
    /// clock hour (UTC) have one effect
    #[param(rename = "Idempotency-Key", required = false, value_type = Uuid)]
    key: Option<Uuid>,
    /// Solution of the challenge from a 429 answer with the code `challenge`, in ALTCHA's encoding (base64 of JSON); valid for ten
    /// minutes, for the same form, key and network
    #[param(rename = "Challenge-Solution", required = false, value_type = String)]
    solution: Option<String>,
}

pub struct Submission {
    pub request_id: RequestId,
    pub deadline: Deadline,
    /// Attribution from the `Referer` header.
    referer: Option<Attribution>,
    key: Option<Uuid>,
    /// Mark of a synthetic submission. The service verifies it.
    synthetic_mark: Option<String>,
}

impl Submission {
    /// Completes a form with the browser's attribution, and returns its idempotency key.
    pub fn complete<F: Form>(&mut self, name: &str, form: &mut F, file: Option<Sha256>) -> String {
        // The derived key ignores the attribution, because the same input from another page is the same submission.
        let attribution = form.attribution_mut().take();
        let key = match self.key {
            Some(given) => IdempotencyKey::Given(given),
            None => derived_key(name, &form.encode_to_vec(), file, SystemTime::now()),
        };
        *form.attribution_mut() = attribution.or_else(|| self.referer.take());
        key.to_string()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Submission {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let given = parts.headers.get(idempotency::HEADER);
        let given = given.map(|value| value.to_str().unwrap_or("not even text"));
        let key = given
            .filter(|raw| !raw.is_empty())
            .map(idempotency::parse)
            .transpose()
            .map_err(|error| ApiError::with_message(StatusCode::BAD_REQUEST, error.to_string()))?;
        let synthetic_mark = parts.headers.get(SYNTHETIC_MARK);
        Ok(Self {
            request_id: parts.extensions.get().cloned().unwrap_or_else(RequestId::fresh),
            deadline: Deadline::of(parts),
            referer: attribution::of_referer(parts),
            key,
            synthetic_mark: synthetic_mark
                .and_then(|mark| mark.to_str().ok())
                .map(str::to_owned),
        })
    }
}

/// Marks an accepting answer as spam. The robot that sent the form sees no difference.
fn spam(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response.extensions_mut().insert(SPAM);
    response
}
