//! The whole stack, started and stopped in order.

mod environment;
mod info;

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use tokio::{net::TcpStream, process::Command};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::{
    ChildProcess, Hosting, MailServer, Nats, Ports, Receiver, S3, ScriptedReply, Shape, SmallDisk,
    eventually, helpers, hosting, mail_server::Behaviour, ports::free_ports, root,
};

pub use self::environment::{RECRUITERS_TO, SALES_TO};

const READY: Duration = Duration::from_secs(90);

/// Enough for a test's data, and quick to fill.
const BROKER_DISK_MB: usize = 200;
const SPOOL_DISK_MB: usize = 50;

const WEBHOOK_EVENTS: [&str; 4] = [
    "contact.received",
    "newsletter.confirmed",
    "newsletter.unsubscribed",
    "careers.applied",
];

/// Running stack.
pub struct Stack {
    /// Broker.
    pub nats: Nats,
    /// S3 server.
    pub s3: S3,
    /// Receiver of all webhooks.
    pub receiver: Receiver,
    _disks: Option<[SmallDisk; 2]>,
    shape: Shape,
    /// Ports in use.
    pub ports: Ports,
    /// Folder of logs, in the stack's folder.
    pub logs: PathBuf,
    /// Folder of the résumé spool.
    pub spool: PathBuf,
    /// Folder of our programs.
    pub programs: PathBuf,
    mail_server: Option<MailServer>,
    /// Maildev and the trace viewer.
    helpers: Vec<ChildProcess>,
    parts: Vec<Part>,
    services: Vec<ChildProcess>,
    router: Option<AbortOnDropHandle<()>>,
    otlp: u16,
    token_key: String,
    webhooks: String,
    extra_env: Vec<(String, String)>,
}

#[derive(Clone, Copy)]
struct Part {
    name: &'static str,
    port: u16,
    /// Port of a separate health endpoint.
    health: Option<u16>,
}

impl Part {
    fn service(&self) -> &'static str {
        self.name.strip_suffix("-2").unwrap_or(self.name)
    }
}

/// Parts in the order in which they start.
fn parts_of(shape: Shape, ports: &Ports) -> anyhow::Result<Vec<Part>> {
    let mut names = vec!["contact", "newsletter", "careers", "notifier"];
    if shape.two_consumers {
        names.extend(["newsletter-2", "notifier-2"]);
    }
    if shape.hosting == Hosting::Cluster {
        names.extend(["web-shell", "web-blog", "web-careers"]);
    }
    let mut parts = Vec::new();
    for name in names {
        let [port, health] = free_ports()?;
        let health = name.starts_with("web-").then_some(health);
        parts.push(Part { name, port, health });
    }
    let [behind_router] = free_ports()?;
    parts.push(Part {
        name: "gateway",
        port: if shape.hosting == Hosting::Cluster {
            behind_router
        } else {
            ports.site
        },
        health: Some(ports.health),
    });
    Ok(parts)
}

impl Stack {
    /// Starts a stack with the site on the gateway, and waits until it is ready. Services also get these settings;
    /// `{service}` in a value becomes the service's name.
    pub async fn start(ports: Ports, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_as(Shape::default(), ports, settings).await
    }

    /// Same as [`Self::start`], with these options.
    pub async fn start_as(shape: Shape, ports: Ports, settings: &[(&str, &str)]) -> anyhow::Result<Self> {
        ports.ensure_free()?;
        let folder = root().join("target/stack").join(Uuid::now_v7().to_string());
        let receiver = Receiver::start_at(ports.hooks).await?;
        let webhooks = match settings.iter().find(|(name, _)| *name == "WEBHOOKS") {
            Some((_, endpoints)) => (*endpoints).to_owned(),
            None => serde_json::json!([receiver.endpoint("sales", &WEBHOOK_EVENTS)]).to_string(),
        };
        let disks = shape.small_disks.then(small_disks).transpose()?;
        let (broker, spool) = match &disks {
            Some([broker, spool]) => (broker.path(), spool.path().to_owned()),
            None => (&*folder, folder.join("spool")),
        };
        fs::create_dir_all(&spool)?;
        let s3_folder = folder.join("s3");
        let (nats, s3) = tokio::try_join!(
            Nats::start_as(shape.broker, None, ports.nats, broker),
            S3::start_at(ports.s3, &s3_folder),
        )?;
        let storage = if shape.small_disks { "100" } else { "1024" };
        nats.provision(&["--webhooks", &webhooks, "--storage-mb", storage])
            .await?;
        let [otlp] = free_ports()?;
        let stack = Self {
            nats,
            s3,
            receiver,
            _disks: disks,
            shape,
            spool,
            programs: programs()?,
            mail_server: None,
            helpers: Vec::new(),
            parts: parts_of(shape, &ports)?,
            services: Vec::new(),
            router: None,
            otlp,
            token_key: Uuid::new_v4().to_string(),
            webhooks,
            extra_env: owned(settings),
            ports,
            logs: folder.join("logs"),
        };
        stack.start_parts().await
    }

    async fn start_parts(mut self) -> anyhow::Result<Self> {
        if self.shape.inbox {
            let folder = self.logs.with_file_name("inbox");
            let inbox = helpers::start_inbox(self.ports.inbox, self.ports.smtp, &folder).await?;
            self.helpers.push(inbox);
        } else {
            let mail_server =
                MailServer::start_with(Behaviour::default(), self.ports.smtp, |_, _| ScriptedReply::Take)
                    .await?;
            self.mail_server = Some(mail_server);
        }
        if self.shape.observe {
            let viewer = helpers::start_trace_viewer(self.ports.traces, self.otlp, &self.logs).await?;
            self.helpers.push(viewer);
        }
        if self.shape.hosting == Hosting::Cluster {
            let behind = ["gateway", "web-shell", "web-blog", "web-careers"].map(|name| self.port_of(name));
            self.router = Some(hosting::start_router(self.ports.site, behind).await?);
        }
        for name in self.names() {
            self.start_service(name)?;
        }
        self.ready(READY).await?;
        Ok(self)
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
        let own = self.extra_env.iter();
        let mut command = Command::new(program);
        command
            .current_dir(root())
            // Otherwise only root can read the service's memory use.
            .env("DEBUGGABLE", "true")
            .envs(self.env_of(&part))
            .envs(own.map(|(setting, value)| (setting, value.replace("{service}", name))));
        self.services
            .push(ChildProcess::start(name, &self.logs, command)?);
        Ok(())
    }

    /// Removes a process, to stop or kill it.
    pub fn take_service(&mut self, name: &str) -> anyhow::Result<ChildProcess> {
        let index = self.services.iter().position(|part| part.name == name);
        let index = index.with_context(|| format!("{name} does not run"))?;
        Ok(self.services.swap_remove(index))
    }

    /// Stops a service.
    ///
    /// # Errors
    ///
    /// If it is late or fails.
    pub async fn stop_service(&mut self, name: &str) -> anyhow::Result<()> {
        self.take_service(name)?.stop_cleanly().await
    }

    /// Process of a service.
    pub fn service(&self, name: &str) -> anyhow::Result<&ChildProcess> {
        let part = self.services.iter().find(|part| part.name == name);
        part.with_context(|| format!("{name} does not run"))
    }

    /// Waits until the stack is ready. Health checks do not cover the notifier, so its port is tried too.
    pub async fn ready(&mut self, within: Duration) -> anyhow::Result<()> {
        let http = reqwest::Client::new();
        let healths: Vec<u16> = self.parts.iter().filter_map(|part| part.health).collect();
        let notifier = self.port_of("notifier");
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

    /// Mail server, unless [`Shape::inbox`] is set.
    pub fn mail_server(&self) -> anyhow::Result<&MailServer> {
        self.mail_server.as_ref().context("the mail server is maildev")
    }

    /// Error of a process that ended unexpectedly.
    pub fn ended(&mut self) -> Option<String> {
        let ours = self.services.iter_mut().chain(&mut self.helpers);
        let ended = ours.filter_map(ChildProcess::ended).next();
        ended.or_else(|| self.nats.ended())
    }

    /// URL of site and API.
    pub fn site(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.site)
    }

    /// URL of the gateway's health endpoint.
    pub fn health(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.health)
    }

    /// Our parts, in the order in which they start.
    pub fn names(&self) -> Vec<&'static str> {
        self.parts.iter().map(|part| part.name).collect()
    }

    /// Port of a part.
    pub fn port_of(&self, name: &str) -> u16 {
        self.part(name).map_or(0, |part| part.port)
    }

    fn url_of(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}", self.port_of(name))
    }

    fn part(&self, name: &str) -> anyhow::Result<&Part> {
        let part = self.parts.iter().find(|part| part.name == name);
        part.with_context(|| format!("this stack has no {name}"))
    }

    /// Stops everything in order and removes its files, which otherwise stay in `target/stack`.
    pub async fn stop(self) -> anyhow::Result<()> {
        let folder = self.logs.with_file_name("");
        self.stop_keeping_files().await?;
        Ok(fs::remove_dir_all(folder)?)
    }

    /// Stops everything and keeps its files.
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

fn small_disks() -> anyhow::Result<[SmallDisk; 2]> {
    Ok([
        SmallDisk::mount(BROKER_DISK_MB)?,
        SmallDisk::mount(SPOOL_DISK_MB)?,
    ])
}

fn owned(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let settings = settings.iter();
    settings
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// Folder of our programs. A test's own program is in the subfolder `deps`.
fn programs() -> anyhow::Result<PathBuf> {
    let here = env::current_exe()?;
    let mut folders = here.ancestors().skip(1);
    let folder = folders.find(|folder| !folder.ends_with("deps"));
    folder.map(Path::to_owned).context("the program has no folder")
}
