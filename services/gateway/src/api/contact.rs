//! `POST /api/contact`.

use axum::{
    Json,
    extract::State,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use site_proto::{
    Form as _,
    contact::v1::{ContactForm, SubmitRequest, contact_service_client::ContactServiceClient},
};
use utoipa::ToSchema;

use super::{AnyForm, AppState, Submission, SubmissionHeaders, spam};
use crate::{
    api_error::{ApiError, Failure},
    forwarding::send,
    submissions::SYNTHETIC,
};

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
/// If the contact service refuses the message or is unavailable.
#[utoipa::path(
    post,
    path = "/api/contact",
    description = "Success is answered only after the message is durably stored.",
    params(SubmissionHeaders),
    request_body(content((ContactForm = "application/json"), (ContactForm = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The message is stored", body = ContactAnswer),
        (status = 303, description = "The same for a browser that accepts HTML: a redirect to a confirmation page"),
        (status = "4XX", description = "The message was not accepted; for a browser that accepts HTML, a page with the form and its input", body = Failure),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failure),
    )
)]
pub async fn submit(
    State(app): State<AppState>,
    mut submission: Submission,
    AnyForm(mut form): AnyForm<ContactForm>,
) -> Result<Response, ApiError> {
    if form.is_spam() {
        return Ok(spam(RECEIVED));
    }
    let message = SubmitRequest {
        idempotency_key: submission.complete("contact", &mut form, None),
        form: Some(form),
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
