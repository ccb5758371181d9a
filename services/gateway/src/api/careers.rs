//! `POST /api/career-application`: the multipart body goes on to the careers service
//! part by part, as it arrives. Nothing of it is held whole.

use std::time::Duration;

use axum::{
    body::Bytes,
    extract::{FromRequest, Multipart, Request, State},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use site_service::metrics::CounterGuard;
use tokio::{sync::mpsc, time::timeout};
use tokio_stream::wrappers::ReceiverStream;
use utoipa::ToSchema;

use super::{Accepted, Attribution, Submission, parts, parts::Forwarded, spam};
use crate::{api_error::ApiError, app::AppState, forwarding::call};

/// Queue timeout for an upload permit.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);
/// `Retry-After` where no permit came free in time.
const BUSY_RETRY_AFTER: Duration = Duration::from_secs(15);
/// Capacity of the bounded channel of parts (backpressure). Small: this is what bounds the memory.
const CHANNEL_CAPACITY: usize = 4;

/// An application for an internship. Parts may come in any order; a missing field counts as empty.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes to OpenAPI what the parts hold")]
pub struct ApplicationForm {
    /// 1–200 characters
    name: String,
    /// A valid address of at most 254 characters
    email: String,
    /// At most 40 characters
    phone: Option<String>,
    /// 1–200 characters
    position: String,
    /// At most 200 characters
    experience: Option<String>,
    /// 1–20,000 characters
    #[schema(rename = "coverLetter")]
    cover_letter: String,
    /// A PDF, DOC or DOCX by content, at most 10 MiB
    #[schema(format = Binary, value_type = Option<String>)]
    resume: Option<Bytes>,
    /// Where the visitor came from, as JSON
    attribution: Option<Attribution>,
    /// Hidden from people: leave it empty
    website: Option<String>,
}

/// Applies for an internship.
///
/// # Errors
///
/// If the body is no multipart form or does not arrive, too many arrive at once, or the careers service refuses it or
/// is away.
#[utoipa::path(
    post,
    path = "/api/career-application",
    description = "Success is answered only after the résumé and the application are durably stored.",
    params(("Idempotency-Key" = Option<uuid::Uuid>, Header, description = "The same key within an hour has one effect, and with another content it is refused; without one, the same fields and the same résumé within an hour of the clock (UTC) have")),
    request_body(content = ApplicationForm, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The application is stored", body = Accepted),
        (status = 303, description = "The same for a browser that asks for HTML: it leads on to a page that says so"),
        (status = "4XX", description = "The application was not accepted; for a browser that asks for HTML, a page with the form and what was entered, but for the file", body = super::Failed),
        (status = 503, description = "Try again after the seconds in Retry-After", body = super::Failed),
    )
)]
pub async fn apply(
    State(app): State<AppState>,
    submission: Submission,
    request: Request,
) -> Result<Response, ApiError> {
    let form = multipart(request).await?;
    let waiting = CounterGuard::new(&app.uploads.waiting, &[]);
    let permit = timeout(QUEUE_TIMEOUT, app.uploads.permits.acquire()).await;
    drop(waiting);
    let Ok(Ok(_permit)) = permit else {
        let busy = "Many applications are arriving right now. Please try again in a moment.";
        return Err(
            ApiError::with_message(StatusCode::SERVICE_UNAVAILABLE, busy).retry_after(BUSY_RETRY_AFTER)
        );
    };

    let _active = CounterGuard::new(&app.uploads.active, &[]);
    let (parts, receiver) = mpsc::channel(CHANNEL_CAPACITY);
    let mut careers = app.services.careers();
    let applied = careers.apply(call(
        ReceiverStream::new(receiver),
        &submission.request_id,
        app.uploads.timeout,
    ));
    tokio::pin!(applied);
    tokio::select! {
        forwarded = parts::forward(form, submission, parts) => match forwarded? {
            Forwarded::Application => applied.await?,
            // Without the commit the service keeps nothing.
            Forwarded::Spam => return Ok(spam(Accepted::YES)),
        },
        // The service refused what it had so far.
        refused = &mut applied => refused?,
    };
    Ok(Accepted::YES.into_response())
}

async fn multipart(request: Request) -> Result<Multipart, ApiError> {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    if !content_type.is_some_and(|value| value.as_bytes().starts_with(b"multipart/form-data")) {
        return Err(ApiError::of(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let form = Multipart::from_request(request, &()).await;
    form.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))
}
