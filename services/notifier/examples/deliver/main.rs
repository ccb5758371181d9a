//! How fast a backlog of events becomes mails, against the least that it could cost: a bare
//! loop that hands the same message to the same server over as many connections, and one that renders each mail first. Run by
//! `cargo xtask bench deliver`. With the argument `telemetry`, what sending telemetry takes of that; run by
//! `cargo xtask measure telemetry`.

mod sink;

use std::{
    collections::BTreeMap,
    env, fs,
    io::{Write, stdout},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use lettre::{
    Address,
    transport::smtp::{
        client::AsyncSmtpConnection,
        commands::{self, Data, Rcpt},
        extension::ClientId,
    },
};
use notifier::{Mail, MailContext, Settings, samples};
use serde::Serialize;
use site_broker::Publisher;
use site_events::event::NewsletterRequested;
use site_service::RequestId;
use testkit::{ChildProcess, Discard, Nats, User, measure, pass_flags, root};
use time::OffsetDateTime;
use tokio::{
    process::Command,
    task::JoinSet,
    time::{Instant, sleep},
};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

use self::sink::Sink;

const EVENTS: usize = 10_000;
/// Where the figures of every turn are written, as `deliver.json`.
const RESULTS: &str = "target/bench";
/// How often each of the two is measured, in turns.
const TURNS: usize = 3;
/// What the notifier has for one channel.
const CONNECTIONS: usize = 4;
/// What a mail server that stores a mail before it takes it needs for that.
const STORING: Duration = Duration::from_millis(5);
/// The least that the notifier must reach of the bare loop's rate where the server stores each mail, and of the rate of the loop
/// that renders where it does nothing: there the bare one has next to no work.
const MIN_SHARE_OF_BARE: f64 = 0.9;
const MIN_SHARE_OF_RENDERING: f64 = 0.4;
/// The mail that the events of the backlog become.
const SAMPLE: &str = "newsletter-confirmation";
/// The least that it must reach with telemetry of what it does without.
const MIN_TELEMETRY_RATIO: f64 = 0.9;
/// After how many mails memory must not grow any more, and by how much it may vary.
const WARM: usize = EVENTS / 5;
const MAX_GROWTH_KB: u64 = 4 * 1024;
const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);
const DRAIN_TIMEOUT: Duration = Duration::from_secs(120);
const PUBLISHERS: usize = 40;
const BYTES_PER_KB: u64 = 1024;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    match env::args().nth(1).as_deref() {
        Some("telemetry") => telemetry(&nats).await,
        _ => backlog(&nats).await,
    }
}

/// The backlog by a notifier that sends telemetry and by one that does not, in turns.
async fn telemetry(nats: &Nats) -> anyhow::Result<()> {
    let collector = Discard::start().await?;
    let sink = Sink::start(STORING)?;
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        without.push(drain(nats, &sink, &[]).await?.mails_per_second);
        with.push(
            drain(nats, &sink, &measure::observing(&collector))
                .await?
                .mails_per_second,
        );
    }
    let (without, with) = (measure::median(without), measure::median(with));
    let share = with / without;
    say("| mails a second | with telemetry | share |\n|---:|---:|---:|")?;
    say(&format!("| {without:.0} | {with:.0} | {:.0} % |", share * 100.0))?;
    say(&format!("budget: {:.0} %", MIN_TELEMETRY_RATIO * 100.0))?;
    anyhow::ensure!(share >= MIN_TELEMETRY_RATIO, "telemetry takes more than that");
    Ok(())
}

async fn backlog(nats: &Nats) -> anyhow::Result<()> {
    say(
        "| server | bare loop, mails/s | loop that renders | notifier | of bare | of rendering | notifier, CPU µs a mail | NATS | memory MB |",
    )?;
    say("|---|---:|---:|---:|---:|---:|---:|---:|---:|")?;
    let (mut failures, mut results) = (Vec::new(), BTreeMap::new());
    for (server, takes) in [
        ("answers at once", Duration::ZERO),
        ("takes 5 ms a mail", STORING),
    ] {
        let seen = compare(nats, &Sink::start(takes)?).await?;
        say(&seen.row(server))?;
        failures.extend(seen.failures(server, takes.is_zero()));
        results.insert(server, seen);
    }
    let folder = root().join(RESULTS);
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("deliver.json"),
        serde_json::to_string_pretty(&results)?,
    )?;
    anyhow::ensure!(failures.is_empty(), "{}", failures.join("; "));
    Ok(())
}

/// Rates of the loops, and what was seen of the notifier, each as often as it had its turn.
#[derive(Default, Serialize)]
struct Compared {
    bare: Vec<f64>,
    rendering: Vec<f64>,
    ours: Vec<Drained>,
}

async fn compare(nats: &Nats, sink: &Sink) -> anyhow::Result<Compared> {
    let renderer = Arc::new(Renderer::new()?);
    let mut seen = Compared::default();
    for _ in 0..TURNS {
        seen.ours.push(drain(nats, sink, &[]).await?);
        let sent = String::from_utf8(sink.last())?;
        seen.bare
            .push(send_in_loop(sink, move || Ok(sent.clone())).await?);
        let renderer = Arc::clone(&renderer);
        seen.rendering
            .push(send_in_loop(sink, move || renderer.mail()).await?);
    }
    Ok(seen)
}

impl Compared {
    fn median(&self, pick: fn(&Drained) -> f64) -> f64 {
        measure::median(self.ours.iter().map(pick).collect())
    }

    /// The notifier's share of the bare loop's rate, and of the rendering one's.
    fn shares(&self) -> (f64, f64) {
        let rate = self.median(|drained| drained.mails_per_second);
        let of = |rates: &Vec<f64>| rate / measure::median(rates.clone());
        (of(&self.bare), of(&self.rendering))
    }

    fn row(&self, server: &str) -> String {
        let (of_bare, of_rendering) = self.shares();
        let least = self.ours.iter().map(|drained| drained.least_kb).min();
        let most = self.ours.iter().map(|drained| drained.most_kb).max();
        format!(
            "| {server} | {:.0} | {:.0} | {:.0} | {:.0} % | {:.0} % | {:.0} | {:.0} | {:.1} to {:.1} |",
            measure::median(self.bare.clone()),
            measure::median(self.rendering.clone()),
            self.median(|drained| drained.mails_per_second),
            of_bare * 100.0,
            of_rendering * 100.0,
            self.median(|drained| drained.cpu_micros),
            self.median(|drained| drained.nats_cpu_micros),
            megabytes(least.unwrap_or_default()),
            megabytes(most.unwrap_or_default()),
        )
    }

    fn failures(&self, server: &str, answers_at_once: bool) -> Vec<String> {
        let (of_bare, of_rendering) = self.shares();
        let (share, least) = if answers_at_once {
            (of_rendering, MIN_SHARE_OF_RENDERING)
        } else {
            (of_bare, MIN_SHARE_OF_BARE)
        };
        let growth = self.ours.iter().map(|drained| drained.most_kb - drained.least_kb);
        let has_grown = growth.max().unwrap_or_default() > MAX_GROWTH_KB;
        let slow = (share < least).then(|| format!("{server}: less than {:.0} %", least * 100.0));
        let grown = has_grown.then(|| format!("{server}: memory grew"));
        slow.into_iter().chain(grown).collect()
    }
}

/// What was seen while the notifier worked a backlog off.
#[derive(Serialize)]
struct Drained {
    mails_per_second: f64,
    cpu_micros: f64,
    nats_cpu_micros: f64,
    least_kb: u64,
    most_kb: u64,
}

/// A backlog, and a notifier that finds it.
async fn drain(nats: &Nats, sink: &Sink, more: &[(&str, &str)]) -> anyhow::Result<Drained> {
    publish(nats).await?;
    sink.begin_anew();
    let logs = tempfile::TempDir::new()?;
    let notifier = ChildProcess::start("notifier", logs.path(), notifier(nats, sink.port, more)?)?;
    let pid = notifier.pid().context("the notifier ended")?;
    let (mut least_kb, mut most_kb) = (u64::MAX, 0);
    let nats_pid = nats.process()?.pid().context("NATS ended")?;
    let nats_before = measure::processor_time(nats_pid)?;
    let begun = Instant::now();
    while sink.accepted() < EVENTS {
        anyhow::ensure!(
            begun.elapsed() < DRAIN_TIMEOUT,
            "{} mails arrived",
            sink.accepted()
        );
        sleep(SAMPLE_INTERVAL).await;
        if sink.accepted() > WARM {
            let resident = measure::resident_bytes_of(pid, "VmRSS")? / BYTES_PER_KB;
            (least_kb, most_kb) = (least_kb.min(resident), most_kb.max(resident));
        }
    }
    let per_mail = |spent: Duration| spent.as_secs_f64() * 1e6 / EVENTS as f64;
    let (cpu_micros, nats_cpu_micros) = (
        per_mail(measure::processor_time(pid)?),
        per_mail(measure::processor_time(nats_pid)? - nats_before),
    );
    notifier.stop().await?;
    anyhow::ensure!(
        sink.accepted() == EVENTS,
        "{} mails for {EVENTS} events",
        sink.accepted()
    );
    Ok(Drained {
        mails_per_second: sink.mails_per_second()?,
        cpu_micros,
        nats_cpu_micros,
        least_kb,
        most_kb,
    })
}

/// The release build that lies beside this one.
fn notifier(nats: &Nats, smtp_port: u16, more: &[(&str, &str)]) -> anyhow::Result<Command> {
    let here = env::current_exe()?;
    let built = here
        .ancestors()
        .nth(2)
        .context("this program lies in no folder")?;
    let mut command = Command::new(built.join("notifier"));
    let flags = [nats.flags(User::Notifier), own_flags(smtp_port)].concat();
    pass_flags(command.as_std_mut(), &flags);
    command.envs(more.iter().copied());
    Ok(command)
}

fn own_flags(smtp_port: u16) -> Vec<String> {
    let brand = testkit::root().join("brand.json");
    vec![
        "--listen=127.0.0.1:0".to_owned(),
        format!("--brand-file={}", brand.display()),
        "--token-key=a token key of thirty-two bytes or more".to_owned(),
        format!("--smtp-port={smtp_port}"),
        // One mail for each event is what is measured.
        "--staff-mails-per-hour=0".to_owned(),
        "--s3-access-key-id=nobody".to_owned(),
        "--s3-secret-access-key=nothing".to_owned(),
    ]
}

async fn publish(nats: &Nats) -> anyhow::Result<()> {
    let client = nats.client(User::Operator).await?;
    let mut publishers = JoinSet::new();
    for _ in 0..PUBLISHERS {
        let publisher = Publisher::new(client.clone());
        publishers.spawn(async move {
            for _ in 0..EVENTS / PUBLISHERS {
                publish_one(&publisher).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(published) = publishers.join_next().await {
        published??;
    }
    Ok(())
}

async fn publish_one(publisher: &Publisher) -> anyhow::Result<()> {
    // Somebody else each time, in an inbox of their own: that gets only so many mails.
    let person = PersonId::try_from(Uuid::new_v4().simple().to_string());
    let person = person.map_err(|_| anyhow::anyhow!("that is no person"))?;
    let requested = NewsletterRequested {
        email: EmailAddress::parse(&format!("asha.{person}@example.com"))?,
        expires: OffsetDateTime::now_utc() + time::Duration::days(2),
        attribution: None,
    };
    let request = RequestId::accept(None);
    publisher
        .publish(&request, Uuid::new_v4(), &person, requested)
        .await?;
    Ok(())
}

/// Writes the mail that the backlog's events become, as the notifier does.
struct Renderer {
    context: MailContext,
    mail: Mail,
}

impl Renderer {
    fn new() -> anyhow::Result<Self> {
        let settings = Settings::try_parse_from(["notifier".to_owned()].into_iter().chain(own_flags(0)))?;
        let context = MailContext::new(&settings)?;
        let mut mails = samples::newsletter_mails(&context)?.into_iter();
        let sample = mails.find(|(name, _)| *name == SAMPLE);
        let (_, mail) = sample.with_context(|| format!("there is no sample {SAMPLE}"))?;
        Ok(Self { context, mail })
    }

    fn mail(&self) -> anyhow::Result<String> {
        let message = self
            .mail
            .clone()
            .into_message(&self.context, OffsetDateTime::now_utc())?;
        Ok(String::from_utf8(message.formatted())?)
    }
}

/// As many mails, over as many connections.
async fn send_in_loop(
    sink: &Sink,
    mail: impl Fn() -> anyhow::Result<String> + Clone + Send + 'static,
) -> anyhow::Result<f64> {
    let from: Address = "hello@oculant.example".parse()?;
    let to: Address = "asha@example.com".parse()?;
    sink.begin_anew();
    let mut loops = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (from, to, mail) = (from.clone(), to.clone(), mail.clone());
        let address = ("127.0.0.1", sink.port);
        loops.spawn(async move {
            let hello = ClientId::default();
            let mut connection =
                AsyncSmtpConnection::connect_tokio1(address, None, &hello, None, None).await?;
            for _ in 0..EVENTS / CONNECTIONS {
                connection
                    .command(commands::Mail::new(Some(from.clone()), Vec::new()))
                    .await?;
                connection.command(Rcpt::new(to.clone(), Vec::new())).await?;
                connection.command(Data).await?;
                // In one piece, as the notifier sends it. lettre's own way writes the end by itself, which costs 40 ms a mail.
                connection.command(format!("{}\r\n.\r\n", mail()?)).await?;
            }
            anyhow::Ok(connection.quit().await?)
        });
    }
    while let Some(done) = loops.join_next().await {
        done??;
    }
    sink.mails_per_second()
}

fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

fn say(line: &str) -> anyhow::Result<()> {
    Ok(writeln!(stdout(), "{line}")?)
}
