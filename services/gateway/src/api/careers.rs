//! `POST /api/career-application`: streams the multipart body to the careers service.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::Bytes,
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;
use site_proto::careers::v1::{ApplicationForm, careers_service_client::CareersServiceClient};
use site_service::drain::Drain;
use tonic::{Code, Status};
use utoipa::ToSchema;

use super::{
    Accepted, AppState, Submission, SubmissionHeaders,
    parts::{self, Arrivals, Forwarded},
    spam,
    unsent_parts::UnsentParts,
};
use crate::{
    address::VisitorAddress,
    api_error::{ApiError, Failure},
    content_type,
    forwarding::{call, not_repeatable, repeated},
    limits::Limit,
    stopping::{RECEIVING_ENDS, stopping},
};

/// The parts of an application, in any order.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes to OpenAPI the part that is streamed")]
pub struct ApplicationParts {
    #[serde(flatten)]
    form: ApplicationForm,
    /// A PDF, DOC or DOCX file of at most 10 MiB, whose extension matches its content
    #[schema(required = false, format = Binary, value_type = String)]
    resume: Bytes,
}

/// Applies for an internship.
///
/// # Errors
///
/// If the body is no multipart form or arrives too late, too many uploads arrive at once, or the careers service
/// rejects the application or is unavailable.
#[utoipa::path(
    post,
    path = "/api/career-application",
    description = "Success is answered only after the résumé and the application are durably stored.",
    params(SubmissionHeaders),
    request_body(content = ApplicationParts, content_type = "multipart/form-data"),
    responses(
        (status = 200, description = "The application is stored", body = Accepted),
        (status = 303, description = "The same for a browser that accepts HTML: a redirect to a confirmation page"),
        (status = "4XX", description = "The application was not accepted; for a browser that accepts HTML, a page with the form and its input, without the file", body = Failure),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failure),
    )
)]
pub async fn apply(
    State(app): State<AppState>,
    Extension(VisitorAddress(address)): Extension<VisitorAddress>,
    submission: Submission,
    request: Request,
) -> Result<Response, ApiError> {
    let drain = Drain::of(request.extensions());
    let headers = request.headers();
    if !content_type::is(headers, "multipart/form-data") || content_type::is_encoded(headers) {
        return Err(ApiError::of(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let upload = tokio::select! {
        upload = app.uploads.begin(address) => upload?,
        () = drain.left(RECEIVING_ENDS) => return Err(stopping()),
    };
    let (form, arrivals) = Arrivals::begin(request, Arc::clone(&upload)).await?;
    let (request_id, deadline) = (submission.request_id.clone(), submission.deadline);
    let (parts, unsent) = UnsentParts::channel();
    let apply = |time| {
        let request = call(Arc::clone(&unsent).stream(), &request_id, time);
        let mut careers = CareersServiceClient::new(app.services.careers.clone());
        let unsent = &unsent;
        async move {
            let applied = careers.apply(request).await;
            applied.map_err(|status| {
                if unsent.is_whole() {
                    status
                } else {
                    not_repeatable(status)
                }
            })
        }
    };
    let mut applied = pin!(repeated(deadline.left(Duration::MAX), apply));
    tokio::select! {
        forwarded = parts::forward(form, arrivals, submission, parts) => match forwarded? {
            Forwarded::Application => applied.await?,
            // The service discards an application without a commit.
            Forwarded::Spam => return Ok(spam(Accepted::YES)),
        },
        refused = &mut applied => refused.map_err(refused_early)?,
        () = upload.lost.cancelled() => return Err(Limit::Pace.exceeded()),
        () = drain.left(RECEIVING_ENDS) => return Err(stopping()),
    };
    Ok(Accepted::YES.into_response())
}

/// Reports a missed deadline as the visitor's timeout (408), because the body was still arriving.
fn refused_early(status: Status) -> ApiError {
    if status.code() == Code::DeadlineExceeded {
        ApiError::of(StatusCode::REQUEST_TIMEOUT)
    } else {
        status.into()
    }
}
