//! `bench accept`: how many contact forms are accepted a second, how long each takes, and what it costs.

use std::{
    collections::{HashMap, hash_map::Entry},
    time::Duration,
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::Serialize;
use testkit::{ChildProcess, Stack};

use crate::{
    contender::{Contender, Setting},
    cpu::{self, CpuMeter, PerProcess},
    peers::Peer,
    report::{self, Bar, Report, percent},
    stacks,
    turns::middle,
    wrk::{self, Form, Load},
};

const SHARED: &str = "Load (wrk, one thread), contenders, services and broker share this machine's cores, in turns of one \
run; figures are medians of the turns. Services log as shipped (LOG=info), each to a file on its disk; peers log nothing. \
JetStream is on file, without fsync but where \
it is named. CPU is user and kernel time of a process for each form.";
/// How long each contender is warmed up.
const WARM_UP: Duration = Duration::from_secs(2);
/// How long a notifier may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Where the bars are.
const BAR_CONNECTIONS: u32 = 64;
const COLUMNS: [&str; 8] = [
    "connections",
    "contender",
    "forms/s",
    "of its peer",
    "p50 ms",
    "p99 ms",
    "p99.9 ms",
    "CPU µs a form",
];

/// What is compared, and for how long.
#[derive(Args)]
pub struct AcceptArgs {
    /// Who is compared, all without any; the peer of each is needed for its share
    #[arg(long, value_enum, value_delimiter = ',')]
    contenders: Vec<Contender>,
    /// Over how many connections, one after the other
    #[arg(long, value_delimiter = ',', default_value = "64,1,16,256")]
    connections: Vec<u32>,
    /// How often each contender has its turn
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
/// If a contender does not start, or does not accept each form.
pub async fn accept(args: &AcceptArgs) -> anyhow::Result<Report> {
    let chosen = match args.contenders.as_slice() {
        [] => Contender::value_variants(),
        named => named,
    };
    let mut field = Field::start(chosen).await?;
    let lasting = Duration::from_secs(args.seconds);
    for contender in chosen {
        field.turn(*contender, BAR_CONNECTIONS, WARM_UP).await?;
    }
    let mut rows = Vec::new();
    for connections in &args.connections {
        let mut turns: HashMap<Contender, Vec<Turn>> = HashMap::new();
        for _ in 0..args.turns {
            for contender in chosen {
                let turn = field.turn(*contender, *connections, lasting).await?;
                turns.entry(*contender).or_default().push(turn);
            }
        }
        rows.extend(measured(chosen, *connections, &turns));
    }
    field.stop().await?;
    Ok(Report::of("accept", SHARED, &COLUMNS, &rows))
}

/// The contenders, running.
struct Field {
    stacks: HashMap<Setting, Stack>,
    peers: Vec<Peer>,
    /// Different in each turn, so that no form is sent twice.
    seed: u64,
}

/// What one contender did in a turn.
struct Turn {
    load: Load,
    cpu: PerProcess,
}

impl Turn {
    fn forms_per_second(&self) -> f64 {
        self.load.requests_per_second()
    }
}

impl Field {
    async fn start(chosen: &[Contender]) -> anyhow::Result<Self> {
        let (mut stacks, mut peers) = (HashMap::new(), Vec::new());
        for contender in chosen {
            let setting = contender.setting();
            if let Entry::Vacant(missing) = stacks.entry(setting) {
                missing.insert(stacks::start(setting).await?);
            }
            if contender.is_peer() {
                let stack = &stacks[&setting];
                peers.push(Peer::start(*contender, &stack.nats, stack.logs()).await?);
            }
        }
        Ok(Self {
            stacks,
            peers,
            seed: 0,
        })
    }

    async fn turn(
        &mut self,
        contender: Contender,
        connections: u32,
        lasting: Duration,
    ) -> anyhow::Result<Turn> {
        self.seed += 1;
        let has_notifier = contender == Contender::OursNotifier;
        if has_notifier {
            self.start_notifier(contender).await?;
        }
        let turn = self.send_forms(contender, connections, lasting).await?;
        if has_notifier {
            let stack = self.stack_of(contender)?;
            stack.stop_service("notifier").await?;
        }
        Ok(turn)
    }

    async fn start_notifier(&mut self, contender: Contender) -> anyhow::Result<()> {
        let stack = self.stack_of(contender)?;
        stack.start_service("notifier")?;
        stack.ready(START_TIMEOUT).await
    }

    fn stack_of(&mut self, contender: Contender) -> anyhow::Result<&mut Stack> {
        let stack = self.stacks.get_mut(&contender.setting());
        stack.with_context(|| format!("nothing runs for {}", contender.name()))
    }

    async fn send_forms(
        &self,
        contender: Contender,
        connections: u32,
        lasting: Duration,
    ) -> anyhow::Result<Turn> {
        let (url, processes) = self.at_work(contender)?;
        let meter = CpuMeter::start(&processes)?;
        let load = wrk::send_forms(Form::Contact, &url, connections, lasting, self.seed).await?;
        let cpu = meter.per(load.requests)?;
        Ok(Turn { load, cpu })
    }

    /// Where a contender takes forms, and the processes that work for it.
    fn at_work(&self, contender: Contender) -> anyhow::Result<(String, Vec<&ChildProcess>)> {
        let stack = &self.stacks[&contender.setting()];
        let peer = self.peers.iter().find(|peer| peer.contender == contender);
        let (url, mut processes) = match peer {
            Some(peer) => (peer.url.clone(), vec![&peer.process]),
            None => (
                stack.site(),
                vec![stack.service("gateway")?, stack.service("contact")?],
            ),
        };
        if contender == Contender::OursNotifier {
            processes.push(stack.service("notifier")?);
        }
        if contender != Contender::Axum {
            processes.push(stack.nats.process()?);
        }
        Ok((url, processes))
    }

    async fn stop(self) -> anyhow::Result<()> {
        for peer in self.peers {
            peer.process.stop().await?;
        }
        for stack in self.stacks.into_values() {
            stack.stop().await?;
        }
        Ok(())
    }
}

/// What one contender reached over so many connections: medians of its turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    #[serde(skip)]
    contender: Contender,
    #[serde(rename = "contender")]
    name: String,
    connections: u32,
    forms_per_second: f64,
    /// The least and the most of a turn.
    forms_per_second_range: [f64; 2],
    /// Of the rate of its peer.
    share: Option<f64>,
    p50_ms: f64,
    p99_ms: f64,
    p999_ms: f64,
    cpu_micros: PerProcess,
}

fn measured(chosen: &[Contender], connections: u32, turns: &HashMap<Contender, Vec<Turn>>) -> Vec<Measured> {
    let rate = |contender: Contender| Some(middle(turns.get(&contender)?, Turn::forms_per_second));
    let of_one = |contender: &Contender| {
        let turns = &turns[contender];
        let rates = turns.iter().map(Turn::forms_per_second);
        let forms_per_second = middle(turns, Turn::forms_per_second);
        Measured {
            contender: *contender,
            name: contender.name(),
            connections,
            forms_per_second,
            forms_per_second_range: [
                rates.clone().fold(f64::INFINITY, f64::min),
                rates.fold(0.0, f64::max),
            ],
            share: rate(contender.base()).map(|base| forms_per_second / base),
            p50_ms: middle(turns, |turn| turn.load.p50 / 1e3),
            p99_ms: middle(turns, |turn| turn.load.p99 / 1e3),
            p999_ms: middle(turns, |turn| turn.load.p999 / 1e3),
            cpu_micros: cpu::medians(turns.iter().map(|turn| &turn.cpu)),
        }
    };
    chosen.iter().map(of_one).collect()
}

impl report::Measured for Measured {
    fn cells(&self) -> Vec<String> {
        vec![
            self.connections.to_string(),
            self.name.clone(),
            format!("{:.0}", self.forms_per_second),
            percent(self.share),
            format!("{:.2}", self.p50_ms),
            format!("{:.2}", self.p99_ms),
            format!("{:.2}", self.p999_ms),
            cpu::cell(&self.cpu_micros),
        ]
    }

    fn bar(&self) -> Option<Bar> {
        let least = self.contender.least_share()?;
        (self.connections == BAR_CONNECTIONS).then_some(())?;
        Some(Bar {
            what: format!(
                "{} of {}, {BAR_CONNECTIONS} connections",
                self.name,
                self.contender.base().name()
            ),
            seen: self.share?,
            least,
        })
    }
}
