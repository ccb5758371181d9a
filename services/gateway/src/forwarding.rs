//! gRPC client channels to the services: one per service, each call with a deadline and its trace context.

use std::{sync::Arc, time::Duration};

use backon::{ExponentialBuilder, Retryable};

use site_proto::{
    careers::v1::careers_service_client::CareersServiceClient,
    contact::v1::contact_service_client::ContactServiceClient,
    newsletter::v1::newsletter_service_client::NewsletterServiceClient,
};
use site_service::{RequestId, grpc_middleware::GrpcClientTracing};
use tokio::time::timeout;
use tonic::{
    Code, Request, Status,
    transport::{self, Endpoint, Uri},
};
use tonic_types::StatusExt;
use tower::retry::budget::{Budget, TpsBudget};

/// How long a service may take over a form without a file.
pub const FORM_CALL_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Flow control windows, as wide as the services' own.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;

/// gRPC channel to a service; every call on it is a span.
pub type ServiceChannel = GrpcClientTracing<transport::Channel>;

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
#[derive(Clone)]
pub struct Services {
    pub retry_budget: Arc<TpsBudget>,
    pub contact: ServiceChannel,
    pub newsletter: ServiceChannel,
    pub careers: ServiceChannel,
}

impl Services {
    pub fn contact(&self) -> ContactServiceClient<ServiceChannel> {
        ContactServiceClient::new(self.contact.clone())
    }

    pub fn newsletter(&self) -> NewsletterServiceClient<ServiceChannel> {
        NewsletterServiceClient::new(self.newsletter.clone())
    }

    /// Calls a service, and again where it is not reached. For calls that may be made twice: under an idempotency key, or
    /// of the same effect.
    ///
    /// # Errors
    ///
    /// If the service refuses, or is not reached within [`RETRIES`], the budget and [`FORM_CALL_TIMEOUT`] for all attempts.
    pub async fn repeated<T, Fut>(&self, call: impl FnMut() -> Fut) -> Result<T, Status>
    where
        Fut: Future<Output = Result<T, Status>>,
    {
        self.retry_budget.deposit();
        let calling = call
            .retry(RETRIES)
            .when(|status| is_unreached(status) && self.retry_budget.withdraw());
        let called = timeout(FORM_CALL_TIMEOUT, calling).await;
        called.unwrap_or_else(|_| Err(Status::deadline_exceeded("the service was not reached in time")))
    }

    pub fn careers(&self) -> CareersServiceClient<ServiceChannel> {
        CareersServiceClient::new(self.careers.clone())
    }
}

/// The budget of repeated calls to all services.
pub fn retry_budget() -> Arc<TpsBudget> {
    Arc::new(TpsBudget::new(
        RETRY_BUDGET_WINDOW,
        RETRIES_PER_SECOND,
        RETRIES_PER_CALL,
    ))
}

/// Whether the call failed on its way. A service that cannot do its work says when to come back, and means it.
fn is_unreached(status: &Status) -> bool {
    status.code() == Code::Unavailable && status.get_details_retry_info().is_none()
}

/// A channel that connects when it is first used, and again whenever it must.
pub fn channel(uri: &Uri) -> ServiceChannel {
    let channel = Endpoint::from(uri.clone())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(CONNECT_TIMEOUT)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .connect_lazy();
    GrpcClientTracing::new(channel, uri.clone())
}

/// A call that carries the request's id and its deadline.
pub fn call<T>(message: T, request_id: &RequestId, deadline: Duration) -> Request<T> {
    let mut request = Request::new(message);
    request_id.inject(request.metadata_mut());
    request.set_timeout(deadline);
    request
}
