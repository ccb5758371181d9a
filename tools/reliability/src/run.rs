//! One run: visitors send forms to a fresh stack while faults happen; then it reconciles.

use std::{fmt, time::Duration};

use fastrand::Rng;
use testkit::{Broker, Hosting, Ports, Shape, Stack, User, eventually, measure::open_files, pass_flags};
use tokio::{
    process::Command,
    time::{Instant, sleep},
};

use crate::{
    books::{Balance, balance},
    clocks,
    faults::{self, Fault},
    holdings::Holdings,
    visitors::{KEYS, Visitors},
};

/// Load before the first fault and after the last.
const MARGIN: Duration = Duration::from_secs(2);
const PAUSE_MS: u64 = 2_000;
/// Duration of a mix.
const MIX: Duration = Duration::from_secs(60);
/// Shorter than production's minute, to redeliver sooner. Longer than any freeze.
const ACK_WAIT: Duration = Duration::from_secs(12);
/// As long as a visitor retries.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// Longer than the minute that a store may take for an upload.
const MAX_BACKLOG: Duration = Duration::from_secs(90);
/// Time before and after a kill in which deliveries may lack a record, and so may repeat.
const UNRECORDED: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(2)];

pub struct Run {
    pub name: String,
    faults: Vec<Fault>,
    shape: Shape,
    /// Faults repeat for this long; at least one happens.
    lasting: Duration,
}

pub struct Outcome {
    balance: Balance,
    /// The longest recovery from a fault.
    recovery: Duration,
    /// From the last answer to the last delivery.
    backlog: Duration,
    /// Broken promises, a sentence each.
    pub broken: Vec<String>,
}

struct Strike {
    fault: Fault,
    began: Instant,
    recovery: Duration,
}

impl Run {
    pub fn all() -> Vec<Self> {
        let of_fault = |fault: Fault| Self {
            name: fault.name.clone(),
            shape: fault.shape,
            faults: vec![fault],
            lasting: Duration::ZERO,
        };
        let mixes = [
            Self::mix("mixed", Broker::One),
            Self::mix("cluster-mixed", Broker::Three),
        ];
        faults::all().into_iter().map(of_fault).chain(mixes).collect()
    }

    /// Faults of every kind, with two notifiers.
    fn mix(name: &str, broker: Broker) -> Self {
        Self {
            name: name.to_owned(),
            faults: faults::mixed(broker),
            shape: Shape {
                broker,
                two_consumers: true,
                ..Shape::default()
            },
            lasting: MIX,
        }
    }

    /// Whether one of the names is part of this run's name. Without names every run is selected.
    pub fn is_selected(&self, names: &[String]) -> bool {
        names.is_empty() || names.iter().any(|name| self.name.contains(name.as_str()))
    }

    /// The seed decides all random choices.
    pub async fn make(&self, seed: u64, lasting: Option<Duration>) -> anyhow::Result<Outcome> {
        // Visitors who retry would exceed the rate limit, which is not under test.
        let mut settings = [&KEYS[..], &[("LOG", "warn"), ("RATE_BURST", "1000")]].concat();
        let clocks = match self.faults.iter().any(|fault| fault.steps_clock) {
            true => clocks::settings()?.to_vec(),
            false => Vec::new(),
        };
        settings.extend(clocks.iter().map(|(name, value)| (*name, value.as_str())));
        let shape = Shape {
            hosting: Hosting::Nobody,
            ..self.shape
        };
        let mut stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
        shorten_the_ack_wait(&mut stack).await?;
        let vanish_every = self.faults.iter().map(|fault| fault.vanish_every).min();
        let visitors = Visitors::start(&stack, seed, vanish_every.unwrap_or(1))?;
        sleep(MARGIN).await;
        let strikes = self
            .strike(seed, lasting.unwrap_or(self.lasting), &mut stack, &visitors)
            .await?;
        sleep(MARGIN).await;
        let ledger = visitors.leave().await?;
        let backlog = wait_for_deliveries(&stack).await?;
        ensure_running(&mut stack)?;
        sweep(&stack).await?;
        let holdings = Holdings::count(&stack).await?;
        stack.stop().await?;
        let balance = balance(&ledger, &holdings);
        Ok(Outcome {
            broken: broken(&strikes, &balance),
            recovery: strikes
                .iter()
                .map(|strike| strike.recovery)
                .max()
                .unwrap_or_default(),
            balance,
            backlog,
        })
    }

    /// Waits after each fault until forms of every kind are accepted.
    async fn strike(
        &self,
        seed: u64,
        lasting: Duration,
        stack: &mut Stack,
        visitors: &Visitors,
    ) -> anyhow::Result<Vec<Strike>> {
        let mut rng = Rng::with_seed(seed);
        let mut strikes = Vec::new();
        let started = Instant::now();
        while strikes.is_empty() || started.elapsed() < lasting {
            sleep(Duration::from_millis(rng.u64(0..PAUSE_MS))).await;
            let fault = self.faults[rng.usize(0..self.faults.len())].clone();
            ensure_running(stack)?;
            let began = Instant::now();
            let since = fault.strike(stack, &mut rng).await?;
            let what = format!("a form of each kind is accepted after {}", fault.name);
            let recovery = eventually(&what, RECOVERY_TIMEOUT, async || visitors.recovery(since)).await?;
            strikes.push(Strike {
                fault,
                began,
                recovery,
            });
        }
        Ok(strikes)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Balance {
            sent,
            accepted,
            losses,
            repeats,
            ..
        } = &self.balance;
        let (lost, repeated) = (losses.len(), repeats.len());
        let [recovery, backlog] = [self.recovery, self.backlog].map(|time| time.as_secs_f64());
        write!(
            f,
            "{sent} forms sent, {accepted} accepted, {lost} lost, {repeated} repeated; \
             accepted again after {recovery:.1} s, all delivered after {backlog:.1} s"
        )
    }
}

fn broken(strikes: &[Strike], balance: &Balance) -> Vec<String> {
    let kills: Vec<Instant> = strikes
        .iter()
        .filter(|strike| strike.fault.may_repeat)
        .map(|strike| strike.began)
        .collect();
    let [before, after] = UNRECORDED;
    let is_due_to_kill = |accepted: Instant| {
        kills
            .iter()
            .any(|kill| accepted + before >= *kill && accepted <= *kill + after)
    };
    let repeats = balance
        .repeats
        .iter()
        .filter(|repeat| !is_due_to_kill(repeat.before));
    let mut broken = balance.reported_losses();
    broken.extend(repeats.map(|repeat| format!("{repeat}, although no kill explains it")));
    for Strike { fault, recovery, .. } in strikes {
        if recovery > &fault.limit {
            broken.push(format!(
                "accepted again {recovery:.1?} after {}, of {:?}",
                fault.name, fault.limit
            ));
        }
    }
    let faults = || strikes.iter().map(|strike| &strike.fault);
    if balance.unanswered > 0 && !faults().any(|fault| fault.silences) {
        broken.push(format!(
            "{} requests got no answer, although no fault hit the gateway",
            balance.unanswered
        ));
    }
    if balance.refused == 0 && faults().any(|fault| fault.refuses) {
        broken.push("no form was refused: the fault had no effect".to_owned());
    }
    broken
}

/// Restarts the notifiers, because they read the ack wait at their start.
async fn shorten_the_ack_wait(stack: &mut Stack) -> anyhow::Result<()> {
    stack.nats.shorten_the_ack_wait(ACK_WAIT).await?;
    for name in stack.names() {
        if name.starts_with("notifier") {
            stack.stop_service(name).await?;
            stack.start_service(name)?;
        }
    }
    Ok(())
}

/// Only a fault may end a process. A second consumer would hide a crash, so each process is checked.
fn ensure_running(stack: &mut Stack) -> anyhow::Result<()> {
    stack.ended().map_or(Ok(()), |ended| Err(anyhow::anyhow!(ended)))
}

/// Waits for uploads and the broker's backlog. Returns how long that took.
async fn wait_for_deliveries(stack: &Stack) -> anyhow::Result<Duration> {
    let started = Instant::now();
    eventually("everything is delivered", MAX_BACKLOG, async || {
        let is_idle = open_files(&stack.spool).is_empty() && stack.nats.backlog().await.ok()? == 0;
        is_idle.then_some(())
    })
    .await?;
    Ok(started.elapsed())
}

/// Removes orphans as the cluster's job does.
async fn sweep(stack: &Stack) -> anyhow::Result<()> {
    let mut sweep = Command::new(stack.programs.join("sitectl"));
    sweep.args(["sweep", "--grace", "0", "--yes"]);
    let parts = [stack.nats.flags(User::Operator), stack.s3.flags()].concat();
    pass_flags(sweep.as_std_mut(), &parts);
    let swept = sweep.output().await?;
    anyhow::ensure!(
        swept.status.success(),
        "sitectl sweep: {}",
        String::from_utf8_lossy(&swept.stderr)
    );
    Ok(())
}
