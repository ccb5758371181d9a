//! gRPC clients of the services. Each balances its calls over pods; every call has a deadline and trace context.

mod balanced;

use std::{error::Error, time::Duration};

use anyhow::Context;
use backon::{ExponentialBuilder, Retryable};
use site_service::{RequestId, grpc_middleware::GrpcTracing, status};
use tokio::time::{Instant, timeout};
use tonic::{Code, Request, Response, Status, transport::Uri};
use tonic_types::StatusExt;

use self::balanced::Balanced;
use crate::{api::Submission, settings::Settings};

/// Timeout of a call with its retries. The whole request has 15 s, mostly for receiving the form.
const FORM_CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// Channel that records a span for every call.
pub type ServiceChannel = GrpcTracing<Balanced>;

/// Backoff between attempts, in total longer than a service's restart.
const RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(1))
    .with_max_times(6)
    .with_jitter();

pub struct Services {
    pub contact: ServiceChannel,
    pub newsletter: ServiceChannel,
    pub careers: ServiceChannel,
}

impl Services {
    /// # Errors
    ///
    /// If an address does not fit the TLS settings, or a certificate does not match its key.
    pub fn new(settings: &Settings) -> anyhow::Result<Self> {
        let tls = settings.grpc_tls.client();
        let channel = |setting: &str, uri: &Uri| {
            let pods = Balanced::new(uri, tls.as_ref());
            let pods = pods.with_context(|| format!("The setting {setting} is wrong: \"{uri}\""))?;
            anyhow::Ok(ServiceChannel::of_client(pods, uri.clone()))
        };
        Ok(Self {
            contact: channel("CONTACT_URL", &settings.contact_url)?,
            newsletter: channel("NEWSLETTER_URL", &settings.newsletter_url)?,
            careers: channel("CAREERS_URL", &settings.careers_url)?,
        })
    }
}

/// Sends a form without a file through [`repeated`], within its request's deadline.
///
/// # Errors
///
/// See [`repeated`].
pub async fn send<M, T, Fut>(
    message: M,
    submission: &Submission,
    send: impl Fn(Request<M>) -> Fut,
) -> Result<T, Status>
where
    M: Clone,
    Fut: Future<Output = Result<Response<T>, Status>>,
{
    let send = |time| send(call(message.clone(), &submission.request_id, time));
    let answered = repeated(submission.deadline.left(FORM_CALL_TIMEOUT), send).await;
    answered.map(Response::into_inner)
}

/// Calls a service, and retries if the call did not reach it. `call` gets the remaining time. The call must be
/// idempotent or carry an idempotency key.
///
/// # Errors
///
/// If the service rejects the call, or is not reached within [`RETRIES`] and `limit`.
pub async fn repeated<T, Fut>(limit: Duration, mut call: impl FnMut(Duration) -> Fut) -> Result<T, Status>
where
    Fut: Future<Output = Result<T, Status>>,
{
    let started = Instant::now();
    let calling = (|| call(limit.saturating_sub(started.elapsed())))
        .retry(RETRIES)
        .when(has_no_answer);
    // Boxed, because every future that awaits this large future would otherwise contain it and move it.
    let called = timeout(limit, Box::pin(calling.into_future())).await;
    let called =
        called.unwrap_or_else(|_| Err(Status::deadline_exceeded("the service was not reached in time")));
    called.map_err(with_deadline_code)
}

/// Replaces a status after which [`repeated`] would retry, because part of the call may have been sent.
pub fn not_repeatable(status: Status) -> Status {
    let status = with_deadline_code(status);
    if has_no_answer(&status) {
        status::unavailable(status.message())
    } else {
        status
    }
}

/// Corrects the code of a missed deadline, which tonic's client and server report as `Cancelled`.
fn with_deadline_code(status: Status) -> Status {
    match status.code() {
        Code::Cancelled => Status::deadline_exceeded(status.message()),
        _ => status,
    }
}

/// Whether this client or a proxy made the status. If a service itself is unavailable, its status has retry info.
fn has_no_answer(status: &Status) -> bool {
    status.source().is_some()
        || status.code() == Code::Unavailable && status.get_details_retry_info().is_none()
}

pub fn call<T>(message: T, request_id: &RequestId, deadline: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request_id.inject(request.metadata_mut());
    request.set_timeout(deadline);
    request
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_attempts_share_one_deadline() {
        let (limit, times) = (Duration::from_millis(500), RefCell::new(Vec::new()));
        let started = Instant::now();
        let called = repeated(limit, |time| {
            times.borrow_mut().push(time);
            async {
                tokio::time::sleep(Duration::from_millis(150)).await;
                Err::<(), _>(Status::unavailable("nobody listens"))
            }
        });
        let refused = called.await.expect_err("nobody listens");
        assert_eq!(refused.code(), Code::DeadlineExceeded);
        assert!(started.elapsed() < 2 * limit, "{:?}", started.elapsed());
        let times = times.into_inner();
        assert!(
            times.len() > 1 && times.is_sorted_by(|before, after| before > after),
            "{times:?}"
        );
        assert!(times[0] <= limit);
    }

    #[test]
    fn only_unsent_calls_are_retried() {
        let unreached = Status::unavailable("the connection broke");
        assert!(has_no_answer(&unreached));
        for (status, code) in [
            (unreached, Code::Unavailable),
            (Status::cancelled("Timeout expired"), Code::DeadlineExceeded),
            (Status::internal("the service says so"), Code::Internal),
            (Status::resource_exhausted("it says so"), Code::ResourceExhausted),
            (Status::out_of_range("too large"), Code::OutOfRange),
        ] {
            let status = not_repeatable(status);
            assert!(!has_no_answer(&status), "{status}");
            assert_eq!(status.code(), code);
        }
    }
}
