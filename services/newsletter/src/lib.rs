//! The newsletter service: double opt-in and the way out.
//!
//! A subscriber is one record in a KV bucket that changes by compare-and-set
//! ([`subscriber`] holds the rules, [`store`] the bucket); what happened to it is
//! published as events ([`sign_up`], [`links`]).

mod api;
mod links;
mod settings;
mod sign_up;
mod store;
mod subscriber;

use site_events::{Publisher, SITE, SUBSCRIBERS};
use site_proto::newsletter::v1::newsletter_service_server::NewsletterServiceServer;
use site_service::{drain::CancellationToken, grpc::GrpcServer, health::Dependency, nats};
use tonic::service::Routes;

pub use settings::Settings;

/// The running service.
pub struct Service(GrpcServer);

impl Service {
    /// Connects to the broker, opens the bucket and takes the port.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let client = nats::connect(&settings.nats, "newsletter").await?;
        let api = api::Api {
            newsletter: api::Newsletter {
                publisher: Publisher::new(client.clone()),
                subscribers: store::Subscribers::open(client.clone()).await?,
                person_key: settings.person_key,
                token_key: settings.token_key,
            },
        };
        let routes = Routes::new(NewsletterServiceServer::new(api));
        let dependencies = vec![
            Dependency::stream(client.clone(), SITE),
            Dependency::bucket(client, SUBSCRIBERS),
        ];
        GrpcServer::bind(settings.listen, routes, dependencies)
            .await
            .map(Self)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.0.port()
    }

    /// Serves until `stop`, then finishes what is in flight.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        self.0.run(stop).await
    }
}
