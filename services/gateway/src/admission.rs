//! Admission of requests that bring something: what each must pass before its handler sees it, in order.

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

/// How much longer a request may take than its calls to the services: of one that a service may still do it is said that it is
/// not known to be done. After 408 a browser takes the form for one that did not arrive, and sends it under another key.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);

/// Admission to one route.
pub struct Admission {
    /// What is asked of a form besides.
    pub form: Option<FormAdmission>,
    pub rate: RateLimit,
    /// How long it may take, from its head to its answer.
    pub timeout: Duration,
    /// How its body is read, unless its handler reads it as it arrives.
    pub bodies: Option<FormBodies>,
}

/// What is asked of a form.
pub struct FormAdmission {
    pub name: &'static str,
    pub metrics: SubmissionMetrics,
    /// Other sites whose pages may send it.
    pub allowed_origins: Vec<HeaderValue>,
    pub challenges: Arc<Challenges>,
}

/// Middleware: answers what is not admitted, and counts what came of a form.
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
    /// The checks that need no body come first, and of them the one by which what another site sends does not count for its visitor.
    /// Nothing takes longer than the timeout, nor until the end of a stop. What goes on behind it can be sent again without harm.
    async fn answer(&self, address: IpAddr, mut request: Request, next: Next) -> Result<Response, ApiError> {
        if let Some(form) = &self.form {
            csrf::check(request.headers(), &form.allowed_origins)?;
        }
        self.rate.check(address)?;
        let drain = Drain::of(request.extensions());
        request.extensions_mut().insert(Deadline::after(self.timeout));
        tokio::select! {
            // Large, and would be moved with all that awaits it.
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
        // Any other method is refused by the router, whatever work was done for it.
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

    /// What a call does whose service says nothing until its deadline.
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
