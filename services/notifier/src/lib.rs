//! The notifier: sends each event as an e-mail or a webhook on each of its channels.
//!
//! [`mail`] renders mails, [`transport`] sends mails and webhooks, and [`storage`] keeps delivery records.
//! Start reading at [`deliver`] (mails of events), [`sending`] (newsletter issues) or
//! [`transport::webhooks`].

mod deliver;
mod mail;
mod reports;
mod sending;
mod settings;
mod storage;
mod transport;

use std::{collections::HashMap, sync::Arc, time::Duration};

use anyhow::Context as _;
use async_nats::jetstream;
use resumes::ResumeStore;
use site_broker::{
    DELIVERIES_BUCKET, Delivery, ENDPOINTS_BUCKET, Endpoint, Endpoints, ISSUES_BUCKET, Outcome, Publisher,
    RetryPolicy, SUBSCRIBERS_BUCKET, VISITOR_MAILS_BUCKET,
    consume::{consume, deliver_one, ensure_consumer_exists},
};
use site_events::{Channel, SENDINGS_CONSUMER, SENDINGS_STREAM, SITE_STREAM, channel};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::GrpcServer,
    health::Dependency,
    nats,
};
use subscribers::Subscribers;
use subscribers::issues::Issues;
use tokio::task::JoinSet;
use tonic::service::Routes;
use webhooks::WebhookSender;

pub use self::{
    mail::{
        Brand, DigestContent, EarlierApplication, Mail, MailContext, MailError, MailEvent, RecruiterExtras,
        Rendered, dead_letters, issue, mail_of,
    },
    settings::Settings,
};

use self::{
    deliver::Notifier,
    mail::RecruiterExtrasLoader,
    reports::{Backlog, DeadLetterDigest, digest_consumer},
    sending::IssueSender,
    storage::{Deliveries, EndpointRecords, EventStream, IssueEvents, VisitorMails},
    transport::{
        smtp::{MAX_BULK_CONNECTIONS, MAX_CONNECTIONS, Smtp, SmtpChannel},
        webhooks::{PAUSE, Webhook},
    },
};

/// Mails in flight per channel: enough to keep its connections busy while the broker answers.
const MAILS_AT_ONCE: usize = 40;
const SENDINGS_AT_ONCE: usize = 16;
/// Webhooks in flight per endpoint.
const WEBHOOKS_AT_ONCE: usize = 4;

/// The running service.
pub struct Service {
    server: GrpcServer,
    context: jetstream::Context,
    notifier: Arc<Notifier>,
    smtp_channels: HashMap<Channel, Arc<SmtpChannel>>,
    webhooks: Vec<Arc<Webhook>>,
    endpoints: Arc<EndpointRecords>,
    issues: Arc<IssueSender>,
    digest: DeadLetterDigest,
    backlog: Backlog,
    retries: RetryPolicy,
    grace: Duration,
}

impl Service {
    /// Reads the templates, connects to the broker and binds the port.
    ///
    /// # Errors
    ///
    /// If a setting is invalid or a dependency is unavailable.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        let mail_context = MailContext::new(&settings)?;
        if !settings.allow_example_addresses {
            mail_context.ensure_real_addresses()?;
        }
        let smtp = Smtp::new(&settings.smtp, mail_context.from.email.domain())?;
        let senders = senders(&settings)?;
        let client = nats::connect(&settings.nats, "notifier").await?;
        let context = nats::jetstream(client.clone());
        let notifier = Arc::new(notifier(&settings, &context, mail_context, smtp).await?);
        let endpoints = Arc::new(EndpointRecords::open(&context).await?);
        let mut webhooks = Vec::new();
        for (endpoint, sender) in senders {
            let consumer = endpoint.consumer();
            ensure_consumer_exists(&context, &consumer).await?;
            notifier.events.resume(&consumer, PAUSE).await?;
            let (notifier, endpoints) = (notifier.clone(), endpoints.clone());
            let webhook = Webhook::new(&endpoint, sender, &context, notifier, endpoints, settings.retries);
            webhooks.push(Arc::new(webhook));
        }
        ensure_consumer_exists(&context, SENDINGS_CONSUMER).await?;
        Ok(Self {
            server: GrpcServer::bind(settings.listen, &[], Routes::default(), dependencies(&client)).await?,
            smtp_channels: Channel::ALL
                .map(|channel| (channel, Arc::new(SmtpChannel::new(MAX_CONNECTIONS))))
                .into(),
            issues: Arc::new(IssueSender {
                subscribers: Subscribers::open(client.clone()).await?,
                issues: Issues::open(&context).await?,
                events: IssueEvents::new(notifier.events.clone()),
                smtp_channel: SmtpChannel::new(MAX_BULK_CONNECTIONS),
                notifier: notifier.clone(),
            }),
            digest: DeadLetterDigest {
                consumer: digest_consumer(&context).await?,
                every: settings.digest_every,
                smtp_channel: SmtpChannel::new(MAX_CONNECTIONS),
                webhooks: webhooks.iter().map(|webhook| webhook.name.clone()).collect(),
                endpoints: endpoints.clone(),
                notifier: notifier.clone(),
            },
            backlog: Backlog::new(context.clone(), notifier.events.clone(), consumers(&webhooks)),
            context,
            notifier,
            webhooks,
            endpoints,
            retries: settings.retries,
            grace: settings.grace,
        })
    }

    /// Port of the health service.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// Makes one attempt at one message of a mail channel.
    pub async fn deliver(&self, channel: Channel, message: &jetstream::Message) {
        let smtp_channel = &self.smtp_channels[&channel];
        let deliver = |delivery| self.notifier.deliver(channel, smtp_channel, delivery);
        let (context, consumer) = (&self.context, channel.name().into());
        deliver_one(context, consumer, self.retries, deliver, message).await;
    }

    /// Delivers until `stop`, then drains.
    ///
    /// # Errors
    ///
    /// If the server or a consumer ends unexpectedly.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut workers = Workers {
            tasks: JoinSet::new(),
            context: self.context,
            retries: self.retries,
            stop: stop.clone(),
        };
        for (channel, smtp_channel) in self.smtp_channels {
            let notifier = self.notifier.clone();
            let deliver = move |delivery| {
                let (notifier, smtp_channel) = (notifier.clone(), smtp_channel.clone());
                async move { notifier.deliver(channel, &smtp_channel, delivery).await }
            };
            workers.consume(channel.name().into(), MAILS_AT_ONCE, deliver);
        }
        for webhook in self.webhooks {
            let consumer = webhook.consumer.as_str().into();
            let deliver = move |delivery| {
                let webhook = webhook.clone();
                async move { webhook.deliver(delivery).await }
            };
            workers.consume(consumer, WEBHOOKS_AT_ONCE, deliver);
        }
        let issues = self.issues;
        let deliver = move |delivery| {
            let issues = issues.clone();
            async move { issues.deliver(delivery).await }
        };
        workers.consume(SENDINGS_CONSUMER.into(), SENDINGS_AT_ONCE, deliver);
        let Workers { mut tasks, .. } = workers;
        let (endpoints, stopping) = (self.endpoints, stop.clone());
        tasks.spawn(async move { endpoints.write_attempts(stopping).await });
        tasks.spawn(self.digest.run(stop.clone()));
        tasks.spawn(self.backlog.run(stop.clone()));
        let drain = Drain::new(stop, self.grace);
        let (served, worked) = tokio::join!(
            self.server.run(drain.clone()),
            drain.within_grace(watch(&mut tasks, drain.stop())),
        );
        served.and(worked.unwrap_or(Ok(())))
    }
}

struct Workers {
    tasks: JoinSet<()>,
    context: jetstream::Context,
    retries: RetryPolicy,
    stop: CancellationToken,
}

impl Workers {
    fn consume<F, Delivering>(&mut self, consumer: Arc<str>, max_in_flight: usize, deliver: F)
    where
        F: Fn(Delivery) -> Delivering + Send + Sync + 'static,
        Delivering: Future<Output = Outcome> + Send + 'static,
    {
        let (context, retries, stop) = (self.context.clone(), self.retries, self.stop.clone());
        let consuming =
            async move { consume(&context, consumer, max_in_flight, retries, deliver, stop).await };
        self.tasks.spawn(consuming);
    }
}

async fn notifier(
    settings: &Settings,
    context: &jetstream::Context,
    mail_context: MailContext,
    smtp: Smtp,
) -> anyhow::Result<Notifier> {
    let (token_key, max_mails) = (&settings.token_key, settings.max_visitor_mails_per_day);
    let events = EventStream::open(context).await?;
    Ok(Notifier {
        deliveries: Deliveries::open(context).await?,
        visitor_mails: VisitorMails::open(context, token_key.clone(), max_mails).await?,
        recruiter_extras: RecruiterExtrasLoader::new(events.clone(), ResumeStore::new(&settings.store)),
        events,
        mail_context,
        smtp,
        publisher: Publisher::new(context.client()),
    })
}

fn dependencies(client: &async_nats::Client) -> Vec<Dependency> {
    let streams = [SITE_STREAM, SENDINGS_STREAM].map(|name| Dependency::stream(client.clone(), name));
    let buckets = [
        ISSUES_BUCKET,
        SUBSCRIBERS_BUCKET,
        DELIVERIES_BUCKET,
        ENDPOINTS_BUCKET,
        VISITOR_MAILS_BUCKET,
    ];
    let buckets = buckets.map(|name| Dependency::bucket(client.clone(), name));
    streams.into_iter().chain(buckets).collect()
}

fn senders(settings: &Settings) -> anyhow::Result<Vec<(Arc<Endpoint>, WebhookSender)>> {
    let reached = &settings.webhooks_reached;
    let client = reached.client().context("webhooks cannot be sent")?;
    let secrets = reached.secrets();
    let endpoints = settings.webhooks.iter().flat_map(Endpoints::iter);
    let senders = endpoints.map(|endpoint| {
        let sender = WebhookSender::new(endpoint, &client, &secrets)
            .map_err(|error| anyhow::anyhow!("The setting WEBHOOKS is wrong: {error}."))?;
        Ok((endpoint.clone(), sender))
    });
    senders.collect()
}

/// All consumers of `SITE`, also those of the newsletter service, which has no permission to read the stream.
fn consumers(webhooks: &[Arc<Webhook>]) -> Vec<String> {
    let webhooks = webhooks.iter().map(|webhook| webhook.consumer.clone());
    channel::consumers().map(str::to_owned).chain(webhooks).collect()
}

/// Waits for the workers. A worker's panic stops the whole service, because otherwise it would look healthy but
/// send nothing.
async fn watch(workers: &mut JoinSet<()>, stop: &CancellationToken) -> anyhow::Result<()> {
    let mut result = Ok(());
    while let Some(ended) = workers.join_next().await {
        if let Err(error) = ended {
            result = Err(error).context("a channel's worker stopped unexpectedly");
            stop.cancel();
        }
    }
    result
}
