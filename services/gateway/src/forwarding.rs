//! gRPC client channels to the services: one per service, each call with a deadline and its trace context.

use std::time::Duration;

use site_proto::{
    careers::v1::careers_service_client::CareersServiceClient,
    contact::v1::contact_service_client::ContactServiceClient,
    newsletter::v1::newsletter_service_client::NewsletterServiceClient,
};
use site_service::{RequestId, grpc_middleware::GrpcClientTracing};
use tonic::{
    Request,
    transport::{self, Endpoint, Uri},
};

/// How long a service may take over a form without a file.
pub const FORM_CALL_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// Flow control windows, as wide as the services' own.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;

/// gRPC channel to a service; every call on it is a span.
pub type ServiceChannel = GrpcClientTracing<transport::Channel>;

/// The services behind the gateway.
#[derive(Clone)]
pub struct Services {
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

    pub fn careers(&self) -> CareersServiceClient<ServiceChannel> {
        CareersServiceClient::new(self.careers.clone())
    }
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
