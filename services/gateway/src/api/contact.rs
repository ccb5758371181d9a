//! `POST /api/contact`.

use std::time::SystemTime;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use site_proto::contact::v1::{SubmitRequest, contact_service_client::ContactServiceClient};
use utoipa::ToSchema;

use super::{AnyForm, Attribution, Submission, SubmissionHeaders, spam};
use crate::{api_error::ApiError, app::AppState, forwarding::send, submissions::SYNTHETIC};

/// A message to the company. A field that is missing counts as empty, and is refused with a sentence where it is required.
#[derive(Deserialize, ToSchema)]
pub struct ContactForm {
    /// 1–200 characters
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 200)]
    name: String,
    /// A valid address of at most 254 characters
    #[serde(default)]
    #[schema(required, format = Email, min_length = 1, max_length = 254)]
    email: String,
    /// 1–10,000 characters
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 10_000)]
    message: String,
    /// Where the visitor came from
    #[serde(default)]
    attribution: Option<Attribution>,
    /// Hidden from people: leave it empty
    #[serde(default)]
    website: String,
}

/// A message to the company, as a browser sends it by itself where no script runs.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes to OpenAPI what a browser's own form holds")]
pub struct ContactFields {
    /// 1–200 characters
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// A valid address of at most 254 characters
    #[schema(format = Email, min_length = 1, max_length = 254)]
    email: String,
    /// 1–10,000 characters
    #[schema(min_length = 1, max_length = 10_000)]
    message: String,
    /// Hidden from people: leave it empty
    #[schema(required = false)]
    website: String,
}

/// The answer of the contact form.
#[derive(Serialize, ToSchema)]
pub struct ContactAnswer {
    /// Always true: failures have their own answer
    success: bool,
    /// A sentence for the visitor
    message: &'static str,
}

const RECEIVED: Json<ContactAnswer> = Json(ContactAnswer {
    success: true,
    message: "Thank you. Your message has reached us.",
});

/// Sends a message to the company.
///
/// # Errors
///
/// If the contact service refuses the message or is away.
#[utoipa::path(
    post,
    path = "/api/contact",
    description = "Success is answered only after the message is durably stored.",
    params(SubmissionHeaders),
    request_body(content((ContactForm = "application/json"), (ContactFields = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The message is stored", body = ContactAnswer),
        (status = 303, description = "The same for a browser that asks for HTML: it leads on to a page that says so"),
        (status = "4XX", description = "The message was not accepted; for a browser that asks for HTML, a page with the form and what was entered", body = super::ContactFailed),
        (status = 503, description = "Try again after the seconds in Retry-After", body = super::ContactFailed),
    )
)]
pub async fn submit(
    State(app): State<AppState>,
    mut submission: Submission,
    AnyForm(form): AnyForm<ContactForm>,
) -> Result<Response, ApiError> {
    if !form.website.is_empty() {
        return Ok(spam(RECEIVED));
    }
    let key = submission
        .key("contact")
        .with("name", &form.name)
        .with("email", &form.email)
        .with("message", &form.message);
    let message = SubmitRequest {
        idempotency_key: key.finish(SystemTime::now()).to_string(),
        attribution: submission.attribution(form.attribution),
        name: form.name,
        email: form.email,
        message: form.message,
        synthetic_mark: submission.synthetic_mark.take().unwrap_or_default(),
    };
    let contact = ContactServiceClient::new(app.services.contact.clone());
    let submit = async |request| contact.clone().submit(request).await;
    let stored = send(message, &submission, submit).await?;
    let mut answer = RECEIVED.into_response();
    if stored.synthetic {
        answer.extensions_mut().insert(SYNTHETIC);
    }
    Ok(answer)
}
