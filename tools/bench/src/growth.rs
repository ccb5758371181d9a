//! `bench growth`: whether what is done often becomes slower once much is stored.

use std::{fs, path::Path, time::Duration};

use anyhow::Context as _;
use async_nats::jetstream::{self, Context};
use clap::Args;
use serde::Serialize;
use serde_json::json;
use testkit::{
    Hosting, Keep, Mail, Ports, Shape, Stack, User, eventually,
    measure::{WITHOUT_LIMITS, median, resident_bytes},
};
use tokio::{
    process::Command,
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use crate::{
    fill,
    report::{self, Bar, Report},
    stacks::{STORAGE_MB, send_form},
    turns::middle,
    wrk::{self, Form, Load},
};

const SHARED: &str = "Load (wrk, one thread, 64 connections), services and broker share this machine's cores, one after the other in \
one run; forms and sign-ups are medians of three turns. The notifier runs only while its mails are counted; its mail server answers at once. Export, erasure and list are commands of the \
operator, from their start to their end, medians of nine, or of as many as take ten seconds; each erasure is of another person. Broker MB is its resident memory. JetStream is on file, without fsync.";
/// Forms and sign-ups come in turns, so that what the broker does now and then to all that it keeps meets one of each.
const TURNS: u64 = 3;
const TURN: Duration = Duration::from_secs(2);
/// Of the notifier's work.
const LASTING: Duration = Duration::from_secs(5);
const CONNECTIONS: u32 = 64;
const KEYS: [(&str, &str); 2] = [
    ("PERSON_KEY", "a person key of thirty-two bytes or more"),
    ("TOKEN_KEY", "a token key of thirty-two bytes or more"),
];
/// Whose data are exported.
const PERSON: &str = "ada.1.1@example.org";
/// How often a command is timed, unless that takes long.
const TIMES: usize = 9;
/// Of the broker: some six times what it keeps of a million events, as production's limit is of 100,000 (docs/capacity.md). Close to its
/// limit it collects garbage all the while.
const BROKER_MEMORY_LIMIT: &str = "8GiB";
const LONG: Duration = Duration::from_secs(10);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(240);
const START_TIMEOUT: Duration = Duration::from_secs(30);
const NOTIFIER_TIMEOUT: Duration = Duration::from_secs(60);
/// What forms a second must keep of what they were with little stored.
const LEAST_KEPT: f64 = 0.5;
const COLUMNS: [&str; 11] = [
    "events",
    "subscribers",
    "dead letters",
    "forms/s",
    "p99 ms",
    "sign-ups/s",
    "mails/s",
    "person export s",
    "person erase s",
    "dead-letters list s",
    "broker MB",
];

/// How much is stored, in steps.
#[derive(Args)]
pub struct GrowthArgs {
    /// How many events are stored, one step after the other
    #[arg(long, value_delimiter = ',', default_value = "1000,100000,1000000")]
    events: Vec<u64>,
    /// How many subscribers and, by a tenth of it, dead letters there are at most
    #[arg(long, default_value_t = 100_000)]
    subscribers: u64,
}

/// Fills, and measures in each step.
///
/// # Errors
///
/// If something does not start, is not stored, or fails.
pub async fn growth(args: &GrowthArgs) -> anyhow::Result<Report> {
    let shape = Shape {
        hosting: Hosting::Nobody,
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..Shape::USUAL
    };
    let settings = [&WITHOUT_LIMITS[..], &KEYS].concat();
    let mut stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
    stack.nats.provision_with(&["--storage-mb", STORAGE_MB]).await?;
    stack.nats.restart_with_memory_limit(BROKER_MEMORY_LIMIT).await?;
    stack.ready(START_TIMEOUT).await?;
    stack.stop_service("notifier").await?;
    let context = jetstream::new(stack.nats.client(User::Operator).await?);
    sign_up(&stack.site(), PERSON).await?;
    let mut steps = Vec::new();
    for (seed, events) in (1..).step_by(TURNS as usize).zip(&args.events) {
        let subscribers = args.subscribers.min(*events);
        let filled = Filled {
            events: *events,
            subscribers,
            dead_letters: subscribers / 10,
        };
        filled.fill(&context).await?;
        steps.push(Measured::of(filled, &mut stack, seed).await?);
    }
    stack.stop().await?;
    Ok(report(&steps))
}

/// Sends a sign-up and a message of a person who is exported or erased.
async fn sign_up(site: &str, email: &str) -> anyhow::Result<()> {
    send_form(site, "newsletter", &json!({ "email": email })).await?;
    let message = json!({ "name": "Ada", "email": email, "message": "What do you know of me?" });
    send_form(site, "contact", &message).await
}

/// How much is stored.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Filled {
    events: u64,
    subscribers: u64,
    dead_letters: u64,
}

impl Filled {
    async fn fill(self, context: &Context) -> anyhow::Result<()> {
        fill::events_up_to(context, self.events).await?;
        fill::subscribers_up_to(context, self.subscribers).await?;
        fill::dead_letters_up_to(context, self.dead_letters).await
    }
}

/// What was reached with so much stored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    filled: Filled,
    forms_per_second: f64,
    forms_p99_ms: f64,
    sign_ups_per_second: f64,
    mails_per_second: f64,
    /// Nothing where it took longer than [`COMMAND_TIMEOUT`].
    export_seconds: Option<f64>,
    erase_seconds: Option<f64>,
    list_seconds: Option<f64>,
    broker_bytes: u64,
}

impl Measured {
    async fn of(filled: Filled, stack: &mut Stack, seed: u64) -> anyhow::Result<Self> {
        // What lists what is stored comes first: the rest adds to it.
        let list_seconds = timed(stack, |_, _| vec!["dead-letters".to_owned(), "list".to_owned()]).await?;
        let export_seconds = timed(stack, |_, folder| {
            let folder = folder.to_string_lossy();
            ["person", "export", PERSON, &folder].map(str::to_owned).into()
        })
        .await?;
        let site = stack.site();
        let leaving = |nth: usize| format!("ada.leaves-{seed}-{nth}@example.org");
        for nth in 0..TIMES {
            sign_up(&site, &leaving(nth)).await?;
        }
        let erase_seconds = timed(stack, |nth, _| {
            ["person", "erase", &leaving(nth), "--yes"]
                .map(str::to_owned)
                .into()
        })
        .await?;
        let (mut forms, mut sign_ups) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let seed = (seed + turn) * 2;
            forms.push(wrk::send_forms(Form::Contact, &site, CONNECTIONS, TURN, seed).await?);
            sign_ups.push(wrk::send_forms(Form::Newsletter, &site, CONNECTIONS, TURN, seed + 1).await?);
        }
        Ok(Self {
            filled,
            forms_per_second: middle(&forms, Load::requests_per_second),
            forms_p99_ms: middle(&forms, |load| load.p99 / 1e3),
            sign_ups_per_second: middle(&sign_ups, Load::requests_per_second),
            mails_per_second: mails_per_second(stack).await?,
            export_seconds,
            erase_seconds,
            list_seconds,
            broker_bytes: resident_bytes(stack.nats.process()?, "VmRSS")?,
        })
    }
}

/// How many mails a second a notifier sends that works off a backlog, from a while after the first on, when each channel has passed over
/// what lies before its first event.
async fn mails_per_second(stack: &mut Stack) -> anyhow::Result<f64> {
    let before = stack.mail_server()?.begun();
    stack.start_service("notifier")?;
    let begun_since = |stack: &Stack, count: usize| Some(stack.mail_server().ok()?.begun() - count);
    eventually("a mail", NOTIFIER_TIMEOUT, async || {
        (begun_since(stack, before)? > 0).then_some(())
    })
    .await?;
    sleep(LASTING).await;
    let (started, count) = (Instant::now(), stack.mail_server()?.begun());
    sleep(LASTING).await;
    let mails = begun_since(stack, count).context("the mail server ended")?;
    let lasted = started.elapsed();
    stack.stop_service("notifier").await?;
    Ok(mails as f64 / lasted.as_secs_f64())
}

/// The median time of a command of the operator, whose arguments may tell one time from another and name a folder of its own; nothing
/// where it is cut off.
async fn timed(
    stack: &Stack,
    arguments: impl Fn(usize, &Path) -> Vec<String>,
) -> anyhow::Result<Option<f64>> {
    let (begun, mut seconds) = (Instant::now(), Vec::new());
    while seconds.is_empty() || seconds.len() < TIMES && begun.elapsed() < LONG {
        let folder = stack.logs().with_file_name(Uuid::new_v4().to_string());
        let mut sitectl = Command::new(stack.programs().join("sitectl"));
        sitectl
            .args(arguments(seconds.len(), &folder))
            .env("NATS_URL", stack.nats.url())
            .env("NATS_USER", User::Operator.name())
            .env("NATS_PASSWORD", stack.nats.password())
            .envs(KEYS)
            .envs(stack.s3.env())
            .kill_on_drop(true);
        let started = Instant::now();
        let Ok(output) = timeout(COMMAND_TIMEOUT, sitectl.output()).await else {
            return Ok(None);
        };
        let output = output?;
        seconds.push(started.elapsed().as_secs_f64());
        let complaint = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "sitectl failed: {complaint}");
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    Ok(Some(median(seconds)))
}

fn seconds(taken: Option<f64>) -> String {
    taken.map_or_else(
        || format!("> {}", COMMAND_TIMEOUT.as_secs()),
        |taken| format!("{taken:.3}"),
    )
}

impl report::Measured for Measured {
    fn cells(&self) -> Vec<String> {
        vec![
            self.filled.events.to_string(),
            self.filled.subscribers.to_string(),
            self.filled.dead_letters.to_string(),
            format!("{:.0}", self.forms_per_second),
            format!("{:.1}", self.forms_p99_ms),
            format!("{:.0}", self.sign_ups_per_second),
            format!("{:.0}", self.mails_per_second),
            seconds(self.export_seconds),
            seconds(self.erase_seconds),
            seconds(self.list_seconds),
            format!("{:.0}", self.broker_bytes as f64 / 1e6),
        ]
    }
}

/// What must be kept is a share of the first step's, so no step has a bar by itself.
fn report(steps: &[Measured]) -> Report {
    let kept = |what: &str, value: fn(&Measured) -> f64| {
        let (first, last) = (steps.first()?, steps.last()?);
        Some(Bar {
            what: format!(
                "{what} with {} events of those with {}",
                last.filled.events, first.filled.events
            ),
            seen: value(last) / value(first),
            least: LEAST_KEPT,
        })
    };
    let bars = [
        kept("forms a second", |step| step.forms_per_second),
        kept("sign-ups a second", |step| step.sign_ups_per_second),
        kept("mails a second", |step| step.mails_per_second),
    ];
    let mut report = Report::of("growth", SHARED, &COLUMNS, steps);
    report.bars = bars.into_iter().flatten().collect();
    report
}
