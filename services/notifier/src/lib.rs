//! The notifier: each event that someone must hear of becomes an e-mail or a webhook for each of its channels.
//!
//! Four modules: [`mail`] is what an event becomes, [`transport`] how it leaves, [`storage`] what is remembered of it, and
//! [`reports`] what is reported. They meet in [`deliver`] for a mail, and in [`transport::webhooks`] for a webhook: each takes one event
//! from the broker to its receiver, top to bottom; [`sending`] does it with a mail of the newsletter.

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
use issues::Issues;
use resumes::ResumeStore;
use site_broker::{
    DELIVERIES_BUCKET, ENDPOINTS_BUCKET, Endpoint, Endpoints, ISSUES_BUCKET, Publisher, RetryPolicy,
    SUBSCRIBERS_BUCKET, VISITOR_MAILS_BUCKET,
    consume::{ConsumerOptions, consume, deliver_one, ensure_consumer_exists},
};
use site_events::{Channel, SENDINGS_CONSUMER, SENDINGS_STREAM, SITE_STREAM, channel};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::GrpcServer,
    health::Dependency,
    nats,
};
use subscribers::Subscribers;
use tokio::task::JoinSet;
use tonic::service::Routes;
use webhooks::WebhookSender;

pub use self::{
    mail::{Brand, Mail, MailContext, Rendered, samples},
    settings::Settings,
    transport::smtp::{SmtpSettings, TlsMode},
};

use self::{
    deliver::Notifier,
    mail::RecruiterExtrasLoader,
    reports::{Backlog, DeadLetterDigest, digest_consumer},
    sending::IssueSender,
    storage::{AttemptLog, Deliveries, EventStream, IssueEvents, PersonOrder, VisitorMails},
    transport::{
        smtp::{MAX_BULK_CONNECTIONS, MAX_CONNECTIONS, Smtp, SmtpChannel},
        webhooks::{HOLD, Webhook, WebhookStores},
    },
};

/// How many mails of one channel to visitors are under way at once: those on a connection, slow ones,
/// and enough besides that connections need not wait for the broker.
const MAILS_AT_ONCE: usize = 40;
/// How many mails of the newsletter are under way at once.
const SENDINGS_AT_ONCE: usize = 16;
/// How many webhooks to one endpoint are under way at once.
const WEBHOOKS_AT_ONCE: usize = 4;

/// The running service.
pub struct Service {
    server: GrpcServer,
    context: jetstream::Context,
    notifier: Arc<Notifier>,
    smtp_channels: HashMap<Channel, Arc<SmtpChannel>>,
    webhooks: Vec<(Arc<str>, Arc<Webhook>)>,
    attempts: Arc<AttemptLog>,
    issues: IssueSender,
    digest: DeadLetterDigest,
    backlog: Backlog,
    retries: RetryPolicy,
    grace: Duration,
}

impl Service {
    /// Reads the templates, connects to the broker and takes the port.
    ///
    /// # Errors
    ///
    /// If a setting cannot be used, or what it needs does not answer, with the sentence for the log.
    pub async fn build(settings: Settings) -> anyhow::Result<Self> {
        settings.check_grace()?;
        let mail_context = Arc::new(MailContext::new(&settings)?);
        let smtp = Arc::new(Smtp::new(&settings.smtp, mail_context.from.email.domain())?);
        let senders = senders(&settings)?;
        let client = nats::connect(&settings.nats, "notifier").await?;
        let context = nats::jetstream(client.clone());
        let deliveries = Deliveries::open(&context).await?;
        let events = EventStream::open(&context).await?;
        let stores =
            WebhookStores::open(&context, &deliveries, &events, &mail_context, settings.retries).await?;
        let webhooks = webhooks(senders, &context, &stores).await?;
        let backlog = Backlog::new(context.clone(), events.clone(), consumers(&webhooks));
        let endpoints = settings.webhooks.iter().flat_map(Endpoints::iter);
        let digest = DeadLetterDigest {
            mail_context: mail_context.clone(),
            smtp: smtp.clone(),
            consumer: digest_consumer(&context).await?,
            states: stores.states,
            endpoints: endpoints.map(|endpoint| endpoint.name.to_string()).collect(),
            every: settings.digest_every,
            smtp_channel: SmtpChannel::new(MAX_CONNECTIONS),
        };
        let publisher = Publisher::new(client.clone());
        let notifier = notifier(
            &settings,
            &context,
            deliveries,
            events,
            mail_context,
            smtp,
            publisher,
        )
        .await?;
        let issues = issue_sender(&context, &notifier).await?;
        Ok(Self {
            server: GrpcServer::bind(settings.listen, &[], Routes::default(), dependencies(&client)).await?,
            context,
            notifier: Arc::new(notifier),
            smtp_channels: smtp_channels(),
            webhooks,
            attempts: stores.attempts,
            issues,
            digest,
            backlog,
            retries: settings.retries,
            grace: settings.grace,
        })
    }

    /// The port on which it answers for its health.
    pub fn port(&self) -> u16 {
        self.server.port()
    }

    /// One attempt at one message of a mail channel's consumer.
    pub async fn deliver(&self, channel: Channel, message: &jetstream::Message) {
        let deliver = |delivery| {
            self.notifier
                .deliver(channel, &self.smtp_channels[&channel], delivery)
        };
        deliver_one(
            &self.context,
            channel.name().into(),
            self.retries,
            deliver,
            message,
        )
        .await;
    }

    /// Delivers until `stop`, then finishes what is in flight. Mails that still wait for a connection are given back.
    ///
    /// # Errors
    ///
    /// If the server or a consumer ends unasked.
    pub async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut workers = JoinSet::new();
        for channel in Channel::ALL {
            let (notifier, smtp_channel) = (self.notifier.clone(), self.smtp_channels[&channel].clone());
            let deliver = move |delivery| {
                let (notifier, smtp_channel) = (notifier.clone(), smtp_channel.clone());
                async move { notifier.deliver(channel, &smtp_channel, delivery).await }
            };
            let options = ConsumerOptions {
                max_in_flight: MAILS_AT_ONCE,
                retries: self.retries,
            };
            let (context, stop) = (self.context.clone(), stop.clone());
            workers.spawn(async move {
                consume(&context, channel.name().into(), options, deliver, stop).await;
            });
        }
        for (consumer, webhook) in self.webhooks {
            let (context, stop) = (self.context.clone(), stop.clone());
            workers.spawn(send_webhooks(consumer, webhook, context, self.retries, stop));
        }
        let (attempts, stopping) = (self.attempts, stop.clone());
        workers.spawn(async move { attempts.run(stopping).await });
        workers.spawn(send_issues(
            self.issues,
            self.context.clone(),
            self.retries,
            stop.clone(),
        ));
        workers.spawn(self.digest.run(stop.clone()));
        workers.spawn(self.backlog.run(stop.clone()));
        let smtp = self.notifier.smtp.clone();
        workers.spawn(async move { smtp.close_idle().await });
        let drain = Drain::new(stop.clone(), self.grace);
        let smtp = self.notifier.smtp.clone();
        workers.spawn(async move {
            stop.cancelled().await;
            smtp.begin_no_more();
        });
        let (served, worked) = tokio::join!(
            self.server.run(drain.clone()),
            drain.within_grace(watch(&mut workers, drain.stop())),
        );
        served.and(worked.unwrap_or(Ok(())))
    }
}

/// Sends an endpoint's webhooks until `stop`, then finishes what is in flight.
async fn send_webhooks(
    consumer: Arc<str>,
    webhook: Arc<Webhook>,
    context: jetstream::Context,
    retries: RetryPolicy,
    stop: CancellationToken,
) {
    let options = ConsumerOptions {
        max_in_flight: WEBHOOKS_AT_ONCE,
        retries,
    };
    let webhook = &webhook;
    let deliver = |delivery| async move { webhook.deliver(delivery).await };
    consume(&context, consumer, options, deliver, stop).await;
}

/// Sends the newsletter's mails until `stop`, then finishes what is in flight.
async fn send_issues(
    sender: IssueSender,
    context: jetstream::Context,
    retries: RetryPolicy,
    stop: CancellationToken,
) {
    let options = ConsumerOptions {
        max_in_flight: SENDINGS_AT_ONCE,
        retries,
    };
    let sender = &sender;
    let deliver = |delivery| async move { sender.deliver(delivery).await };
    consume(&context, SENDINGS_CONSUMER.into(), options, deliver, stop).await;
}

/// What sends the newsletter's mails: by the parts that other mails are sent with.
async fn issue_sender(context: &jetstream::Context, others: &Notifier) -> anyhow::Result<IssueSender> {
    ensure_consumer_exists(context, SENDINGS_CONSUMER).await?;
    Ok(IssueSender {
        deliveries: others.deliveries.clone(),
        subscribers: Subscribers::open(context.client()).await?,
        issues: Issues::open(context).await?,
        events: IssueEvents::new(others.events.clone()),
        mail_context: others.mail_context.clone(),
        smtp: others.smtp.clone(),
        publisher: others.publisher.clone(),
        smtp_channel: SmtpChannel::new(MAX_BULK_CONNECTIONS),
    })
}

/// What delivers mails, by parts that others work with, too.
async fn notifier(
    settings: &Settings,
    context: &jetstream::Context,
    deliveries: Deliveries,
    events: EventStream,
    mail_context: Arc<MailContext>,
    smtp: Arc<Smtp>,
    publisher: Publisher,
) -> anyhow::Result<Notifier> {
    let recruiter_extras = Arc::new(RecruiterExtrasLoader::new(
        events.clone(),
        ResumeStore::new(&settings.store),
        settings.max_attachment_bytes,
    ));
    Ok(Notifier {
        deliveries,
        visitor_mails: VisitorMails::open(
            context,
            settings.token_key.clone(),
            settings.max_visitor_mails_per_day,
        )
        .await?,
        recruiter_extras,
        events,
        mail_context,
        smtp,
        publisher,
    })
}

/// What it cannot work without.
fn dependencies(client: &async_nats::Client) -> Vec<Dependency> {
    vec![
        Dependency::stream(client.clone(), SITE_STREAM),
        Dependency::stream(client.clone(), SENDINGS_STREAM),
        Dependency::bucket(client.clone(), ISSUES_BUCKET),
        Dependency::bucket(client.clone(), SUBSCRIBERS_BUCKET),
        Dependency::bucket(client.clone(), DELIVERIES_BUCKET),
        Dependency::bucket(client.clone(), ENDPOINTS_BUCKET),
        Dependency::bucket(client.clone(), VISITOR_MAILS_BUCKET),
    ]
}

fn smtp_channels() -> HashMap<Channel, Arc<SmtpChannel>> {
    Channel::ALL
        .map(|channel| (channel, Arc::new(SmtpChannel::new(MAX_CONNECTIONS))))
        .into()
}

/// The way to each endpoint, or what is wrong with one in the settings.
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

/// The endpoints' webhooks, each with its consumer.
async fn webhooks(
    senders: Vec<(Arc<Endpoint>, WebhookSender)>,
    context: &jetstream::Context,
    stores: &WebhookStores,
) -> anyhow::Result<Vec<(Arc<str>, Arc<Webhook>)>> {
    let mut ways = Vec::new();
    for (endpoint, sender) in senders {
        let consumer = endpoint.consumer();
        ensure_consumer_exists(context, &consumer).await?;
        stores.events.release(&consumer, HOLD).await?;
        let order = || {
            let (events, deliveries) = (stores.events.clone(), stores.deliveries.clone());
            PersonOrder::new(context.clone(), &endpoint, events, deliveries)
        };
        let webhook = Webhook::new(&endpoint, sender, order, stores.clone());
        ways.push((consumer.into(), Arc::new(webhook)));
    }
    Ok(ways)
}

/// All consumers of the stream `SITE`, the newsletter service's own included: it may not read the stream.
fn consumers(webhooks: &[(Arc<str>, Arc<Webhook>)]) -> Vec<String> {
    let webhooks = webhooks.iter().map(|(consumer, _)| consumer.to_string());
    channel::consumers().map(str::to_owned).chain(webhooks).collect()
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
