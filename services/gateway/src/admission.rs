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

/// Lets a service call time out first, with 503. After a 408 the browser would send the form under a new key. The
/// service may still complete the first call, too.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);

pub struct Admission {
    pub form: Option<FormAdmission>,
    pub rate: RateLimit,
    /// From the headers to the answer.
    pub timeout: Duration,
    /// `None` if the handler streams the body.
    pub bodies: Option<FormBodies>,
}

pub struct FormAdmission {
    pub name: &'static str,
    pub metrics: SubmissionMetrics,
    /// Other sites that may send it.
    pub allowed_origins: Vec<HeaderValue>,
    pub challenges: Arc<Challenges>,
}

/// Rejects requests that fail a check, and counts outcomes of forms.
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
    /// Cheap checks come first. CSRF precedes the rate limit, so that cross-site posts do not count against their
    /// visitor. The timeout and a stop end every request; a call that still runs then is safe to retry.
    async fn answer(&self, address: IpAddr, mut request: Request, next: Next) -> Result<Response, ApiError> {
        if let Some(form) = &self.form {
            csrf::check(request.headers(), &form.allowed_origins)?;
        }
        self.rate.check(address)?;
        let drain = Drain::of(request.extensions());
        request.extensions_mut().insert(Deadline::after(self.timeout));
        tokio::select! {
            // Boxed, because futures that await it would move this large one.
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
        // The router rejects other methods.
        if let Some(form) = self.form.as_ref().filter(|_| request.method() == Method::POST) {
            form.challenges.check(form.name, address, request.headers())?;
        }
        let Some(bodies) = &self.bodies else {
            return Ok(next.run(request).await);
        };
        let (parts, body) = request.into_parts();
        let (body, _held) = bodies.read(body).await?;
        Ok(next.run(Request::from_parts(parts, body.into())).await)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use axum::{Router, body::Body, middleware::from_fn_with_state, routing::post};
    use clap::Parser;
    use futures_util::future::join_all;
    use tower::ServiceExt;

    use super::*;
    use crate::settings::Settings;

    const CALL_TIMEOUT: Duration = Duration::from_secs(5);

    /// Call whose service does not answer.
    async fn unanswered(Extension(deadline): Extension<Deadline>) -> ApiError {
        sleep(deadline.left(CALL_TIMEOUT)).await;
        ApiError::of(StatusCode::SERVICE_UNAVAILABLE)
    }

    #[tokio::test]
    async fn a_call_that_its_service_may_still_do_is_never_told_as_a_request_that_did_not_arrive() {
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
            let visitor = VisitorAddress(Ipv4Addr::new(203, 0, 113, host).into());
            let request = Request::post("/").extension(visitor);
            router
                .clone()
                .oneshot(request.body(Body::empty()).expect("a request"))
        });
        let statuses = join_all(requests).await;
        let statuses = statuses
            .into_iter()
            .map(|answer| answer.map(|answer| answer.status()));
        let told_otherwise = statuses.filter(|status| *status != Ok(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(told_otherwise.count(), 0);
    }
}
