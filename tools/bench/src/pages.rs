//! `bench pages`: how fast the gateway serves the site, beside nginx with the same files.

use std::{fs, path::Path, time::Duration};

use anyhow::Context;
use clap::Args;
use serde::Serialize;
use testkit::{ChildProcess, Keep, Mail, Ports, Shape, Stack, free_ports, root};
use tokio::process::Command;

use crate::{
    cpu::{self, CpuMeter, PerProcess},
    h2load::{self, Http, Load},
    report::{self, Bar, Report, percent},
    turns::middle,
};

const SHARED: &str = "Load (h2load, one thread, 64 requests open), gateway and nginx share this machine's cores, in turns of \
one run; figures are medians of the turns. Both send the gzip file that the build wrote, without TLS. The gateway logs as shipped \
(LOG=info), nginx an access log, each to a file.";
/// What is asked for beside the home page: the largest file of scripts.
const SCRIPTS: &str = "frontends/dist/assets";
const SITE: &str = "frontends/dist";
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// The least share of nginx's rate.
const LEAST_SHARE: f64 = 0.7;
const COLUMNS: [&str; 8] = [
    "file",
    "over",
    "server",
    "answers/s",
    "of nginx",
    "p50 ms",
    "p99 ms",
    "CPU µs an answer",
];

/// For how long it is compared.
#[derive(Args)]
pub struct PagesArgs {
    /// How often each has its turn
    #[arg(long, default_value_t = 3)]
    turns: u32,
    /// How many seconds a turn lasts
    #[arg(long, default_value_t = 3)]
    seconds: u64,
}

/// Compares, in turns.
///
/// # Errors
///
/// If the site is not built, a server does not start, or an answer is no success.
pub async fn pages(args: &PagesArgs) -> anyhow::Result<Report> {
    let shape = Shape {
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..Shape::USUAL
    };
    let stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    let nginx = Nginx::start(stack.logs()).await?;
    let script = largest_script()?;
    let mut rows = Vec::new();
    for (file, path) in [("home page", "/"), ("largest script", script.as_str())] {
        for http in [Http::One, Http::Two] {
            let (mut theirs, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..args.turns {
                let lasting = Duration::from_secs(args.seconds);
                let at_nginx = format!("{}{path}", nginx.url(http));
                theirs.push(turn(&at_nginx, http, lasting, &nginx.process, stack.logs()).await?);
                let at_ours = format!("{}{path}", stack.site());
                let gateway = stack.service("gateway")?;
                ours.push(turn(&at_ours, http, lasting, gateway, stack.logs()).await?);
            }
            let theirs = Measured::of(file, http, "nginx", &theirs, None);
            let ours = Measured::of(file, http, "gateway", &ours, Some(&theirs));
            rows.extend([theirs, ours]);
        }
    }
    nginx.process.stop().await?;
    stack.stop().await?;
    Ok(Report::of("pages", SHARED, &COLUMNS, &rows))
}

/// nginx, serving the site.
struct Nginx {
    process: ChildProcess,
    ports: [u16; 2],
}

impl Nginx {
    async fn start(folder: &Path) -> anyhow::Result<Self> {
        let ports = free_ports()?;
        let configuration = fs::read_to_string(root().join("tools/bench/peers/nginx/nginx.conf"))?
            .replace("{FOLDER}", &folder.to_string_lossy())
            .replace("{SITE}", &root().join(SITE).to_string_lossy())
            .replace("{HTTP1_PORT}", &ports[0].to_string())
            .replace("{HTTP2_PORT}", &ports[1].to_string());
        let file = folder.join("nginx.conf");
        fs::write(&file, configuration)?;
        let mut command = Command::new(root().join("target/tools/nginx"));
        command.arg("-p").arg(folder).arg("-c").arg(&file);
        let mut process = ChildProcess::start("nginx", folder, command)?;
        process.listens(ports[1], START_TIMEOUT).await?;
        Ok(Self { process, ports })
    }

    fn url(&self, http: Http) -> String {
        let [one, two] = self.ports;
        let port = match http {
            Http::One => one,
            Http::Two => two,
        };
        format!("http://127.0.0.1:{port}")
    }
}

/// The path of the largest file of scripts that a browser loads.
///
/// # Errors
///
/// If the site is not built.
pub fn largest_script() -> anyhow::Result<String> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(root().join(SCRIPTS)).context("the site is not built")? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".js") {
            scripts.push((entry.metadata()?.len(), name));
        }
    }
    let (_, name) = scripts.into_iter().max().context("the site has no scripts")?;
    Ok(format!("/assets/{name}"))
}

/// What one server did in a turn.
struct Turn {
    load: Load,
    cpu: PerProcess,
}

async fn turn(
    url: &str,
    http: Http,
    lasting: Duration,
    server: &ChildProcess,
    folder: &Path,
) -> anyhow::Result<Turn> {
    let meter = CpuMeter::start(&[server])?;
    let load = h2load::fetch(url, http, lasting, folder).await?;
    let cpu = meter.per(load.requests())?;
    Ok(Turn { load, cpu })
}

/// What one server reached with one file over one version of HTTP: medians of its turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    file: &'static str,
    http: Http,
    server: &'static str,
    answers_per_second: f64,
    share: Option<f64>,
    p50_ms: f64,
    p99_ms: f64,
    cpu_micros: PerProcess,
}

impl Measured {
    fn of(file: &'static str, http: Http, server: &'static str, turns: &[Turn], base: Option<&Self>) -> Self {
        let answers_per_second = middle(turns, |turn| turn.load.requests_per_second());
        Self {
            file,
            http,
            server,
            answers_per_second,
            share: base.map(|base| answers_per_second / base.answers_per_second),
            p50_ms: middle(turns, |turn| turn.load.percentile(0.5)),
            p99_ms: middle(turns, |turn| turn.load.percentile(0.99)),
            cpu_micros: cpu::medians(turns.iter().map(|turn| &turn.cpu)),
        }
    }
}

impl report::Measured for Measured {
    fn cells(&self) -> Vec<String> {
        vec![
            self.file.to_owned(),
            self.http.name().to_owned(),
            self.server.to_owned(),
            format!("{:.0}", self.answers_per_second),
            percent(self.share),
            format!("{:.2}", self.p50_ms),
            format!("{:.2}", self.p99_ms),
            cpu::cell(&self.cpu_micros),
        ]
    }

    fn bar(&self) -> Option<Bar> {
        Some(Bar {
            what: format!("{} of nginx, {}, {}", self.server, self.file, self.http.name()),
            seen: self.share?,
            least: LEAST_SHARE,
        })
    }
}
