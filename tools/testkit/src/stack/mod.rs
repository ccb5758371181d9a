//! The whole stack: every part, started in order, stopped in order.

mod environment;
mod info;
mod link_keys;

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use tokio::{net::TcpStream, process::Command};
use tokio_util::sync::DropGuard;
use uuid::Uuid;
use visitor::{PersonKey, token::TokenKey};

use crate::{
    Broker, ChildProcess, Clock, Disks, Hosting, Mail, MailServer, Nats, Ports, Receiver, Replicas, S3,
    ScriptedReply, Shape, SmallDisk, SteppedClock, eventually, helpers, hosting, mail_server::Behaviour,
    ports::free_ports, root,
};

pub use self::{
    environment::{RECRUITERS_TO, SALES_TO},
    link_keys::LinkKeys,
};

const READY: Duration = Duration::from_secs(90);

/// Small disks have room for a test's data, and are filled within a moment.
const BROKER_DISK_MB: usize = 200;
const SPOOL_DISK_MB: usize = 50;

/// Events that the local webhook endpoint gets.
const WEBHOOK_EVENTS: [&str; 4] = [
    "contact.received",
    "newsletter.confirmed",
    "newsletter.unsubscribed",
    "careers.applied",
];

/// Everything, running.
pub struct Stack {
    /// The broker.
    pub nats: Nats,
    /// The server of the bucket.
    pub s3: S3,
    /// The receiver of all webhooks.
    pub receiver: Receiver,
    /// The small disks, with [`Disks::Small`].
    pub disks: Option<SmallDisks>,
    shape: Shape,
    ports: Ports,
    /// Folder of the logs, in the folder of everything that the stack writes.
    logs: PathBuf,
    spool: PathBuf,
    programs: PathBuf,
    mail_server: Option<MailServer>,
    /// Maildev and the trace viewer.
    helpers: Vec<ChildProcess>,
    parts: Vec<Part>,
    services: Vec<ChildProcess>,
    clocks: HashMap<&'static str, SteppedClock>,
    router: Option<DropGuard>,
    person_key: String,
    token_key: String,
    webhooks: String,
    extra_env: Vec<(String, String)>,
}

/// Disks that can be filled.
pub struct SmallDisks {
    /// The broker's.
    pub broker: SmallDisk,
    /// The spool of résumés.
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

/// One of our processes.
#[derive(Clone, Copy)]
struct Part {
    name: &'static str,
    port: u16,
    /// Port of its health, if it has one of its own.
    health: Option<u16>,
}

impl Part {
    /// The service that it is a replica of.
    fn service(&self) -> &'static str {
        self.name.strip_suffix("-2").unwrap_or(self.name)
    }
}

/// The parts of a stack, in the order in which they start.
fn parts_of(shape: Shape, ports: &Ports) -> anyhow::Result<Vec<Part>> {
    let part = |name, port| Part {
        name,
        port,
        health: None,
    };
    let mut parts = vec![
        part("contact", ports.contact),
        part("newsletter", ports.newsletter),
        part("careers", ports.careers),
        part("notifier", ports.notifier),
    ];
    if shape.replicas == Replicas::Two {
        // Nobody calls them; they take any port.
        parts.extend(["newsletter-2", "notifier-2"].map(|name| part(name, 0)));
    }
    let mut gateway = ports.site;
    if shape.hosting == Hosting::Cluster {
        [gateway] = free_ports()?;
        for name in ["web-shell", "web-blog", "web-careers"] {
            let [port, health] = free_ports()?;
            let health = Some(health);
            parts.push(Part { name, port, health });
        }
    }
    parts.push(Part {
        name: "gateway",
        port: gateway,
        health: Some(ports.health),
    });
    Ok(parts)
}

impl Stack {
    /// Starts everything, with the site served by the gateway, and waits until it is ready. Every service gets these
    /// settings in addition to its usual ones.
    pub async fn start(ports: Ports, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_as(Shape::USUAL, ports, settings).await
    }

    /// The same in this shape.
    pub async fn start_as(shape: Shape, ports: Ports, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        ports.ensure_free()?;
        let folder = root().join("target/stack").join(Uuid::now_v7().to_string());
        let receiver = Receiver::start_keeping(shape.keep, ports.hooks).await?;
        let webhooks = match settings.iter().find(|(name, _)| *name == "WEBHOOKS") {
            Some((_, endpoints)) => (*endpoints).to_owned(),
            None => serde_json::json!([receiver.endpoint("sales", &WEBHOOK_EVENTS)]).to_string(),
        };
        let disks = SmallDisks::mount(shape.disks)?;
        let spool = match &disks {
            Some(disks) => disks.spool.path().to_owned(),
            None => folder.join("spool"),
        };
        fs::create_dir_all(&spool)?;
        let s3_folder = folder.join("s3");
        let (nats, s3) = tokio::try_join!(
            start_nats(shape, ports.nats, disks.as_ref(), &folder),
            S3::start_at(ports.s3, &s3_folder),
        )?;
        nats.provision_with(&[&["--webhooks", webhooks.as_str()], storage_of(shape)].concat())
            .await?;
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut stack = Self {
            nats,
            s3,
            receiver,
            disks,
            shape,
            spool,
            programs: programs()?,
            mail_server: None,
            helpers: Vec::new(),
            parts: parts_of(shape, &ports)?,
            services: Vec::new(),
            clocks: HashMap::new(),
            router: None,
            person_key: Uuid::new_v4().to_string(),
            token_key: Uuid::new_v4().to_string(),
            webhooks,
            extra_env: settings.iter().map(owned).collect(),
            ports,
            logs: folder.join("logs"),
        };
        stack.start_helpers().await?;
        for name in stack.names() {
            stack.start_service(name)?;
        }
        stack.ready(READY).await?;
        Ok(stack)
    }

    /// Starts the mail server, and the trace viewer and the router where the shape has them.
    async fn start_helpers(&mut self) -> anyhow::Result<()> {
        match self.shape.mail {
            Mail::Inbox => {
                let folder = self.logs.with_file_name("inbox");
                let inbox = helpers::start_inbox(self.ports.inbox, self.ports.smtp, &folder).await?;
                self.helpers.push(inbox);
            }
            Mail::Scripted => {
                let behaviour = Behaviour {
                    keep: self.shape.keep,
                    ..Behaviour::default()
                };
                let plan = |_: &str, _| ScriptedReply::Take;
                self.mail_server = Some(MailServer::start_with(behaviour, self.ports.smtp, plan).await?);
            }
        }
        if self.shape.observe {
            let viewer = helpers::start_trace_viewer(self.ports.traces, self.ports.otlp, &self.logs).await?;
            self.helpers.push(viewer);
        }
        if self.shape.hosting == Hosting::Cluster {
            let behind = ["gateway", "web-shell", "web-blog", "web-careers"].map(|name| self.port_of(name));
            self.router = Some(hosting::start_router(self.ports.site, behind).await?);
        }
        Ok(())
    }

    /// The folder of our programs.
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Starts one of our services.
    pub fn start_service(&mut self, name: &str) -> anyhow::Result<()> {
        let part = *self.part(name)?;
        let folder = hosting::folder_of(name);
        let program = self.programs.join(match folder {
            Some(_) => "web",
            None => part.service(),
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
        command
            .current_dir(root())
            // Otherwise nobody but root may read its memory use.
            .env("DEBUGGABLE", "true")
            .envs(self.env_of(&part))
            .envs(self.extra_env.iter().cloned());
        if self.shape.clock == Clock::Stepped {
            if !self.clocks.contains_key(part.name) {
                let clock = SteppedClock::new(name, &self.logs.with_file_name("clocks"))?;
                self.clocks.insert(part.name, clock);
            }
            command.envs(self.clock_of(name)?.env()?);
        }
        self.services
            .push(ChildProcess::start(name, &self.logs, command)?);
        Ok(())
    }

    /// The clock of one of our services, with [`Clock::Stepped`].
    pub fn clock_of(&self, name: &str) -> anyhow::Result<&SteppedClock> {
        let clock = self.clocks.get(name);
        clock.with_context(|| format!("{name} uses the system's clock"))
    }

    /// Removes a service's process from the stack, to stop or kill it.
    pub fn take_service(&mut self, name: &str) -> anyhow::Result<ChildProcess> {
        let index = self.services.iter().position(|part| part.name() == name);
        let index = index.with_context(|| format!("{name} does not run"))?;
        Ok(self.services.swap_remove(index))
    }

    /// Stops a service.
    ///
    /// # Errors
    ///
    /// If it does not end in time and with status 0.
    pub async fn stop_service(&mut self, name: &str) -> anyhow::Result<()> {
        self.take_service(name)?.stop_cleanly().await
    }

    /// A service's process.
    pub fn service(&self, name: &str) -> anyhow::Result<&ChildProcess> {
        let part = self.services.iter().find(|part| part.name() == name);
        part.with_context(|| format!("{name} does not run"))
    }

    /// Waits until the gateway and the servers of the front ends are ready, and the notifier takes connections, which nobody
    /// else waits for.
    pub async fn ready(&mut self, within: Duration) -> anyhow::Result<()> {
        let http = reqwest::Client::new();
        let healths: Vec<u16> = self.parts.iter().filter_map(|part| part.health).collect();
        let notifier = self.ports.notifier;
        eventually("the site is ready", within, async || {
            if let Some(ended) = self.ended() {
                return Some(Err(anyhow::anyhow!(ended)));
            }
            for port in &healths {
                let answer = http.get(format!("http://127.0.0.1:{port}/readyz")).send().await;
                answer.ok()?.error_for_status().ok()?;
            }
            TcpStream::connect(("127.0.0.1", notifier)).await.ok()?;
            Some(Ok(()))
        })
        .await?
    }

    /// The mail server, with [`Mail::Scripted`].
    pub fn mail_server(&self) -> anyhow::Result<&MailServer> {
        self.mail_server.as_ref().context("the mail server is maildev")
    }

    /// How a process ended that ended on its own, if one did.
    pub fn ended(&mut self) -> Option<String> {
        let ours = self.services.iter_mut().chain(&mut self.helpers);
        let all = ours.chain(self.nats.processes_mut());
        all.filter_map(ChildProcess::ended).next()
    }

    /// The keys that sign the links in mails.
    pub fn link_keys(&self) -> anyhow::Result<LinkKeys> {
        Ok(LinkKeys {
            person: PersonKey::new(&self.person_key)?,
            token: TokenKey::new(&self.token_key)?,
        })
    }

    /// Address of the site and its API.
    pub fn site(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.site)
    }

    /// Address of the gateway's health.
    pub fn health(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.health)
    }

    /// Folder of the services' logs.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    /// Folder of the spool of résumés.
    pub fn spool(&self) -> &Path {
        &self.spool
    }

    /// The ports in use.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Names of our parts, in the order in which they start.
    pub fn names(&self) -> Vec<&'static str> {
        self.parts.iter().map(|part| part.name).collect()
    }

    /// Port of one of our parts, 0 if nobody calls it.
    pub fn port_of(&self, name: &str) -> u16 {
        self.part(name).map_or(0, |part| part.port)
    }

    fn part(&self, name: &str) -> anyhow::Result<&Part> {
        let part = self.parts.iter().find(|part| part.name == name);
        part.with_context(|| format!("this stack has no {name}"))
    }

    /// Stops everything in order, and removes what it wrote. A stack that was not stopped leaves that in `target/stack`.
    pub async fn stop(self) -> anyhow::Result<()> {
        let folder = self.logs.with_file_name("");
        self.stop_keeping_files().await?;
        Ok(fs::remove_dir_all(folder)?)
    }

    /// The same, and keeps what it wrote.
    pub async fn stop_keeping_files(mut self) -> anyhow::Result<()> {
        self.router = None;
        for part in self.services.drain(..).rev() {
            part.stop_cleanly().await?;
        }
        for helper in self.helpers {
            helper.stop().await?;
        }
        self.s3.stop().await?;
        self.nats.stop().await
    }
}

async fn start_nats(
    shape: Shape,
    port: u16,
    disks: Option<&SmallDisks>,
    folder: &Path,
) -> anyhow::Result<Nats> {
    let folder = disks.map_or(folder, |disks| disks.broker.path());
    match shape.broker {
        Broker::One => Nats::start_single(shape.fsync, None, port, folder).await,
        Broker::Three => {
            let [second, third] = free_ports()?;
            Nats::start_cluster_at([port, second, third], folder).await
        }
    }
}

/// Flags of `sitectl setup` that limit the streams to the broker's disk.
fn storage_of(shape: Shape) -> &'static [&'static str] {
    match shape.disks {
        Disks::System => &[],
        Disks::Small => &["--storage-mb", "100"],
    }
}

/// The folder of our programs: this program's, or the one above for a test.
fn programs() -> anyhow::Result<PathBuf> {
    let here = env::current_exe()?;
    let mut folders = here.ancestors().skip(1);
    let folder = folders.find(|folder| !folder.ends_with("deps"));
    folder
        .map(Path::to_owned)
        .context("this program lies in no folder")
}
