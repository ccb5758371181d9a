//! Broker, store, mail server and services of one thread.

use std::{
    collections::HashMap,
    net::TcpListener,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, ensure};
use async_nats::{
    Client,
    jetstream::{self, Message, consumer::PullConsumer},
};
use clap::Parser;
use futures_util::{FutureExt, StreamExt};
use resumes::ResumeStore;
use site_events::{Channel, SITE_STREAM, SUPPRESSION_CONSUMER};
use sitectl::person_stores::PersonalDataStores;
use tempfile::TempDir;
pub use testkit::PERSON_KEY;
use testkit::{Broker, MailServer, Nats, S3, ScriptedReply, User};
use tokio::{
    runtime::{Builder, Runtime},
    time::{Instant, sleep},
};
use visitor::PersonKey;

use crate::{process::Process, steps::Reply};

pub const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";
const SETTLED_WITHIN: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Reply to the next mail, by address.
type Replies = Arc<Mutex<HashMap<String, Reply>>>;

pub struct Parts {
    pub contact: Process<contact::Service>,
    pub newsletter: Process<newsletter::Service>,
    pub careers: Process<careers::Service>,
    pub notifier: Process<notifier::Service>,
    pub client: Client,
    pub context: jetstream::Context,
    pub consumers: HashMap<&'static str, PullConsumer>,
    pub stores: PersonalDataStores,
    pub resumes: ResumeStore,
    pub mail: MailServer,
    replies: Replies,
    pub s3: S3,
    /// A second server over the same objects, to count the careers service's connections.
    careers_s3: S3,
    nats: Nats,
    _folder: TempDir,
    /// Runtime of everything but the services.
    pub runtime: Arc<Runtime>,
}

impl Parts {
    pub fn start() -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let runtime = Arc::new(runtime);
        let parts = Self::start_in(runtime.clone());
        runtime.block_on(parts)
    }

    async fn start_in(runtime: Arc<Runtime>) -> anyhow::Result<Self> {
        let folder = folder()?;
        let objects = folder.path().join("s3");
        let disk = folder.path().join("nats");
        std::fs::create_dir(&disk)?;
        let nats = Nats::start_as(Broker::One, None, free_port()?, &disk).await?;
        nats.provision(&[]).await?;
        let s3 = S3::start_at(free_port()?, &objects).await?;
        let careers_s3 = S3::start_at(free_port()?, &objects).await?;
        let replies = Replies::default();
        let asked = replies.clone();
        let mail = MailServer::start(move |recipient, _| reply(&asked, recipient)).await?;
        let client = nats.client(User::Operator).await?;
        let context = jetstream::new(client.clone());
        let nats_settings = settings::<NatsFlags>(nats.flags(User::Operator))?.nats;
        Ok(Self {
            contact: contact(&nats),
            newsletter: newsletter(&nats),
            careers: careers(&nats, &careers_s3, folder.path()),
            notifier: notifier(&nats, &s3, mail.port),
            consumers: consumers(&context).await?,
            stores: PersonalDataStores::open(&nats_settings, &s3.settings()?, &PersonKey::new(PERSON_KEY)?)
                .await?,
            resumes: ResumeStore::new(&s3.settings()?),
            client,
            context,
            mail,
            replies,
            s3,
            careers_s3,
            nats,
            _folder: folder,
            runtime,
        })
    }

    pub fn reply_next(&self, recipient: &str, reply: Reply) {
        lock(&self.replies).insert(recipient.to_owned(), reply);
    }

    pub fn take_all_mails(&self) {
        lock(&self.replies).clear();
    }

    pub async fn next_message(&self, consumer: &str) -> anyhow::Result<Option<Message>> {
        let consumer = self.consumers.get(consumer).context("a consumer of ours")?;
        let mut messages = consumer.fetch().max_messages(1).messages().await?;
        let next = messages.next().await.transpose();
        next.map_err(anyhow::Error::from_boxed)
    }

    pub async fn is_pending(&self, consumer: &str) -> anyhow::Result<bool> {
        let consumer = self.consumers.get(consumer).context("a consumer of ours")?;
        let info = consumer.get_info().await?;
        Ok(info.num_pending > 0 || info.num_ack_pending > 0)
    }

    /// Waits until killed services have no open connection.
    pub async fn settle(&self) -> anyhow::Result<()> {
        let started = Instant::now();
        let running = [
            (User::Contact, self.contact.is_running()),
            (User::Newsletter, self.newsletter.is_running()),
            (User::Careers, self.careers.is_running()),
            (User::Notifier, self.notifier.is_running()),
        ];
        loop {
            let connected = self.nats.connected().await?;
            let is_gone = |user: User| !connected.iter().any(|name| *name == user.name());
            let is_settled = running
                .iter()
                .all(|(user, is_running)| *is_running || is_gone(*user))
                && (self.careers.is_running() || self.careers_s3.open_connections() == 0)
                && (self.notifier.is_running() || self.mail.counts().open_connections == 0);
            if is_settled {
                return Ok(());
            }
            ensure!(
                started.elapsed() < SETTLED_WITHIN,
                "a dead process is still connected"
            );
            sleep(POLL_INTERVAL).await;
        }
    }

    pub fn kill_all(&mut self) {
        self.contact.kill();
        self.newsletter.kill();
        self.careers.kill();
        self.notifier.kill();
    }

    /// Removes everything that a failed sequence left.
    pub async fn clear(&mut self) -> anyhow::Result<()> {
        self.settle().await?;
        for stream in site_broker::provision::stream_names() {
            self.context.get_stream(stream).await?.purge().await?;
        }
        for key in self.s3.objects()?.into_iter().map(|(key, _)| key) {
            self.resumes.delete(&resumes::ResumeKey::known(key)).await?;
        }
        self.mail.take_accepted();
        self.take_all_mails();
        Ok(())
    }
}

fn contact(nats: &Nats) -> Process<contact::Service> {
    let flags = [nats.flags(User::Contact), vec![person_key()]].concat();
    process(flags, contact::Service::build)
}

fn newsletter(nats: &Nats) -> Process<newsletter::Service> {
    let keys = vec![person_key(), token_key()];
    let flags = [nats.flags(User::Newsletter), keys].concat();
    process(flags, newsletter::Service::build)
}

fn careers(nats: &Nats, s3: &S3, spool: &Path) -> Process<careers::Service> {
    let own = vec![person_key(), format!("--spool-dir={}", spool.display())];
    let flags = [nats.flags(User::Careers), s3.flags(), own].concat();
    process(flags, careers::Service::build)
}

fn notifier(nats: &Nats, s3: &S3, smtp_port: u16) -> Process<notifier::Service> {
    let own = [vec![token_key()], testkit::notifier_flags(smtp_port)].concat();
    let flags = [nats.flags(User::Notifier), s3.flags(), own].concat();
    process(flags, |mut settings: notifier::Settings| {
        settings.retries.initial_backoff = POLL_INTERVAL;
        // Both people get all mails of a sequence.
        settings.max_visitor_mails_per_day = 1000;
        notifier::Service::build(settings)
    })
}

fn person_key() -> String {
    format!("--person-key={PERSON_KEY}")
}

fn token_key() -> String {
    format!("--token-key={TOKEN_KEY}")
}

#[derive(Parser)]
struct NatsFlags {
    #[command(flatten)]
    nats: site_service::nats::NatsSettings,
}

fn settings<S: Parser>(flags: Vec<String>) -> anyhow::Result<S> {
    let program = std::iter::once("model".to_owned());
    Ok(S::try_parse_from(program.chain(flags))?)
}

fn process<C, S, F>(flags: Vec<String>, build: fn(C) -> F) -> Process<S>
where
    C: Parser + Send + 'static,
    S: 'static,
    F: Future<Output = anyhow::Result<S>> + Send + 'static,
{
    let flags = [flags, vec!["--listen=127.0.0.1:0".to_owned()]].concat();
    Process::new(Box::new(move || {
        let settings = settings(flags.clone());
        async move { build(settings?).await }.boxed()
    }))
}

async fn consumers(context: &jetstream::Context) -> anyhow::Result<HashMap<&'static str, PullConsumer>> {
    let channels = Channel::ALL.map(Channel::name).into_iter();
    let mut consumers = HashMap::new();
    for name in channels.chain([SUPPRESSION_CONSUMER]) {
        let consumer = context.get_consumer_from_stream(name, SITE_STREAM).await?;
        consumers.insert(name, consumer);
    }
    Ok(consumers)
}

fn lock(replies: &Replies) -> MutexGuard<'_, HashMap<String, Reply>> {
    replies.lock().unwrap_or_else(PoisonError::into_inner)
}

fn reply(replies: &Replies, recipient: &str) -> ScriptedReply {
    let reply = lock(replies).remove(recipient);
    match reply {
        None => ScriptedReply::Take,
        Some(Reply::NoSuchAddress) => ScriptedReply::ToRecipient("550 5.1.1 No such user"),
        Some(Reply::Later) => ScriptedReply::ToContent("451 4.3.0 Try again later"),
        Some(Reply::HangsUp) => ScriptedReply::HangUp,
    }
}

/// In memory if possible: disks are not under test.
fn folder() -> anyhow::Result<TempDir> {
    Ok(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new())?)
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
