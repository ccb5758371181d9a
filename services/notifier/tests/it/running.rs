//! A notifier on a real broker, and events as other services publish them.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use async_nats::jetstream::{self, consumer::PullConsumer, kv, message::StreamMessage};
use clap::Parser;
use notifier::{Service, Settings};
use resumes::{ResumeKey, ResumeStore};
use serde_json::Value;
use site_broker::{DELIVERIES_BUCKET, Publisher};
use site_events::{
    Channel, EventData, EventType, SITE_STREAM,
    event::{CareersApplied, ContactReceived, NewsletterRequested, Scan, StoredResume},
};
use site_service::{RequestId, drain::CancellationToken};
use testkit::{
    ChildProcess, MailServer, Nats, S3, ScriptedReply, User, eventually, mail_server::Behaviour,
    notifier_flags, pass_flags,
};
use time::{OffsetDateTime, macros::datetime};
use tokio::{process::Command, task::JoinHandle};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

pub const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";
pub const SALES: &str = "sales@oculant.example";
pub const RECRUITERS: &str = "recruiters@oculant.example";
pub const REQUEST: &str = "01a20025-9c5f-742b-90b1-ce5b530933f2";
/// Longer than an event's first retry, which takes 5 to 6 s by default.
pub const SOON: Duration = Duration::from_secs(45);
pub const NEVER: Duration = Duration::from_secs(60 * 60);
pub const HURRY: Duration = Duration::from_secs(1);

pub fn flags(nats: &Nats, smtp_port: u16, more: &[String]) -> Vec<String> {
    let mut flags = settings_flags(smtp_port, more);
    flags.extend(nats.flags(User::Notifier));
    flags
}

pub fn settings_flags(smtp_port: u16, more: &[String]) -> Vec<String> {
    let own = [
        "--listen=127.0.0.1:0".to_owned(),
        "--site-url=https://oculant.example".to_owned(),
        format!("--token-key={TOKEN_KEY}"),
        format!("--sales-to={SALES}"),
        format!("--recruiters-to={RECRUITERS}"),
        "--mail-from=Oculant <hello@oculant.example>".to_owned(),
        // Tests that follow a résumé's link override these two flags.
        "--s3-access-key-id=nobody".to_owned(),
        "--s3-secret-access-key=nothing".to_owned(),
    ];
    let mut flags = [&notifier_flags(smtp_port)[..], &own].concat();
    for flag in more {
        let name = flag.split('=').next().unwrap_or_default();
        flags.retain(|flag| flag.split('=').next() != Some(name));
        flags.push(flag.clone());
    }
    flags
}

pub fn settings(nats: &Nats, smtp_port: u16, more: &[String]) -> anyhow::Result<Settings> {
    let program = std::iter::once("notifier".to_owned());
    let mut settings = Settings::try_parse_from(program.chain(flags(nats, smtp_port, more)))?;
    // One test sends many mails to few visitors.
    settings.max_visitor_mails_per_day = 1000;
    Ok(settings)
}

/// Starts a notifier process, for tests that kill it or read its log.
pub fn process(nats: &Nats, smtp_port: u16, more: &[String], logs: &Path) -> anyhow::Result<ChildProcess> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_notifier"));
    pass_flags(command.as_std_mut(), &flags(nats, smtp_port, more));
    ChildProcess::start("notifier", logs, command)
}

pub struct Running {
    pub port: u16,
    stop: CancellationToken,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Running {
    pub async fn start(nats: &Nats, smtp_port: u16, more: &[String]) -> anyhow::Result<Self> {
        Self::start_retrying_after(HURRY, nats, smtp_port, more).await
    }

    pub async fn start_retrying_after(
        pause: Duration,
        nats: &Nats,
        smtp_port: u16,
        more: &[String],
    ) -> anyhow::Result<Self> {
        let mut settings = settings(nats, smtp_port, more)?;
        settings.retries.initial_backoff = pause;
        Self::start_with(settings).await
    }

    /// Starts a notifier with settings that have no flag.
    pub async fn start_with(settings: Settings) -> anyhow::Result<Self> {
        let service = Service::build(settings).await?;
        let stop = CancellationToken::new();
        Ok(Self {
            port: service.port(),
            task: tokio::spawn(service.run(stop.clone())),
            stop,
        })
    }

    /// Does not wait until the notifier has stopped.
    pub fn tell_to_stop(&self) {
        self.stop.cancel();
    }

    pub async fn stopped(&mut self) -> anyhow::Result<()> {
        (&mut self.task).await?
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.task.abort();
    }
}

/// A plan that accepts every mail.
pub fn take(_to: &str, _attempt: usize) -> ScriptedReply {
    ScriptedReply::Take
}

/// A plan that holds the first mail to this address and accepts all others.
pub fn holding(held: &'static str) -> impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static {
    move |to, attempt| match (to == held, attempt) {
        (true, 1) => ScriptedReply::Hold,
        _ => ScriptedReply::Take,
    }
}

/// A broker, a mail server with this plan, and a site.
pub async fn parts(
    plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
) -> anyhow::Result<(Nats, MailServer, Site)> {
    let (nats, server) = tokio::try_join!(Nats::start(), MailServer::start(plan))?;
    let site = Site::on(&nats).await?;
    Ok((nats, server, site))
}

/// Same as [`parts`], and a notifier with these flags.
pub async fn scene(
    more: &[String],
    plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
) -> anyhow::Result<(Nats, MailServer, Site, Running)> {
    let (nats, server, site) = parts(plan).await?;
    let notifier = Running::start(&nats, server.port, more).await?;
    Ok((nats, server, site, notifier))
}

pub async fn until(what: &str, is_so: impl Fn() -> bool) -> anyhow::Result<()> {
    eventually(what, SOON, async || is_so().then_some(())).await
}

pub struct Site {
    client: async_nats::Client,
    context: jetstream::Context,
}

impl Site {
    pub async fn on(nats: &Nats) -> anyhow::Result<Self> {
        let client = nats.client(User::Operator).await?;
        let context = jetstream::new(client.clone());
        Ok(Self { client, context })
    }

    pub async fn publish<D: EventData + Clone>(&self, email: &str, data: D) -> anyhow::Result<Uuid> {
        let id = D::TYPE.id_for(Uuid::new_v4());
        let publisher = Publisher::new(self.client.clone());
        let request = RequestId::accept(Some(REQUEST));
        let person = person(email)?;
        // A busy broker may ack too late, so the test retries as a visitor would.
        eventually("the event is stored", SOON, async || {
            let stored = publisher.publish(&request, id, &person, data.clone()).await;
            stored.ok()
        })
        .await?;
        Ok(id)
    }

    /// Publishes a stored event again without its message id, so that it is new to the broker, as in a replay.
    pub async fn publish_again(&self, nats: &Nats, id: Uuid) -> anyhow::Result<()> {
        for event in nats.events().await? {
            if event["id"] != id.to_string() {
                continue;
            }
            let event_type = event["type"].as_str().unwrap_or_default();
            let prefix = event_type.trim_end_matches(".v1");
            let subject = format!("{prefix}.{}", event["subject"].as_str().unwrap_or_default());
            let payload = serde_json::to_vec(&event)?;
            self.context.publish(subject, payload.into()).await?.await?;
            return Ok(());
        }
        anyhow::bail!("there is no event {id}")
    }

    pub async fn publish_raw(&self, subject: &str, payload: String) -> anyhow::Result<()> {
        let subject = subject.to_owned();
        self.context.publish(subject, payload.into()).await?.await?;
        Ok(())
    }

    pub async fn bucket(&self, name: &str) -> anyhow::Result<kv::Store> {
        Ok(self.context.get_key_value(name).await?)
    }

    pub async fn note(&self, bucket: &str, key: &str, value: &str) -> anyhow::Result<()> {
        let bucket = self.bucket(bucket).await?;
        bucket.put(key, value.to_owned().into()).await?;
        Ok(())
    }

    /// Counts delivery records that start with `what`. Fails if an event has no record.
    pub async fn recorded_as(&self, what: &str, channel: Channel, events: &[Uuid]) -> anyhow::Result<usize> {
        let deliveries = self.bucket(DELIVERIES_BUCKET).await?;
        let mut recorded = 0;
        for event in events {
            let record = deliveries.get(format!("{event}.{}", channel.name())).await?;
            let record = String::from_utf8(record.unwrap_or_default().to_vec())?;
            assert!(!record.is_empty(), "{channel:?} of {event} has no record");
            recorded += usize::from(record.starts_with(what));
        }
        Ok(recorded)
    }

    pub async fn erase(&self, number: u64) -> anyhow::Result<()> {
        self.context
            .get_stream(SITE_STREAM)
            .await?
            .delete_message(number)
            .await?;
        Ok(())
    }

    /// Forbids direct reads: all reads go to the stream's leader, because replicas may lag.
    pub async fn forbid_reading_of_copies(&self) -> anyhow::Result<()> {
        let stream = self.context.get_stream(SITE_STREAM).await?;
        let config = jetstream::stream::Config {
            allow_direct: false,
            ..stream.cached_info().config.clone()
        };
        self.context.update_stream(config).await?;
        Ok(())
    }

    pub async fn open(&self, channel: Channel) -> anyhow::Result<u64> {
        let mut consumer = self.consumer(channel).await?;
        let info = consumer.info().await?;
        Ok(info.num_pending + u64::try_from(info.num_ack_pending)?)
    }

    pub async fn until_acked(&self, channel: Channel, within: Duration) -> anyhow::Result<()> {
        let what = format!("{} has acked its events", channel.name());
        eventually(&what, within, async || {
            (self.open(channel).await.ok()? == 0).then_some(())
        })
        .await
    }

    pub async fn delivered_at(&self, id: Uuid, channel: Channel) -> anyhow::Result<Option<OffsetDateTime>> {
        let deliveries = self.bucket(DELIVERIES_BUCKET).await?;
        let record = deliveries.get(format!("{id}.{}", channel.name())).await?;
        let time = record.map(|time| String::from_utf8(time.to_vec())).transpose()?;
        let format = &time::format_description::well_known::Rfc3339;
        Ok(time
            .map(|time| OffsetDateTime::parse(&time, format))
            .transpose()?)
    }

    pub async fn note_delivered(&self, id: Uuid, channel: Channel) -> anyhow::Result<()> {
        let key = format!("{id}.{}", channel.name());
        self.note(DELIVERIES_BUCKET, &key, "2026-11-20T12:00:00Z").await
    }

    /// Makes writes of delivery records fail. Existing records can still be read.
    pub async fn refuse_delivery_records(&self) -> anyhow::Result<()> {
        self.limit_delivery_records(1).await
    }

    pub async fn take_delivery_records(&self) -> anyhow::Result<()> {
        self.limit_delivery_records(-1).await
    }

    async fn limit_delivery_records(&self, max_message_size: i32) -> anyhow::Result<()> {
        let stream = self.context.get_stream(format!("KV_{DELIVERIES_BUCKET}")).await?;
        let config = jetstream::stream::Config {
            max_message_size,
            ..stream.cached_info().config.clone()
        };
        self.context.update_stream(config).await?;
        Ok(())
    }

    /// Whether an open event of the channel was redelivered.
    pub async fn came_again(&self, channel: Channel) -> anyhow::Result<bool> {
        let mut consumer = self.consumer(channel).await?;
        Ok(consumer.info().await?.num_redelivered > 0)
    }

    pub async fn is_paused(&self, consumer: &str) -> anyhow::Result<bool> {
        let stream = self.context.get_stream(SITE_STREAM).await?;
        Ok(stream.consumer_info(consumer).await?.paused)
    }

    /// Resumes a consumer, as `sitectl webhooks resume` does.
    pub async fn resume(&self, consumer: &str) -> anyhow::Result<()> {
        let stream = self.context.get_stream(SITE_STREAM).await?;
        stream.resume_consumer(consumer).await?;
        Ok(())
    }

    async fn consumer(&self, channel: Channel) -> anyhow::Result<PullConsumer> {
        let consumer = self
            .context
            .get_consumer_from_stream(channel.name(), SITE_STREAM)
            .await;
        consumer.map_err(|error| anyhow::anyhow!("{}: {error}", channel.name()))
    }

    /// Publishes an event of every type with a mail, without a résumé, and returns the ids.
    pub async fn publish_every_type(&self, email: &str) -> anyhow::Result<HashMap<EventType, Uuid>> {
        let (person, mut ids) = (person(email)?, HashMap::new());
        for event_type in HashSet::from(Channel::ALL.map(Channel::event_type)) {
            let sample = webhooks::sample(event_type, OffsetDateTime::now_utc());
            let mut event: Value = serde_json::from_slice(&sample.payload)?;
            event["subject"] = person.as_str().into();
            event["requestid"] = REQUEST.into();
            if let Some(data) = event["data"].as_object_mut() {
                data.remove("resume");
                for (field, value) in [("name", "Zoë Müller"), ("email", email)] {
                    data.entry(field).and_modify(|known| *known = value.into());
                }
            }
            self.publish_raw(&event_type.subject(&person), event.to_string())
                .await?;
            ids.insert(event_type, sample.id);
        }
        Ok(ids)
    }

    pub async fn contact(&self, email: &str) -> anyhow::Result<Uuid> {
        self.publish(email, message(email)?).await
    }

    pub async fn request_newsletter(&self, email: &str) -> anyhow::Result<Uuid> {
        self.publish(email, request(email)?).await
    }
}

pub async fn held(server: &MailServer) -> anyhow::Result<()> {
    until("the mail is under way", || server.counts().held == 1).await
}

pub async fn accepted(server: &MailServer, to: &str, count: usize) -> anyhow::Result<()> {
    let what = format!("{count} mails to {to}");
    until(&what, || server.accepted(to).len() >= count).await
}

/// Accepts all mails on the port of a former server.
pub async fn taking_at(port: u16) -> anyhow::Result<MailServer> {
    eventually("the port is free again", SOON, async || {
        MailServer::start_with(Behaviour::default(), port, take)
            .await
            .ok()
    })
    .await
}

pub async fn until_all_is_done(nats: &Nats) -> anyhow::Result<()> {
    eventually("every event has its outcome", SOON, async || {
        (nats.backlog().await.ok()? == 0).then_some(())
    })
    .await
}

pub fn message_id(mail: &str) -> anyhow::Result<&str> {
    let line = mail.lines().find_map(|line| line.strip_prefix("Message-ID: "));
    line.context("a mail without an id")
}

pub fn header<'a>(letter: &'a StreamMessage, name: &str) -> &'a str {
    let header = letter.headers.get(name);
    header.map(|value| value.as_str()).unwrap_or_default()
}

pub fn person(email: &str) -> anyhow::Result<PersonId> {
    let key = PersonKey::new("a person key of thirty-two bytes or more")?;
    Ok(key.person(&EmailAddress::parse(email)?))
}

pub fn message(email: &str) -> anyhow::Result<ContactReceived> {
    Ok(ContactReceived {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse(email)?,
        message: "Two cameras,\none question.".to_owned(),
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    })
}

pub fn request(email: &str) -> anyhow::Result<NewsletterRequested> {
    Ok(NewsletterRequested {
        email: EmailAddress::parse(email)?,
        expires: datetime!(2126-11-20 12:00 UTC),
        attribution: None,
    })
}

pub fn application(email: &str) -> anyhow::Result<CareersApplied> {
    Ok(CareersApplied {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse(email)?,
        position: "Backend Intern".to_owned(),
        cover_letter: "I would like to.".to_owned(),
        resume: None,
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    })
}

pub async fn application_with(s3: &S3, file_name: &str, resume: &[u8]) -> anyhow::Result<CareersApplied> {
    const APPLICANT: &str = "zoe@example.org";
    let key = ResumeKey::new(&person(APPLICANT)?, Uuid::now_v7());
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), resume)?;
    let store = ResumeStore::new(&s3.settings()?);
    store.put(&key, file.path(), "application/pdf").await?;
    Ok(CareersApplied {
        resume: Some(StoredResume {
            key: key.to_string(),
            file_name: file_name.to_owned(),
            content_type: "application/pdf".to_owned(),
            size_bytes: resume.len() as u64,
            sha256: "0f".repeat(32),
            scan: Scan::NotScanned,
            active_content: Vec::new(),
        }),
        ..application(APPLICANT)?
    })
}
