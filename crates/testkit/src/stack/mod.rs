//! The whole stack: every part, started in order, stopped in order.

mod environment;
mod info;

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::Context;
use tokio::{net::TcpStream, process::Command};
use uuid::Uuid;

use crate::{
    ChildProcess, Hosting, Inbox, Nats, Ports, Receiver, S3, Shape, TraceViewer, eventually,
    hosting::{self, Ingress, WEB},
    root,
};

pub use self::info::StackInfo;

const READY: Duration = Duration::from_secs(90);
/// How long the files of earlier runs are kept.
const KEEP_RUNS: Duration = Duration::from_secs(24 * 60 * 60);

/// Everything, running.
pub struct Stack {
    /// The broker.
    pub nats: Nats,
    /// The bucket's server.
    pub s3: S3,
    /// Where all mail ends.
    pub inbox: Inbox,
    /// Where all webhooks end.
    pub receiver: Receiver,
    /// Where all traces end, in a stack that is observed.
    pub viewer: Option<TraceViewer>,
    ports: Ports,
    services: Vec<ChildProcess>,
    settings: Settings,
    ingress: Option<Ingress>,
}

/// What the services are told, kept so that one can be started anew.
struct Settings {
    programs: PathBuf,
    logs: PathBuf,
    person_key: String,
    token_key: String,
    webhooks: String,
    extra_env: Vec<(String, String)>,
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
        let run = new_run()?;
        let receiver = Receiver::start_at(ports.hooks).await?;
        let webhooks = webhooks_to(&receiver);
        let (nats_folder, s3_folder, inbox_folder) = (run.join("nats"), run.join("s3"), run.join("inbox"));
        let (nats, s3, inbox) = tokio::try_join!(
            provisioned_nats(ports.nats, &nats_folder, &webhooks),
            S3::start_at(ports.s3, &s3_folder),
            Inbox::start_at(ports.inbox, ports.smtp, &inbox_folder),
        )?;
        let viewer = if shape.observe {
            Some(TraceViewer::start_at(ports.traces, ports.otlp, &run.join("logs")).await?)
        } else {
            None
        };
        let settings = Settings {
            programs: programs()?,
            logs: run.join("logs"),
            person_key: Uuid::new_v4().to_string(),
            token_key: Uuid::new_v4().to_string(),
            webhooks,
            extra_env: settings
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        };
        let ingress = match shape.hosting {
            Hosting::Gateway => None,
            Hosting::Cluster => Some(Ingress::open(ports.site).await?),
        };
        let mut stack = Self {
            nats,
            s3,
            inbox,
            receiver,
            viewer,
            ports,
            services: Vec::new(),
            settings,
            ingress,
        };
        for name in stack.names() {
            stack.start_service(name)?;
        }
        stack.ready(READY).await?;
        Ok(stack)
    }

    /// Starts one of our services, by its name.
    pub fn start_service(&mut self, name: &str) -> anyhow::Result<()> {
        let folder = hosting::folder_of(name);
        let program = self.settings.programs.join(match folder {
            Some(_) => "web",
            None => name,
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
        self.services
            .push(ChildProcess::start(name, &self.settings.logs, command)?);
        Ok(())
    }

    /// Takes a service out, to stop or kill it.
    pub fn take_service(&mut self, name: &str) -> anyhow::Result<ChildProcess> {
        let index = self.services.iter().position(|part| part.name() == name);
        let index = index.with_context(|| format!("{name} does not run"))?;
        Ok(self.services.swap_remove(index))
    }

    /// A service's process.
    pub fn service(&self, name: &str) -> anyhow::Result<&ChildProcess> {
        let part = self.services.iter().find(|part| part.name() == name);
        part.with_context(|| format!("{name} does not run"))
    }

    /// Waits until `/readyz` says 200, of the site and of each front end's server.
    pub async fn ready(&mut self, within: Duration) -> anyhow::Result<()> {
        let webs = WEB.iter().filter_map(|web| self.ingress.as_ref()?.port_of(web));
        let ports: Vec<u16> = webs.chain([self.ports.site]).collect();
        for port in ports {
            self.ready_at(port, within).await?;
        }
        Ok(())
    }

    async fn ready_at(&mut self, port: u16, within: Duration) -> anyhow::Result<()> {
        let readyz = format!("http://127.0.0.1:{port}/readyz");
        let http = reqwest::Client::new();
        let notifier = self.ports.notifier;
        let ready = eventually("the site is ready", within, async || {
            if let Some(ended) = self.ended() {
                return Some(Err(anyhow::anyhow!(ended)));
            }
            let answer = http.get(&readyz).send().await.ok()?;
            // The gateway does not ask for the notifier, which takes its port once it has all that it needs.
            TcpStream::connect(("127.0.0.1", notifier)).await.ok()?;
            answer.status().is_success().then_some(Ok(()))
        });
        ready.await?
    }

    /// What ended on its own, if anything did.
    pub fn ended(&mut self) -> Option<String> {
        let nats = self.nats.process_mut();
        let parts = self
            .services
            .iter_mut()
            .chain(nats)
            .chain([self.inbox.process_mut()])
            .chain(self.viewer.as_mut().map(TraceViewer::process_mut));
        parts.filter_map(ChildProcess::ended).next()
    }

    /// Address of the site and its API.
    pub fn site(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.site)
    }

    /// Where the services' logs are.
    pub fn logs(&self) -> &Path {
        &self.settings.logs
    }

    /// The ports in use.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Stops the services, the ingress first, then what they need.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(ingress) = self.ingress.take() {
            ingress.close().await?;
        }
        for part in self.services.drain(..).rev() {
            part.stop().await?;
        }
        if let Some(viewer) = self.viewer {
            viewer.stop().await?;
        }
        self.inbox.stop().await?;
        self.s3.stop().await?;
        self.nats.stop().await
    }

    /// Our parts, in the order they are started: the ingress comes last.
    pub fn names(&self) -> Vec<&'static str> {
        let webs: &[&str] = match self.ingress {
            Some(_) => &WEB,
            None => &[],
        };
        [&SERVICES, webs].concat()
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
            _ => self.ports.site,
        }
    }
}

async fn provisioned_nats(port: u16, folder: &Path, webhooks: &str) -> anyhow::Result<Nats> {
    let nats = Nats::start_at(port, folder).await?;
    nats.provision_for(webhooks).await?;
    Ok(nats)
}

/// The one endpoint of a local stack hears of everything that the contract tells sales.
fn webhooks_to(receiver: &Receiver) -> String {
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

/// A folder for the files of this run; those of old runs are removed.
fn new_run() -> anyhow::Result<PathBuf> {
    let runs = root().join("target/stack");
    fs::create_dir_all(&runs)?;
    for entry in fs::read_dir(&runs)?.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
        if age.is_ok_and(|age| age > KEEP_RUNS) {
            // Another run may be removing the same folder.
            let _removed = fs::remove_dir_all(entry.path());
        }
    }
    let run = runs.join(Uuid::now_v7().to_string());
    fs::create_dir_all(&run)?;
    Ok(run)
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
