//! The notifier: each event that someone must hear of becomes one mail.
//!
//! [`deliver`] is what happens when an event comes in, top to bottom; [`mails`] holds
//! the six mails, [`message`] puts one into an envelope, [`smtp`] hands it over and
//! [`deliveries`] remembers it.

mod brand;
mod deliver;
mod deliveries;
pub mod desk;
mod dkim;
pub mod mails;
pub mod message;
pub mod samples;
mod settings;
mod smtp;
mod templates;
mod wording;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use async_nats::jetstream::{self, context::ContextBuilder};
use site_events::{Channel, DELIVERIES, SITE, consume::consume};
use site_service::{
    drain::{self, CancellationToken},
    grpc::GrpcServer,
    health::Dependency,
    nats,
};
use tokio::task::JoinSet;
use tonic::service::Routes;

pub use brand::Brand;
pub use dkim::DkimSettings;
pub use settings::Settings;
pub use smtp::{SmtpSettings, TlsMode};
pub use templates::Words;

use crate::{deliver::Notifier, deliveries::Deliveries, desk::Desk, smtp::Smtp};

/// How many mails of one channel are under way at once.
const AT_ONCE: usize = 4;

/// The running service.
pub struct Service {
    server: GrpcServer,
    context: jetstream::Context,
    notifier: Arc<Notifier>,
}

impl Service {
    /// Reads the templates, connects to the broker and takes the port.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let smtp = Smtp::new(&settings.smtp, AT_ONCE * Channel::ALL.len())?;
        let desk = Desk::new(&settings)?;
        let client = nats::connect(&settings.nats, "notifier").await?;
        let context = context(client.clone());
        let notifier = Notifier {
            deliveries: Deliveries::open(&context).await?,
            desk,
            smtp,
        };
        let dependencies = vec![
            Dependency::stream(client.clone(), SITE),
            Dependency::bucket(client, DELIVERIES),
        ];
        Ok(Self {
            server: GrpcServer::bind(settings.listen, Routes::default(), dependencies).await?,
            context,
            notifier: Arc::new(notifier),
        })
    }

    /// The port on which it answers for its health.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Delivers until `stop`, then finishes what is in flight.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut workers = JoinSet::new();
        for channel in Channel::ALL {
            workers.spawn(work(
                self.context.clone(),
                self.notifier.clone(),
                channel,
                stop.clone(),
            ));
        }
        let (served, worked) = tokio::join!(
            self.server.run(stop.clone()),
            drain::within_grace(&stop, watch(&mut workers, &stop)),
        );
        self.notifier.smtp.close(Duration::from_secs(1)).await;
        served.and(worked.unwrap_or(Ok(())))
    }
}

/// One channel's events, one mail each.
async fn work(
    context: jetstream::Context,
    notifier: Arc<Notifier>,
    channel: Channel,
    stop: CancellationToken,
) {
    let deliver = |delivery| {
        let notifier = notifier.clone();
        async move { notifier.deliver(delivery).await }
    };
    consume(&context, channel, AT_ONCE, deliver, stop).await;
}

/// Waits for the workers to end. One that panics ends the service: a process that is
/// started anew is better than one that looks well and sends nothing.
async fn watch(workers: &mut JoinSet<()>, stop: &CancellationToken) -> anyhow::Result<()> {
    let mut result = Ok(());
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended {
            result = Err(error).context("a channel's worker ended unasked");
            stop.cancel();
        }
    }
    result
}

fn context(client: async_nats::Client) -> jetstream::Context {
    ContextBuilder::new()
        .timeout(nats::DEADLINE)
        .ack_timeout(nats::DEADLINE)
        .build(client)
}
