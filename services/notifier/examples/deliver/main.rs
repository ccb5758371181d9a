//! How fast a backlog of events becomes mails, against the least that it could cost: a bare
//! loop that hands the same messages to the same server over as many connections. Run by
//! `cargo xtask bench deliver`. With the argument `telemetry`, what sending telemetry takes of that; run by
//! `cargo xtask measure telemetry`.

mod sink;

use std::{
    env,
    io::{Write, stdout},
    time::Duration,
};

use anyhow::Context;
use lettre::{
    Address,
    transport::smtp::{
        client::AsyncSmtpConnection,
        commands::{Data, Mail, Rcpt},
        extension::ClientId,
    },
};
use site_broker::Publisher;
use site_events::event::NewsletterRequested;
use site_service::RequestId;
use testkit::{ChildProcess, Discard, Nats, User, measure, pass_flags};
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
/// How often each of the two is measured, in turns.
const TURNS: usize = 3;
/// What the notifier has for one channel.
const CONNECTIONS: usize = 4;
/// What a mail server that stores a mail before it takes it needs for that.
const STORING: Duration = Duration::from_millis(5);
/// The least that the notifier must reach of the bare loop's rate.
const MIN_SHARE: f64 = 0.8;
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
    say("server       bare loop/s  notifier/s  share  CPU per mail: notifier  NATS  memory after warm-up")?;
    let mut failures = Vec::new();
    // Against a server that does nothing, the two rates say what a mail costs besides: no bar for that.
    for (server, takes, least_share) in [
        ("immediate", Duration::ZERO, 0.0),
        ("5 ms a mail", STORING, MIN_SHARE),
    ] {
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        let sink = Sink::start(takes)?;
        for _ in 0..TURNS {
            ours.push(drain(nats, &sink, &[]).await?);
            bare.push(loop_bare(&sink).await?);
        }
        let bare = measure::median(bare);
        let rate = measure::median(ours.iter().map(|drained| drained.mails_per_second).collect());
        let cpu = |pick: fn(&Drained) -> f64| measure::median(ours.iter().map(pick).collect());
        let (own, of_nats) = (
            cpu(|drained| drained.cpu_micros),
            cpu(|drained| drained.nats_cpu_micros),
        );
        let memory = |pick: fn(&Drained) -> u64| ours.iter().map(pick);
        let least = memory(|drained| drained.least_kb).min().unwrap_or_default();
        let most = memory(|drained| drained.most_kb).max().unwrap_or_default();
        let growth = memory(|drained| drained.most_kb - drained.least_kb).max();
        let share = rate / bare;
        say(&format!(
            "{server:<12} {bare:>11.0} {rate:>11.0} {:>5.0}% {own:>18.0} µs {of_nats:>6.0} µs  {:.1} to {:.1} MB",
            share * 100.0,
            megabytes(least),
            megabytes(most),
        ))?;
        if least_share == 0.0 {
            say("             (no bar: see docs/performance.md)")?;
        }
        if share < least_share {
            failures.push(format!("{server}: less than {:.0}%", least_share * 100.0));
        }
        if growth.unwrap_or_default() > MAX_GROWTH_KB {
            failures.push(format!("{server}: memory grew"));
        }
    }
    anyhow::ensure!(failures.is_empty(), "{}", failures.join("; "));
    Ok(())
}

/// What was seen while the notifier worked a backlog off.
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
    let brand = testkit::root().join("brand.json");
    let own = [
        "--listen=127.0.0.1:0".to_owned(),
        format!("--brand-file={}", brand.display()),
        "--token-key=a token key of thirty-two bytes or more".to_owned(),
        format!("--smtp-port={smtp_port}"),
        // One mail for each event is what is measured.
        "--staff-mails-per-hour=0".to_owned(),
        "--s3-access-key-id=nobody".to_owned(),
        "--s3-secret-access-key=nothing".to_owned(),
    ];
    let flags = [nats.flags(User::Notifier), own.to_vec()].concat();
    pass_flags(command.as_std_mut(), &flags);
    command.envs(more.iter().copied());
    Ok(command)
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

/// The same message as often, over as many connections.
async fn loop_bare(sink: &Sink) -> anyhow::Result<f64> {
    let from: Address = "hello@oculant.example".parse()?;
    let to: Address = "asha@example.com".parse()?;
    // In one piece, as the notifier sends it. lettre's own way writes the end by itself, which costs 40 ms a mail.
    let content = format!("{}\r\n.\r\n", String::from_utf8(sink.last())?);
    sink.begin_anew();
    let mut loops = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (from, to, content) = (from.clone(), to.clone(), content.clone());
        let address = ("127.0.0.1", sink.port);
        loops.spawn(async move {
            let hello = ClientId::default();
            let mut connection =
                AsyncSmtpConnection::connect_tokio1(address, None, &hello, None, None).await?;
            for _ in 0..EVENTS / CONNECTIONS {
                connection
                    .command(Mail::new(Some(from.clone()), Vec::new()))
                    .await?;
                connection.command(Rcpt::new(to.clone(), Vec::new())).await?;
                connection.command(Data).await?;
                connection.command(&content).await?;
            }
            connection.quit().await
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
