//! OpenAPI document of the API, generated from the handlers.

use axum::Json;
use utoipa::OpenApi;

use super::{careers, contact, newsletter, remote_failure};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Site API",
        description = "The forms of the public site, and reports of parts of it that browsers could not load. Every answer carries `x-request-id`. Answers are JSON, except to a form sent with an `Accept` that names HTML but not JSON: it gets a page or a redirect. A form that a page of another site sends is refused with 403 (`Sec-Fetch-Site`), unless its origin is allowed.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    paths(
        contact::submit,
        newsletter::subscribe,
        newsletter::confirm,
        newsletter::unsubscribe,
        newsletter::ask_to_unsubscribe,
        careers::apply,
        remote_failure::report,
    )
)]
struct Api;

/// The OpenAPI 3.1 document.
pub fn openapi() -> utoipa::openapi::OpenApi {
    Api::openapi()
}

pub async fn document() -> Json<utoipa::openapi::OpenApi> {
    Json(openapi())
}
