//! Contact service: accepts contact messages ([`submit`]).

mod api;
mod message;
mod sender;
mod settings;
mod submit;

use std::time::Duration;

use site_broker::{Publisher, person_key_dependency};
use site_events::SITE_STREAM;
use site_proto::contact::v1::contact_service_server::{ContactServiceServer, SERVICE_NAME};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::GrpcServer,
    health::Dependency,
    nats,
};
use tonic::service::Routes;

use sender::Senders;
pub use settings::Settings;

/// The running service.
pub struct Service {
    server: GrpcServer,
    grace: Duration,
}

impl Service {
    /// Connects to the broker and binds the port.
    ///
    /// # Errors
    ///
    /// If a setting is invalid or a dependency does not answer.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let client = nats::connect(&settings.nats, "contact").await?;
        let person_key = settings.person.person_key;
        let key_dependency = person_key_dependency(&client, &person_key).await?;
        let api = api::Api {
            publisher: Publisher::new(client.clone()),
            senders: Senders {
                person_key,
                synthetic_key: settings.synthetic_key,
            },
        };
        let routes = Routes::new(ContactServiceServer::new(api));
        let dependencies = vec![Dependency::stream(client, SITE_STREAM), key_dependency];
        let server = GrpcServer::bind(settings.listen, &[SERVICE_NAME], routes, dependencies).await?;
        Ok(Self {
            server: server.with(&settings.grpc).await?,
            grace: settings.drain.grace,
        })
    }

    /// Port that the gRPC server listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Returns the gRPC routes for callers in the same process, such as tests.
    pub fn routes(&self) -> Routes {
        self.server.routes()
    }

    /// Serves until `stop`, then drains.
    ///
    /// # Errors
    ///
    /// If the server ends before `stop`.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.server.run(Drain::new(stop, self.grace)).await
    }
}
