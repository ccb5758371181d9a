//! Admission: checks that a request with a body must pass before its handler, in order.

use std::{net::IpAddr, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, StatusCode};
use site_service::drain::Drain;
use tokio::time::sleep;

use crate::{
    address::VisitorAddress,
    api_error::ApiError,
    challenge::Challenges,
    csrf,
    deadline::Deadline,
    form_bodies::FormBodies,
    rate_limit::RateLimit,
    stopping::{ANSWERING_ENDS, stopping},
    submissions::SubmissionMetrics,
};

/// Margin that lets the call to a service time out first, with 503. After a 408 the browser would send the form under
/// a new idempotency key, and the service could store it twice.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);

pub struct Admission {
    pub form: Option<FormAdmission>,
    pub rate: RateLimit,
    /// Time from the request's headers to the answer.
    pub timeout: Duration,
    /// `None` if the handler streams the body.
    pub bodies: Option<FormBodies>,
}

pub struct FormAdmission {
    pub name: &'static str,
    pub metrics: SubmissionMetrics,
    /// Origins of other sites that may send this form.
    pub allowed_origins: Vec<HeaderValue>,
    pub challenges: Arc<Challenges>,
}

/// Middleware that rejects requests that fail a check, and counts the outcomes of forms.
pub async fn admit(
    State(admission): State<Arc<Admission>>,
    Extension(VisitorAddress(address)): Extension<VisitorAddress>,
    request: Request,
    next: Next,
) -> Response {
    let answered = admission.answer(address, request, next).await;
    let mut answer = answered.unwrap_or_else(ApiError::into_response);
    if let Some(form) = &admission.form {
        form.metrics.count(&mut answer);
    }
    answer
}

impl Admission {
    /// Runs cheap checks first. The CSRF check precedes the rate limit, so that a cross-site post does not use up its
    /// visitor's quota. A timeout or a stop may end a request while its call runs; the client can safely retry it.
    async fn answer(&self, address: IpAddr, mut request: Request, next: Next) -> Result<Response, ApiError> {
        if let Some(form) = &self.form {
            csrf::check(request.headers(), &form.allowed_origins)?;
        }
        self.rate.check(address)?;
        let drain = Drain::of(request.extensions());
        request.extensions_mut().insert(Deadline::after(self.timeout));
        tokio::select! {
            // Boxed, because every future that awaits this large future would otherwise contain it and move it.
            answer = Box::pin(self.answer_in_time(address, request, next)) => answer,
            () = sleep(self.timeout + ANSWER_MARGIN) => Err(ApiError::of(StatusCode::REQUEST_TIMEOUT)),
            () = drain.left(ANSWERING_ENDS) => Err(stopping()),
        }
    }

    async fn answer_in_time(
        &self,
        address: IpAddr,
        request: Request,
        next: Next,
    ) -> Result<Response, ApiError> {
        // The router rejects methods other than POST.
        if let Some(form) = self.form.as_ref().filter(|_| request.method() == Method::POST) {
            form.challenges.check(form.name, address, request.headers())?;
        }
        let Some(bodies) = &self.bodies else {
            return Ok(next.run(request).await);
        };
        let (parts, body) = request.into_parts();
        let (body, _share) = bodies.read(body).await?;
        Ok(next.run(Request::from_parts(parts, body.into())).await)
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, middleware::from_fn_with_state, routing::post};
    use clap::Parser;
    use futures_util::future::join_all;
    use tower::ServiceExt;

    use super::*;
    use crate::settings::Settings;

    /// Simulates a handler whose service never answers.
    async fn unanswered(Extension(deadline): Extension<Deadline>) -> ApiError {
        sleep(deadline.left(Duration::from_secs(5))).await;
        ApiError::of(StatusCode::SERVICE_UNAVAILABLE)
    }

    #[tokio::test]
    async fn a_call_that_times_out_is_never_answered_with_408() {
        let admission = Admission {
            form: None,
            rate: RateLimit::of_links(&Settings::parse_from(["gateway"])),
            timeout: Duration::from_millis(200),
            bodies: None,
        };
        let router: Router = Router::new()
            .route("/", post(unanswered))
            .layer(from_fn_with_state(Arc::new(admission), admit));
        let requests = (0..50).map(|host| {
            let request = Request::post("/").extension(VisitorAddress([203, 0, 113, host].into()));
            let request = request.body(Body::empty()).expect("a request");
            router.clone().oneshot(request)
        });
        for answer in join_all(requests).await {
            let status = answer.expect("an answer").status();
            assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        }
    }
}
