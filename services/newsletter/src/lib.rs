//! Newsletter service: sign-up with double opt-in, unsubscribing and the fan-out of issues.
//!
//! [`sign_up`] and [`links`] change subscribers and publish events. [`bounces`] suppresses subscribers, and
//! [`fan_out`] queues the mails of an issue.

mod api;
mod bounces;
mod consent;
mod fan_out;
mod links;
mod newsletter;
mod settings;
mod sign_up;

use std::{sync::Arc, time::Duration};

use async_nats::jetstream;
use site_broker::{
    ISSUES_BUCKET, Publisher, RetryPolicy, SUBSCRIBERS_BUCKET,
    consume::{consume, deliver_one, ensure_consumer_exists},
    person_key_dependency,
};
use site_events::{FAN_OUT_CONSUMER, SENDINGS_STREAM, SITE_STREAM, SUPPRESSION_CONSUMER};
use site_proto::newsletter::v1::newsletter_service_server::{NewsletterServiceServer, SERVICE_NAME};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::GrpcServer,
    health::Dependency,
    nats,
};
use subscribers::Subscribers;
use subscribers::issues::{Issues, SendingLimits};
use tonic::service::Routes;
use visitor::token::TokenKeys;

pub use settings::Settings;

const BOUNCES_AT_ONCE: usize = 4;
/// Issues go out one after the other.
const ISSUES_AT_ONCE: usize = 1;

/// The running service.
pub struct Service {
    server: GrpcServer,
    context: jetstream::Context,
    newsletter: Arc<newsletter::Newsletter>,
    grace: Duration,
}

impl Service {
    /// Connects to the broker, opens the buckets and binds the port.
    ///
    /// # Errors
    ///
    /// If a setting is wrong or a dependency is unavailable.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let client = nats::connect(&settings.nats, "newsletter").await?;
        let context = nats::jetstream(client.clone());
        let person_key = settings.person.person_key;
        let key_dependency = person_key_dependency(&client, &person_key).await?;
        ensure_consumer_exists(&context, SUPPRESSION_CONSUMER).await?;
        ensure_consumer_exists(&context, FAN_OUT_CONSUMER).await?;
        let newsletter = Arc::new(newsletter::Newsletter {
            publisher: Publisher::new(client.clone()),
            subscribers: Subscribers::open(client.clone()).await?,
            issues: Issues::open(&context).await?,
            limits: SendingLimits {
                per_second: settings.newsletter_per_second,
                per_day: settings.newsletter_per_day,
            },
            context: context.clone(),
            confirm_within: settings.confirm_within,
            person_key,
            token_keys: TokenKeys::new(settings.token_key, settings.token_key_former),
        });
        let routes = Routes::new(NewsletterServiceServer::new(api::Api(newsletter.clone())));
        let dependencies = vec![
            Dependency::stream(client.clone(), SITE_STREAM),
            Dependency::bucket(client.clone(), SUBSCRIBERS_BUCKET),
            Dependency::bucket(client.clone(), ISSUES_BUCKET),
            Dependency::stream(client, SENDINGS_STREAM),
            key_dependency,
        ];
        let server = GrpcServer::bind(settings.listen, &[SERVICE_NAME], routes, dependencies).await?;
        Ok(Self {
            server: server.with(&settings.grpc).await?,
            context,
            newsletter,
            grace: settings.drain.grace,
        })
    }

    /// Port that the gRPC server listens on.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Routes for callers in the same process.
    pub fn routes(&self) -> Routes {
        self.server.routes()
    }

    /// Makes one attempt at one message of [`SUPPRESSION_CONSUMER`].
    pub async fn suppress(&self, message: &jetstream::Message) {
        let suppress = |delivery| bounces::suppress(&self.newsletter, delivery);
        let consumer = SUPPRESSION_CONSUMER.into();
        deliver_one(&self.context, consumer, RetryPolicy::DEFAULT, suppress, message).await;
    }

    /// Serves until `stop`, then drains.
    ///
    /// # Errors
    ///
    /// If the server ends before `stop`.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let suppress = |delivery| bounces::suppress(&self.newsletter, delivery);
        let suppressing = consume(
            &self.context,
            SUPPRESSION_CONSUMER.into(),
            BOUNCES_AT_ONCE,
            RetryPolicy::DEFAULT,
            suppress,
            stop.clone(),
        );
        let fan_out = |delivery| fan_out::fan_out(&self.newsletter, delivery);
        let fanning_out = consume(
            &self.context,
            FAN_OUT_CONSUMER.into(),
            ISSUES_AT_ONCE,
            RetryPolicy::DEFAULT,
            fan_out,
            stop.clone(),
        );
        let drain = Drain::new(stop.clone(), self.grace);
        let consuming = async { tokio::join!(suppressing, fanning_out) };
        let serving = async {
            let served = self.server.run(drain.clone()).await;
            // Nothing else stops the consumers when the server fails.
            stop.cancel();
            served
        };
        let (served, _in_time) = tokio::join!(serving, drain.within_grace(consuming));
        served
    }
}
