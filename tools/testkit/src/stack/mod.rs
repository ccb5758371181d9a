//! The whole stack: every part, started in order, stopped in order.

mod certificates;
mod environment;
mod info;
mod link_keys;
mod mail_sink;
mod run;

use std::{
    collections::{HashMap, hash_map::Entry},
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use tokio::{net::TcpStream, process::Command};
use uuid::Uuid;

use crate::{
    Broker, ChildProcess, Clock, Disks, Hosting, Inbox, MailServer, Nats, Ports, Receiver, Replicas, S3,
    Shape, SmallDisk, SteppedClock, TraceViewer, eventually,
    hosting::{self, Ingress, WEB},
    manifest,
    ports::free_ports,
    root,
};

use self::{
    certificates::Certificates,
    mail_sink::MailSink,
    run::{LOGS, Run},
};
pub use self::{
    environment::{RECRUITERS_TO, SALES_TO},
    info::StackInfo,
    link_keys::LinkKeys,
};

const READY: Duration = Duration::from_secs(90);

/// Small disks: with room for what a test stores, and filled within a moment.
const BROKER_DISK_MB: usize = 200;
const SPOOL_DISK_MB: usize = 50;
/// What the streams may take of the broker's.
const STREAMS_OF_A_SMALL_DISK: [&str; 2] = ["--storage-mb", "100"];

/// Everything, running.
pub struct Stack {
    /// The broker.
    pub nats: Nats,
    /// The bucket's server.
    pub s3: S3,
    /// Where all webhooks end.
    pub receiver: Receiver,
    /// Where all traces end, in a stack that is observed.
    pub viewer: Option<TraceViewer>,
    /// The small disks, in a stack that has such.
    pub disks: Option<SmallDisks>,
    certificates: Option<Certificates>,
    mail: MailSink,
    ports: Ports,
    services: Vec<ChildProcess>,
    settings: Settings,
    clocks: HashMap<String, SteppedClock>,
    ingress: Option<Ingress>,
    replicas: Replicas,
    run: Run,
}

/// Disks that can be filled.
pub struct SmallDisks {
    /// What the broker stores.
    pub broker: SmallDisk,
    /// Résumés while they arrive.
    pub spool: SmallDisk,
}

impl SmallDisks {
    fn mount(disks: Disks) -> anyhow::Result<Option<Self>> {
        Ok(match disks {
            Disks::System => None,
            Disks::Small => Some(Self {
                broker: SmallDisk::mount(BROKER_DISK_MB)?,
                spool: SmallDisk::mount(SPOOL_DISK_MB)?,
            }),
        })
    }
}

/// What the services are told, kept so that one can be started anew.
struct Settings {
    programs: PathBuf,
    logs: PathBuf,
    spool: PathBuf,
    person_key: String,
    token_key: String,
    webhooks: String,
    clock: Clock,
    hosting: Hosting,
    extra_env: Vec<(String, String)>,
}

impl Settings {
    fn new(
        shape: Shape,
        logs: PathBuf,
        spool: PathBuf,
        webhooks: String,
        extra: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Ok(Self {
            programs: programs()?,
            logs,
            spool,
            person_key: Uuid::new_v4().to_string(),
            token_key: Uuid::new_v4().to_string(),
            webhooks,
            clock: shape.clock,
            hosting: shape.hosting,
            extra_env: extra.iter().map(owned).collect(),
        })
    }
}

impl Stack {
    /// Starts everything, with the site served by the gateway, and waits until that says that it is ready.
    /// `settings` are given to every service on top of its usual ones.
    pub async fn start(ports: Ports, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_as(Shape::default(), ports, settings).await
    }

    /// The same in the shape that you say.
    pub async fn start_as(shape: Shape, ports: Ports, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        ports.ensure_free(shape)?;
        let run = Run::begin(&root().join("target/stack"))?;
        let folder = run.folder();
        let receiver = Receiver::start_keeping(shape.keep, ports.hooks).await?;
        let webhooks = webhooks_of(settings, &receiver);
        let (s3_folder, inbox_folder) = (folder.join("s3"), folder.join("inbox"));
        let disks = SmallDisks::mount(shape.disks)?;
        let (nats_folder, storage): (_, &[_]) = match &disks {
            None => (folder.join("nats"), &[]),
            Some(disks) => (disks.broker.path().to_owned(), &STREAMS_OF_A_SMALL_DISK),
        };
        let flags = [&["--webhooks", webhooks.as_str()], storage].concat();
        let certificates = Certificates::issue(shape.tls)?;
        let (nats, s3, mail) = tokio::try_join!(
            provisioned_nats(shape, certificates.as_ref(), ports.nats, &nats_folder, &flags),
            S3::start_at(ports.s3, &s3_folder),
            MailSink::start(shape, &ports, &inbox_folder),
        )?;
        let viewer = viewer_of(shape, &ports, &folder.join(LOGS)).await?;
        let spool = spool_of(folder, disks.as_ref())?;
        let settings = Settings::new(shape, folder.join(LOGS), spool, webhooks, settings)?;
        let ingress = match shape.hosting {
            Hosting::Gateway | Hosting::Nobody => None,
            Hosting::Cluster => Some(Ingress::open(ports.site).await?),
        };
        let mut stack = Self {
            nats,
            certificates,
            s3,
            receiver,
            viewer,
            disks,
            mail,
            ports,
            services: Vec::new(),
            settings,
            clocks: HashMap::new(),
            ingress,
            replicas: shape.replicas,
            run,
        };
        for name in stack.names() {
            stack.start_service(name)?;
        }
        stack.ready(READY).await?;
        Ok(stack)
    }

    /// The folder of our programs.
    pub fn programs(&self) -> &Path {
        &self.settings.programs
    }

    /// Has services that are started from now on be the programs of this folder: another release's.
    pub fn use_programs(&mut self, folder: PathBuf) {
        self.settings.programs = folder;
    }

    /// Starts one of our services, by its name.
    pub fn start_service(&mut self, name: &str) -> anyhow::Result<()> {
        let folder = hosting::folder_of(name);
        let program = self.settings.programs.join(match folder {
            Some(_) => "web",
            None => service_of(name),
        });
        anyhow::ensure!(
            program.exists(),
            "{name} is not built; run: cargo build --workspace"
        );
        anyhow::ensure!(
            folder.is_none_or(|folder| folder.exists()),
            "{name} has no files; run: npm run build && npm run split"
        );
        let mut command = Command::new(program);
        command.envs(self.env_of(name)).current_dir(root());
        // What a test measures of a process (`crate::measure`) is not given to everybody of one that forbids to look into it.
        command.env("DEBUGGABLE", "true");
        if self.settings.clock == Clock::Stepped {
            command.envs(self.new_or_kept_clock(name)?.env()?);
        }
        self.services
            .push(ChildProcess::start(name, &self.settings.logs, command)?);
        Ok(())
    }

    /// A service that starts again finds the clock that the one before it had.
    fn new_or_kept_clock(&mut self, name: &str) -> anyhow::Result<&SteppedClock> {
        Ok(match self.clocks.entry(name.to_owned()) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(missing) => {
                let folder = self.settings.logs.with_file_name("clocks");
                missing.insert(SteppedClock::new(name, &folder)?)
            }
        })
    }

    /// The clock of one of our services, in a stack whose shape says [`Clock::Stepped`].
    pub fn clock_of(&self, name: &str) -> anyhow::Result<&SteppedClock> {
        let clock = self.clocks.get(name);
        clock.with_context(|| format!("{name} goes by the system's clock"))
    }

    /// Takes a service out, to stop or kill it.
    pub fn take_service(&mut self, name: &str) -> anyhow::Result<ChildProcess> {
        let index = self.services.iter().position(|part| part.name() == name);
        let index = index.with_context(|| format!("{name} does not run"))?;
        Ok(self.services.swap_remove(index))
    }

    /// Stops a service as its pod would be stopped.
    ///
    /// # Errors
    ///
    /// If it ends with another status than 0, or not within the time that its pod has.
    pub async fn stop_service(&mut self, name: &str) -> anyhow::Result<()> {
        let grace = grace_of(name)?;
        self.take_service(name)?.stop_within(grace).await
    }

    /// A service's process.
    pub fn service(&self, name: &str) -> anyhow::Result<&ChildProcess> {
        let part = self.services.iter().find(|part| part.name() == name);
        part.with_context(|| format!("{name} does not run"))
    }

    /// Waits until `/readyz` says 200, of the gateway and of each front end's server.
    pub async fn ready(&mut self, within: Duration) -> anyhow::Result<()> {
        for name in self.names() {
            if let Some(health) = self.health_port_of(name) {
                self.ready_at([health, self.port_of(name)], within).await?;
            }
        }
        Ok(())
    }

    /// The second port is where releases answer for their health that have no port of its own for it.
    async fn ready_at(&mut self, ports: [u16; 2], within: Duration) -> anyhow::Result<()> {
        let http = reqwest::Client::new();
        let is_ready_at = async |port: u16| {
            let readyz = format!("http://127.0.0.1:{port}/readyz");
            let answer = http.get(&readyz).send().await;
            answer.is_ok_and(|answer| answer.status().is_success())
        };
        let notifier = self.ports.notifier;
        let ready = eventually("the site is ready", within, async || {
            if let Some(ended) = self.ended() {
                return Some(Err(anyhow::anyhow!(ended)));
            }
            let [own, shared] = ports;
            let is_ready = is_ready_at(own).await || is_ready_at(shared).await;
            // The gateway does not ask for the notifier, which takes its port once it has all that it needs.
            TcpStream::connect(("127.0.0.1", notifier)).await.ok()?;
            is_ready.then_some(Ok(()))
        });
        ready.await?
    }

    /// Where all mail ends, unless it is a mail server that misbehaves.
    pub fn inbox(&self) -> anyhow::Result<&Inbox> {
        self.mail.inbox().context("this stack has no inbox")
    }

    /// Where all mail ends in a stack whose shape says [`Mail::Scripted`](crate::Mail::Scripted).
    pub fn mail_server(&self) -> anyhow::Result<&MailServer> {
        self.mail
            .server()
            .context("this stack has no mail server but its inbox")
    }

    /// What ended on its own, if anything did.
    pub fn ended(&mut self) -> Option<String> {
        let parts = self
            .services
            .iter_mut()
            .chain(self.nats.processes_mut())
            .chain(self.mail.process_mut())
            .chain(self.viewer.as_mut().map(TraceViewer::process_mut));
        parts.filter_map(ChildProcess::ended).next()
    }

    /// The keys that sign the links in mails.
    ///
    /// # Errors
    ///
    /// If they are none.
    pub fn link_keys(&self) -> anyhow::Result<LinkKeys> {
        LinkKeys::new(&self.settings.person_key, &self.settings.token_key)
    }

    /// Address of the site and its API.
    pub fn site(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.site)
    }

    /// Address at which the gateway answers for its health.
    pub fn health(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.health)
    }

    /// Where the services' logs are.
    pub fn logs(&self) -> &Path {
        &self.settings.logs
    }

    /// Where résumés lie while they arrive.
    pub fn spool(&self) -> &Path {
        &self.settings.spool
    }

    /// The ports in use.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Stops the services, the ingress first, then what they need. What was stored is removed, logs are not.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(ingress) = self.ingress.take() {
            ingress.close().await?;
        }
        for part in self.services.drain(..).rev() {
            let grace = grace_of(part.name())?;
            part.stop_within(grace).await?;
        }
        if let Some(viewer) = self.viewer {
            viewer.stop().await?;
        }
        self.mail.stop().await?;
        self.s3.stop().await?;
        self.nats.stop().await?;
        self.run.end()
    }

    /// Our parts, in the order they are started: the ingress comes last.
    pub fn names(&self) -> Vec<&'static str> {
        let webs: &[&str] = match self.ingress {
            Some(_) => &WEB,
            None => &[],
        };
        let second: &[&str] = match self.replicas {
            Replicas::One => &[],
            Replicas::Two => &SECOND_REPLICAS,
        };
        [&SERVICES, second, webs].concat()
    }

    /// The port at which one of those that speak HTTP answers for its health, by its name.
    pub fn health_port_of(&self, name: &str) -> Option<u16> {
        match name {
            "gateway" => Some(self.ports.health),
            _ => self.ingress.as_ref()?.health_port_of(name),
        }
    }

    /// The port of one of our services, by its name.
    pub fn port_of(&self, name: &str) -> u16 {
        let behind = self.ingress.as_ref().and_then(|ingress| ingress.port_of(name));
        if let Some(port) = behind {
            return port;
        }
        match name {
            "contact" => self.ports.contact,
            "newsletter" => self.ports.newsletter,
            "careers" => self.ports.careers,
            "notifier" => self.ports.notifier,
            // Nobody calls a second one; it takes any port.
            _ if SECOND_REPLICAS.contains(&name) => 0,
            _ => self.ports.site,
        }
    }
}

async fn provisioned_nats(
    shape: Shape,
    certificates: Option<&Certificates>,
    port: u16,
    folder: &Path,
    flags: &[&str],
) -> anyhow::Result<Nats> {
    let certificate = certificates.map(|certificates| &certificates.broker);
    let nats = match shape.broker {
        Broker::One => Nats::start_single(shape.fsync, certificate, port, folder).await?,
        Broker::Three => {
            anyhow::ensure!(certificate.is_none(), "a stack with TLS has one broker");
            let [second, third] = free_ports()?;
            Nats::start_cluster_at([port, second, third], folder).await?
        }
    };
    nats.provision_with(flags).await?;
    Ok(nats)
}

async fn viewer_of(shape: Shape, ports: &Ports, logs: &Path) -> anyhow::Result<Option<TraceViewer>> {
    if !shape.observe {
        return Ok(None);
    }
    Ok(Some(TraceViewer::start_at(ports.traces, ports.otlp, logs).await?))
}

/// The endpoints that the settings name, and otherwise one, which hears of everything that the contract tells sales.
fn webhooks_of(settings: &[(&str, &str)], receiver: &Receiver) -> String {
    let named = settings.iter().find(|(name, _)| *name == "WEBHOOKS");
    if let Some((_, endpoints)) = named {
        return (*endpoints).to_owned();
    }
    let events = [
        "contact.received",
        "newsletter.confirmed",
        "newsletter.unsubscribed",
        "careers.applied",
    ];
    serde_json::json!([receiver.endpoint("sales", &events)]).to_string()
}

/// In the order they are started.
const SERVICES: [&str; 5] = ["contact", "newsletter", "careers", "notifier", "gateway"];
/// The second of those that take events, where there are two.
const SECOND_REPLICAS: [&str; 2] = ["newsletter-2", "notifier-2"];

/// The service that a part is a replica of.
fn service_of(part: &str) -> &str {
    part.strip_suffix("-2").unwrap_or(part)
}

/// A folder for résumés while they arrive, of this run alone.
fn spool_of(run: &Path, disks: Option<&SmallDisks>) -> anyhow::Result<PathBuf> {
    if let Some(disks) = disks {
        return Ok(disks.spool.path().to_owned());
    }
    let spool = run.join("spool");
    fs::create_dir_all(&spool)?;
    Ok(spool)
}

/// How long the pod of a part may take to stop, as its manifest has it.
fn grace_of(part: &str) -> anyhow::Result<Duration> {
    let seconds = manifest::values(service_of(part), "terminationGracePeriodSeconds")?;
    let seconds = seconds
        .first()
        .with_context(|| format!("{part} has no grace period"))?;
    Ok(Duration::from_secs(seconds.parse()?))
}

/// The folder that our binaries are built into: where this one lies, or above it for a test.
fn programs() -> anyhow::Result<PathBuf> {
    let here = env::current_exe()?;
    let folder = here.parent().context("this program lies in no folder")?;
    let folder = if folder.ends_with("deps") {
        folder.parent()
    } else {
        Some(folder)
    };
    folder
        .map(Path::to_owned)
        .context("this program lies in no folder")
}
