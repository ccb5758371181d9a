//! gRPC client channels to the services: one per service, over all of its pods; each call with a deadline and its trace
//! context.

mod balanced;

use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use site_proto::{
    careers::v1::careers_service_client::CareersServiceClient,
    contact::v1::contact_service_client::ContactServiceClient,
    newsletter::v1::newsletter_service_client::NewsletterServiceClient,
};
use site_service::{RequestId, grpc_middleware::GrpcClientTracing, status, tls::ClientTls};
use tokio::time::{Instant, timeout};
use tonic::{Code, Request, Response, Status, transport::Uri};
use tonic_types::StatusExt;
use tower::retry::budget::{Budget, TpsBudget};

use self::balanced::Balanced;
use crate::deadline::Deadline;

/// How long a service may take over a form without a file, with all attempts. The service answers by itself half a second
/// before (`site_service::detached_calls`), so that its own sentence is heard; 15 s are the whole request's, so that most of it
/// is the visitor's to send.
const FORM_CALL_TIMEOUT: Duration = Duration::from_secs(5);

/// gRPC channel to a service. Every call on it is a span.
pub type ServiceChannel = GrpcClientTracing<Balanced>;

/// How often and how soon a call is repeated that did not reach its service: long enough for one that is started anew.
const RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(100))
    .with_max_delay(Duration::from_secs(1))
    .with_max_times(6)
    .with_jitter();
/// Retry budget: beyond a few a second, one repetition for five calls, so that a service that is away is not asked more
/// than one that is there.
const RETRY_BUDGET_WINDOW: Duration = Duration::from_secs(10);
const RETRIES_PER_SECOND: u32 = 5;
const RETRIES_PER_CALL: f32 = 0.2;

/// The services behind the gateway.
pub struct Services {
    pub contact: Remote,
    pub newsletter: Remote,
    pub careers: Remote,
}

impl Services {
    pub fn contact(&self) -> ContactServiceClient<ServiceChannel> {
        self.contact.client(ContactServiceClient::new)
    }

    pub fn newsletter(&self) -> NewsletterServiceClient<ServiceChannel> {
        self.newsletter.client(NewsletterServiceClient::new)
    }

    pub fn careers(&self) -> CareersServiceClient<ServiceChannel> {
        self.careers.client(CareersServiceClient::new)
    }
}

/// One service: its channel, and the budget of calls that are repeated to it. Another one's repetitions cost it nothing.
pub struct Remote {
    channel: ServiceChannel,
    retry_budget: TpsBudget,
}

impl Remote {
    /// The service at this address; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// If the address and TLS do not go together: why.
    pub fn new(uri: &Uri, tls: Option<&ClientTls>) -> anyhow::Result<Self> {
        Ok(Self::over(Balanced::new(uri, tls)?, uri))
    }

    fn over(pods: Balanced, uri: &Uri) -> Self {
        Self {
            channel: GrpcClientTracing::new(pods, uri.clone()),
            retry_budget: TpsBudget::new(RETRY_BUDGET_WINDOW, RETRIES_PER_SECOND, RETRIES_PER_CALL),
        }
    }

    /// A client over its channel.
    pub fn client<C>(&self, new: fn(ServiceChannel) -> C) -> C {
        new(self.channel.clone())
    }

    /// Sends a message that came without a file, with what its request has left of its time; calls as [`Self::repeated`] does.
    ///
    /// # Errors
    ///
    /// As [`Self::repeated`].
    pub async fn send<M, T, Fut>(
        &self,
        message: M,
        request_id: &RequestId,
        deadline: Deadline,
        send: impl Fn(Request<M>) -> Fut,
    ) -> Result<T, Status>
    where
        M: Clone,
        Fut: Future<Output = Result<Response<T>, Status>>,
    {
        let send = |time| send(call(message.clone(), request_id, time));
        let answered = self.repeated(deadline.left(FORM_CALL_TIMEOUT), send).await;
        answered.map(Response::into_inner)
    }

    /// Calls the service, and again where it is not reached; `call` is given what is left of `limit` each time, as the deadline
    /// that goes with it. For calls that may be made twice: under an idempotency key, or of the same effect.
    ///
    /// # Errors
    ///
    /// If the service refuses, or is not reached within [`RETRIES`], the budget and `limit` for all attempts.
    pub async fn repeated<T, Fut>(
        &self,
        limit: Duration,
        mut call: impl FnMut(Duration) -> Fut,
    ) -> Result<T, Status>
    where
        Fut: Future<Output = Result<T, Status>>,
    {
        self.retry_budget.deposit();
        let started = Instant::now();
        let calling = (|| call(limit.saturating_sub(started.elapsed())))
            .retry(RETRIES)
            .when(|status| is_unreached(status) && self.retry_budget.withdraw());
        // What calls is large, and would be moved with all that awaits it.
        let called = timeout(limit, Box::pin(calling.into_future())).await;
        called.unwrap_or_else(|_| Err(Status::deadline_exceeded("the service was not reached in time")))
    }
}

/// The status of a call that must not be made again, because some of it may have been sent.
pub fn not_repeatable(status: Status) -> Status {
    if is_unreached(&status) {
        status::unavailable(status.message())
    } else {
        status
    }
}

/// Whether the call failed on its way. A service that cannot do its work says when to come back, and means it.
fn is_unreached(status: &Status) -> bool {
    status::is_connection_error(status)
        || status.code() == Code::Unavailable && status.get_details_retry_info().is_none()
}

/// A call that carries the request's id and its deadline.
pub fn call<T>(message: T, request_id: &RequestId, deadline: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request_id.inject(request.metadata_mut());
    request.set_timeout(deadline);
    request
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use clap::Parser;
    use futures_util::future::join_all;

    use super::*;
    use crate::{app::AppState, settings::Settings};

    const CALLS: u32 = 100;

    /// What a call comes to whose connection a service ends for this reason.
    fn connection_error(reason: h2::Reason) -> Status {
        Status::from_error(Box::new(h2::Error::from(reason)))
    }

    fn nobody() -> Remote {
        Remote::new(&Uri::from_static("http://127.0.0.1:9"), None).expect("an address")
    }

    /// How often a service that is not reached is asked again, for a hundred calls at once.
    async fn repetitions(service: &Remote) -> u32 {
        let asked = Cell::new(0);
        let calls = (0..CALLS).map(|_| {
            service.repeated(FORM_CALL_TIMEOUT, |_| {
                asked.set(asked.get() + 1);
                std::future::ready(Err::<(), _>(Status::unavailable("nobody listens")))
            })
        });
        assert!(join_all(calls).await.iter().all(Result::is_err));
        asked.get() - CALLS
    }

    #[tokio::test]
    async fn a_service_that_is_away_is_asked_little_more_than_one_that_is_there() {
        let repeated = repetitions(&nobody()).await;
        let window = u32::try_from(RETRY_BUDGET_WINDOW.as_secs()).expect("seconds");
        let most = RETRIES_PER_SECOND * window + (f64::from(CALLS) * f64::from(RETRIES_PER_CALL)) as u32;
        assert!((1..=most).contains(&repeated), "{repeated} repetitions");
    }

    #[tokio::test]
    async fn a_service_that_is_away_costs_another_none_of_its_repetitions() {
        let app = AppState::new(&Settings::parse_from(["gateway"]));
        let services = app.expect("the defaults go together").services;
        let before = repetitions(&services.contact).await;
        let after = repetitions(&services.newsletter).await;
        assert_eq!(before, after);
    }

    #[tokio::test(start_paused = true)]
    async fn all_attempts_together_have_the_time_of_one_and_each_is_told_what_is_left() {
        let (service, times) = (nobody(), RefCell::new(Vec::new()));
        let limit = Duration::from_millis(500);
        let started = Instant::now();
        let called = service.repeated(limit, |time| {
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
    fn what_may_have_been_sent_is_not_sent_again() {
        for unreached in [
            Status::unavailable("the connection broke"),
            connection_error(h2::Reason::NO_ERROR),
            connection_error(h2::Reason::ENHANCE_YOUR_CALM),
        ] {
            assert!(is_unreached(&unreached));
            let status = not_repeatable(unreached);
            assert!(!is_unreached(&status));
            assert_eq!(status.code(), Code::Unavailable);
        }
        assert!(
            !is_unreached(&connection_error(h2::Reason::CANCEL)),
            "its own time is over"
        );
        for answered in [
            Status::internal("the service says so"),
            Status::resource_exhausted("it says so"),
        ] {
            assert!(!is_unreached(&answered));
        }
        let refused = Status::out_of_range("too large");
        assert_eq!(not_repeatable(refused).code(), Code::OutOfRange);
    }
}
