//! `POST /api/newsletter`, and the routes behind the links in newsletter mails.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Query, RawQuery, Request, State},
    response::{IntoResponse, Redirect, Response},
};
use http::StatusCode;
use serde::Deserialize;
use site_proto::{
    Form as _,
    newsletter::v1::{
        ConfirmRequest, NewsletterForm, SubscribeRequest, UnsubscribeRequest,
        newsletter_service_client::NewsletterServiceClient,
    },
};
use utoipa::{IntoParams, ToSchema};

use super::{Accepted, AnyForm, AppState, JsonForm, Submission, SubmissionHeaders, spam};
use crate::{
    api_error::{ApiError, Failure},
    forwarding::{ServiceChannel, send},
};

/// Token of a link in a mail.
#[derive(Deserialize, ToSchema)]
pub struct TokenForm {
    /// The signed token
    #[serde(default)]
    #[schema(required, min_length = 1)]
    token: String,
}

/// The token in the URL, sent by a mail client or by a page without scripts.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AddressToken {
    /// The signed token; a request with it has the body `List-Unsubscribe=One-Click` (RFC 8058) or `answer=yes` (our page's form)
    token: Option<String>,
}

/// Body of a request with a token in the URL: one of the two fields. Link scanners send neither, so they cannot answer for people.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes to OpenAPI the fields that `is_yes` finds")]
pub struct LinkBody {
    /// `One-Click`, sent by a mail client (RFC 8058, 3.1)
    #[schema(rename = "List-Unsubscribe", required = false)]
    list_unsubscribe: String,
    /// `yes`, sent by our page if no script runs
    #[schema(required = false)]
    answer: String,
}

/// Signs up an address; its owner gets a mail with a confirmation link.
///
/// # Errors
///
/// If the newsletter service refuses the sign-up or is unavailable.
#[utoipa::path(
    post,
    path = "/api/newsletter",
    description = "The answer never reveals whether the address is known.",
    params(SubmissionHeaders),
    request_body(content((NewsletterForm = "application/json"), (NewsletterForm = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The sign-up is stored", body = Accepted),
        (status = 303, description = "The same for a browser that accepts HTML: a redirect to a confirmation page"),
        (status = "4XX", description = "The sign-up was not accepted; for a browser that accepts HTML, a page with the form and its input", body = Failure),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failure),
    )
)]
pub async fn subscribe(
    State(app): State<AppState>,
    mut submission: Submission,
    AnyForm(mut form): AnyForm<NewsletterForm>,
) -> Result<Response, ApiError> {
    if form.is_spam() {
        return Ok(spam(Accepted::YES));
    }
    let sign_up = SubscribeRequest {
        idempotency_key: submission.complete("newsletter", &mut form, None),
        form: Some(form),
    };
    let newsletter = newsletter(&app);
    let subscribe = async |request| newsletter.clone().subscribe(request).await;
    send(sign_up, &submission, subscribe).await?;
    Ok(Accepted::YES.into_response())
}

/// Confirms a sign-up with the mailed token.
///
/// # Errors
///
/// If the body is neither JSON nor a [`LinkBody`] that confirms, or the newsletter service rejects the token or is unavailable.
#[utoipa::path(
    post,
    path = "/api/newsletter/confirm",
    description = "Our page sends JSON, or a form if no script runs.",
    params(AddressToken),
    request_body(content((TokenForm = "application/json"), (LinkBody = "application/x-www-form-urlencoded"))),
    responses(
        (status = 200, description = "The subscription is confirmed", body = Accepted),
        (status = 303, description = "The same for the page's form without a script (`newsletter=confirm` in the query): a redirect to a confirmation page"),
        (status = "4XX", description = "The token is invalid or expired, or the address exceeds its rate limit", body = Failure),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failure),
    )
)]
pub async fn confirm(
    State(app): State<AppState>,
    submission: Submission,
    Query(address): Query<AddressToken>,
    request: Request,
) -> Result<Json<Accepted>, ApiError> {
    let token = token(address, request).await?;
    let newsletter = newsletter(&app);
    let confirm = async |request| newsletter.clone().confirm(request).await;
    send(ConfirmRequest { token }, &submission, confirm).await?;
    Ok(Accepted::YES)
}

/// Ends a subscription.
///
/// # Errors
///
/// If the body is neither JSON nor a [`LinkBody`] that confirms, or the newsletter service rejects the token or is unavailable.
#[utoipa::path(
    post,
    path = "/api/newsletter/unsubscribe",
    description = "Our page sends JSON, or a form if no script runs. A mail client sends its one-click form (RFC 8058).",
    params(AddressToken),
    request_body(content((TokenForm = "application/json"), (LinkBody = "application/x-www-form-urlencoded"), (LinkBody = "multipart/form-data"))),
    responses(
        (status = 200, description = "The subscription has ended", body = Accepted),
        (status = 303, description = "The same for the page's form without a script (`newsletter=unsubscribe` in the query): a redirect to a confirmation page"),
        (status = "4XX", description = "The token is invalid, or the address exceeds its rate limit", body = Failure),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failure),
    )
)]
pub async fn unsubscribe(
    State(app): State<AppState>,
    submission: Submission,
    Query(address): Query<AddressToken>,
    request: Request,
) -> Result<Json<Accepted>, ApiError> {
    let token = token(address, request).await?;
    let newsletter = newsletter(&app);
    let unsubscribe = async |request| newsletter.clone().unsubscribe(request).await;
    send(UnsubscribeRequest { token }, &submission, unsubscribe).await?;
    Ok(Accepted::YES)
}

/// Redirects to the confirmation page, because some mail clients open the link instead of posting to it (RFC 8058, 3.1).
#[utoipa::path(
    get,
    path = "/api/newsletter/unsubscribe",
    params(AddressToken),
    responses((status = 303, description = "The page that asks for confirmation; nothing is changed")),
)]
pub async fn ask_to_unsubscribe(RawQuery(query): RawQuery) -> Redirect {
    Redirect::to(&format!("/?newsletter=unsubscribe&{}", query.unwrap_or_default()))
}

fn newsletter(app: &AppState) -> NewsletterServiceClient<ServiceChannel> {
    NewsletterServiceClient::new(app.services.newsletter.clone())
}

async fn token(AddressToken { token }: AddressToken, request: Request) -> Result<String, ApiError> {
    let Some(token) = token else {
        return Ok(JsonForm::<TokenForm>::from_request(request, &()).await?.0.token);
    };
    let body = Bytes::from_request(request, &()).await;
    let body = body.map_err(|rejection| ApiError::of(rejection.status()))?;
    if is_yes(&String::from_utf8_lossy(&body)) {
        Ok(token)
    } else {
        Err(ApiError::of(StatusCode::BAD_REQUEST))
    }
}

/// Whether a [`LinkBody`] confirms. A substring search works in every form encoding, and the body has no other text.
fn is_yes(body: &str) -> bool {
    body.contains("List-Unsubscribe") && body.contains("One-Click") || body.contains("answer=yes")
}
