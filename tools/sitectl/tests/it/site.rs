//! Broker, bucket and services that the tool works on.

use std::{fs, time::Duration};

use async_nats::jetstream;
use clap::Parser;
use resumes::{ResumeKey, ResumeStore};
use site_broker::Publisher;
use site_events::{
    Channel, EventData, SITE_STREAM,
    event::{CareersApplied, ContactReceived, Scan, StoredResume},
};
use site_proto::newsletter::v1::newsletter_service_client::NewsletterServiceClient;
use site_service::RequestId;
use tempfile::TempDir;
use testkit::{Broker, MailServer, Nats, S3, User, eventually, free_ports, notifier_flags};
use time::OffsetDateTime;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

pub use testkit::PERSON_KEY;

pub const TOKEN_KEY: &str = "a token key of thirty-two bytes or more";
pub const SALES: &str = "sales@oculant.example";
pub const RECRUITERS: &str = "recruiters@oculant.example";
pub const SOON: Duration = Duration::from_secs(45);
pub const CONTACT: &str = "site.contact.received.0123456789abcdef0123456789abcdef";
/// Value of `WEBHOOKS` with one endpoint.
pub const CRM: &str =
    r#"[{"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"}]"#;

pub type Newsletter = NewsletterServiceClient<tonic::transport::Channel>;

pub struct Site {
    pub nats: Nats,
    pub s3: S3,
    /// Flags of commands that use the broker alone.
    pub broker: Vec<String>,
    /// Flags of commands that use broker and bucket.
    pub flags: Vec<String>,
    _disk: Option<TempDir>,
}

impl Site {
    pub async fn start() -> anyhow::Result<Self> {
        Ok(Self::of(Nats::start().await?, S3::start().await?, None))
    }

    /// Site before `sitectl setup`.
    pub async fn empty() -> anyhow::Result<Self> {
        let ([port], disk) = (free_ports()?, TempDir::new()?);
        let nats = Nats::start_as(Broker::One, None, port, disk.path()).await?;
        Ok(Self::of(nats, S3::start().await?, Some(disk)))
    }

    fn of(nats: Nats, s3: S3, disk: Option<TempDir>) -> Self {
        let key = vec![format!("--person-key={PERSON_KEY}")];
        let broker = [nats.flags(User::Operator), key].concat();
        Self {
            flags: [broker.clone(), s3.flags()].concat(),
            broker,
            nats,
            s3,
            _disk: disk,
        }
    }

    pub async fn jetstream(&self) -> anyhow::Result<jetstream::Context> {
        Ok(jetstream::new(self.nats.client(User::Operator).await?))
    }

    pub async fn publish<D: EventData>(&self, email: &str, data: D) -> anyhow::Result<Uuid> {
        self.publish_of(&person(email)?, data).await
    }

    pub async fn publish_of<D: EventData>(&self, person: &PersonId, data: D) -> anyhow::Result<Uuid> {
        let id = D::TYPE.id_for(Uuid::new_v4());
        let publisher = Publisher::new(self.nats.client(User::Operator).await?);
        publisher.publish(&RequestId::fresh(), id, person, data).await?;
        Ok(id)
    }

    pub fn resumes(&self) -> anyhow::Result<ResumeStore> {
        Ok(ResumeStore::new(&self.s3.settings()?))
    }

    pub async fn store_resume(&self, key: &ResumeKey, content: &str) -> anyhow::Result<StoredResume> {
        let folder = TempDir::new()?;
        let file = folder.path().join("cv.pdf");
        fs::write(&file, content)?;
        self.resumes()?.put(key, &file, "application/pdf").await?;
        Ok(stored_resume(key))
    }

    pub async fn until_acked(&self) -> anyhow::Result<()> {
        let stream = self.jetstream().await?.get_stream(SITE_STREAM).await?;
        for channel in Channel::ALL {
            eventually(channel.name(), SOON, async || {
                let info = stream.consumer_info(channel.name()).await.ok()?;
                (info.num_pending == 0 && info.num_ack_pending == 0).then_some(())
            })
            .await?;
        }
        Ok(())
    }

    pub async fn notifier(&self, mail_server: &MailServer) -> anyhow::Result<Running> {
        let own = [
            "notifier".to_owned(),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--token-key={TOKEN_KEY}"),
            format!("--sales-to={SALES}"),
            format!("--recruiters-to={RECRUITERS}"),
        ];
        let flags = [
            &own[..],
            &notifier_flags(mail_server.port),
            &self.nats.flags(User::Notifier),
            &self.s3.flags(),
        ]
        .concat();
        let service = notifier::Service::build(notifier::Settings::try_parse_from(flags)?).await?;
        Ok(Running::start(|stop| tokio::spawn(service.run(stop))))
    }

    pub async fn newsletter(&self) -> anyhow::Result<(Newsletter, Running)> {
        let own = [
            "newsletter".to_owned(),
            "--listen=127.0.0.1:0".to_owned(),
            format!("--person-key={PERSON_KEY}"),
            format!("--token-key={TOKEN_KEY}"),
        ];
        let flags = [&own[..], &self.nats.flags(User::Newsletter)].concat();
        let service = newsletter::Service::build(newsletter::Settings::try_parse_from(flags)?).await?;
        let url = format!("http://127.0.0.1:{}", service.port());
        let running = Running::start(|stop| tokio::spawn(service.run(stop)));
        Ok((Newsletter::connect(url).await?, running))
    }
}

/// Service that stops on drop.
pub struct Running {
    stop: DropGuard,
    task: JoinHandle<anyhow::Result<()>>,
}

impl Running {
    fn start(run: impl FnOnce(CancellationToken) -> JoinHandle<anyhow::Result<()>>) -> Self {
        let stop = CancellationToken::new();
        Self {
            task: run(stop.clone()),
            stop: stop.drop_guard(),
        }
    }

    pub async fn stop(self) -> anyhow::Result<()> {
        drop(self.stop);
        self.task.await?
    }
}

pub fn person(email: &str) -> anyhow::Result<PersonId> {
    let key = PersonKey::new(PERSON_KEY)?;
    Ok(key.person(&EmailAddress::parse(email)?))
}

pub fn new_resume_key(email: &str) -> anyhow::Result<ResumeKey> {
    Ok(ResumeKey::new(&person(email)?, Uuid::new_v4()))
}

pub fn message(name: &str, email: &str) -> anyhow::Result<ContactReceived> {
    Ok(ContactReceived {
        name: name.to_owned(),
        email: EmailAddress::parse(email)?,
        message: "Two cameras,\none question.".to_owned(),
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    })
}

pub fn stored_resume(key: &ResumeKey) -> StoredResume {
    StoredResume {
        key: key.to_string(),
        file_name: "cv.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
        size_bytes: 8,
        sha256: String::new(),
        scan: Scan::NotScanned,
        active_content: Vec::new(),
    }
}

pub fn application(name: &str, email: &str, resume: Option<StoredResume>) -> anyhow::Result<CareersApplied> {
    Ok(CareersApplied {
        name: name.to_owned(),
        email: EmailAddress::parse(email)?,
        phone: None,
        position: "AI Intern".to_owned(),
        experience: None,
        cover_letter: "I would like to.".to_owned(),
        resume,
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    })
}
