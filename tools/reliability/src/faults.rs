//! Table of faults. Each is made, then reverted.

use std::{
    fs::{self, File},
    io,
    ops::Range,
    path::Path,
    rc::Rc,
    time::Duration,
};

use anyhow::Context;
use fastrand::Rng;
use futures_util::{FutureExt, future::LocalBoxFuture};
use nix::sys::signal::Signal;
use reqwest::StatusCode;
use site_events::SITE_STREAM;
use testkit::{Broker, MailFault, S3Fault, ScriptedReply, Shape, Stack};
use tokio::time::{Instant, sleep};

use crate::clocks;

const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];
/// Length of an outage. Some outages outlast a form's timeout.
const OUTAGE_MS: Range<u64> = 500..8_000;
/// Long enough for the pauses between retries to grow.
const LONG_OUTAGE: Duration = Duration::from_secs(60);
/// Long enough for several applications.
const FULL: Duration = Duration::from_secs(5);
/// Long enough for the other brokers to elect a leader, which takes up to nine seconds.
const LEADER_OUTAGE: Duration = Duration::from_secs(12);
/// Time limit after a fault until a form of each kind is accepted.
const RECOVERY: Duration = Duration::from_secs(5);
/// Time limit from the beginning of a cluster fault, because it includes the election.
const TAKEOVER: Duration = Duration::from_secs(15);
const TURNS: usize = 20;
const FREEZE: Duration = Duration::from_millis(150);
const PAUSE: Duration = Duration::from_millis(30);
/// Steps of an unsynchronised clock and of a wrong time zone, and one that is longer than retries last.
const STEPS: [Duration; 3] = [
    Duration::from_secs(10),
    Duration::from_secs(60 * 60),
    Duration::from_secs(26 * 60 * 60),
];

type Making<'a> = LocalBoxFuture<'a, anyhow::Result<()>>;
type Make = Rc<dyn for<'a> Fn(&'a mut Stack, Rng) -> Making<'a>>;

#[derive(Clone)]
pub struct Fault {
    /// Such as `kill-contact`.
    pub name: String,
    make: Make,
    pub shape: Shape,
    /// Whether services run with libfaketime.
    pub steps_clock: bool,
    /// Time limit until a form of each kind is accepted.
    pub limit: Duration,
    /// One visitor in this many leaves during the request.
    pub vanish_every: u32,
    /// Whether requests may stay unanswered. Only the gateway's own faults can cause that.
    pub silences: bool,
    /// Whether a form must be refused; otherwise the fault had no effect.
    pub refuses: bool,
    /// Whether the latest deliveries may repeat, because the killed process had not recorded them.
    pub may_repeat: bool,
}

impl Fault {
    fn new(
        name: impl Into<String>,
        make: impl AsyncFn(&mut Stack, Rng) -> anyhow::Result<()> + 'static,
    ) -> Self {
        let make = Rc::new(make);
        Self {
            name: name.into(),
            make: Rc::new(move |stack, rng| {
                let make = make.clone();
                async move { make(stack, rng).await }.boxed_local()
            }),
            shape: Shape::default(),
            steps_clock: false,
            limit: RECOVERY,
            vanish_every: 5,
            silences: false,
            refuses: false,
            may_repeat: false,
        }
    }

    /// Makes and reverts the fault. Returns the start of the time limit: the beginning of a cluster fault, the end of
    /// any other.
    pub async fn strike(&self, stack: &mut Stack, rng: &mut Rng) -> anyhow::Result<Instant> {
        let began = Instant::now();
        (self.make)(stack, rng.fork()).await?;
        let over = Instant::now();
        if self.shape.broker != Broker::Three {
            return Ok(over);
        }
        stack.nats.wait_until_current().await?;
        Ok(began)
    }
}

pub fn all() -> Vec<Fault> {
    let of_clocks = SERVICES.map(of_clock).into();
    [mixed(Broker::One), alone(), of_clocks, of_disks(), of_cluster()].concat()
}

/// Faults for a random mix.
pub fn mixed(broker: Broker) -> Vec<Fault> {
    let of_services = SERVICES.into_iter().flat_map(of_service).collect();
    let of_brokers = match broker {
        Broker::One | Broker::Managed => of_broker(),
        Broker::Three => of_cluster(),
    };
    [of_services, of_brokers, of_store(), of_mail()].concat()
}

fn of_service(service: &'static str) -> [Fault; 3] {
    let kill = Fault::new(format!("kill-{service}"), async move |stack, mut rng| {
        stack.take_service(service)?.kill().await?;
        outage(&mut rng).await;
        stack.start_service(service)
    });
    let freeze = Fault::new(format!("freeze-{service}"), async move |stack, mut rng| {
        stack.service(service)?.signal(Signal::SIGSTOP)?;
        outage(&mut rng).await;
        stack.service(service)?.signal(Signal::SIGCONT)
    });
    // The service must stop in time and without an error.
    let terminate = Fault::new(format!("terminate-{service}"), async move |stack, _| {
        stack.stop_service(service).await?;
        stack.start_service(service)
    });
    let kill = Fault {
        may_repeat: service == "notifier",
        ..kill
    };
    let with_silence = |fault| Fault {
        silences: service == "gateway",
        ..fault
    };
    [kill, freeze, terminate].map(with_silence)
}

fn of_clock(service: &'static str) -> Fault {
    let stepped = Fault::new(format!("clock-steps-{service}"), async move |_, mut rng| {
        let step = rng.choice(STEPS).context("there are steps")?.as_secs_f64();
        clocks::set(service, if rng.bool() { step } else { -step })?;
        outage(&mut rng).await;
        clocks::set(service, 0.0)
    });
    Fault {
        steps_clock: true,
        ..stepped
    }
}

/// Faults that a mix leaves out: they do nothing to the stack, or take too long.
fn alone() -> Vec<Fault> {
    let quiet = |name| {
        Fault::new(name, async |_, mut rng| {
            outage(&mut rng).await;
            Ok(())
        })
    };
    let mail = Fault::new("mail-stop-long", async |stack, _| {
        stack.mail_server()?.fault(MailFault::Stopped);
        sleep(LONG_OUTAGE).await;
        stack.mail_server()?.fault(MailFault::None);
        Ok(())
    });
    let vanish = Fault {
        vanish_every: 2,
        ..quiet("visitors-vanish")
    };
    vec![quiet("nothing"), vanish, mail]
}

fn of_broker() -> Vec<Fault> {
    let stop = Fault::new("broker-stop", async |stack, mut rng| {
        stack.nats.servers[0].stop().await?;
        outage(&mut rng).await;
        stack.nats.start_server(0).await
    });
    let kill = Fault::new("broker-kill", async |stack, _| {
        stack.nats.servers[0].kill().await?;
        stack.nats.start_server(0).await
    });
    let kill = Fault {
        may_repeat: true,
        ..kill
    };
    let freeze = Fault::new("broker-freeze", async |stack, mut rng| {
        stack.nats.servers[0].freeze().await?;
        outage(&mut rng).await;
        stack.nats.servers[0].thaw()
    });
    // A slow broker, so that visitors leave at any point of a request.
    let throttle = Fault::new("broker-throttle", async |stack, _| {
        for _ in 0..TURNS {
            stack.nats.servers[0].freeze().await?;
            sleep(FREEZE).await;
            stack.nats.servers[0].thaw()?;
            sleep(PAUSE).await;
        }
        Ok(())
    });
    impatient(vec![stop, kill, freeze, throttle])
}

fn of_store() -> Vec<Fault> {
    let stop = Fault::new("store-stop", async |stack, mut rng| {
        stack.s3.stop().await?;
        outage(&mut rng).await;
        stack.s3.resume_from_disk().await
    });
    let misbehaving = [
        ("store-hold-answers", S3Fault::HoldAnswers),
        ("store-slow", S3Fault::Slow(20_000)),
        ("store-cut-upload", S3Fault::CutUploadAfter(1_000)),
        ("store-fail-after-storing", S3Fault::FailAfterStoring),
        ("store-unavailable", S3Fault::Unavailable),
    ];
    let misbehaving = misbehaving.map(|(name, fault)| {
        Fault::new(name, async move |stack, mut rng| {
            stack.s3.fault(fault);
            outage(&mut rng).await;
            stack.s3.fault(S3Fault::None);
            Ok(())
        })
    });
    impatient([vec![stop], misbehaving.into()].concat())
}

fn of_mail() -> Vec<Fault> {
    let refused_recipient = ScriptedReply::ToRecipient("450 4.3.2 Not now");
    let refused_content = ScriptedReply::ToContent("451 4.3.0 Not now");
    let local_error = ScriptedReply::ToContent("451 Local error in processing");
    let misbehaving = [
        ("mail-refuse-recipients", MailFault::Each(refused_recipient)),
        ("mail-refuse-contents", MailFault::Each(refused_content)),
        ("mail-local-error", MailFault::Each(local_error)),
        ("mail-hang", MailFault::Each(ScriptedReply::Hang)),
        ("mail-hang-up", MailFault::Each(ScriptedReply::HangUp)),
        ("mail-stop", MailFault::Stopped),
    ];
    let misbehaving = misbehaving.map(|(name, fault)| {
        Fault::new(name, async move |stack, mut rng| {
            stack.mail_server()?.fault(fault);
            outage(&mut rng).await;
            stack.mail_server()?.fault(MailFault::None);
            Ok(())
        })
    });
    let receiver = Fault::new("receiver-unavailable", async |stack, mut rng| {
        stack.receiver.answer(StatusCode::SERVICE_UNAVAILABLE);
        outage(&mut rng).await;
        stack.receiver.answer(StatusCode::NO_CONTENT);
        Ok(())
    });
    [vec![receiver], misbehaving.into()].concat()
}

fn of_disks() -> Vec<Fault> {
    // After the disk has room again, the broker is restarted, as its liveness probe would do.
    let broker = Fault::new("disk-broker-full", async |stack, _| {
        full_for_a_while(&stack.nats.servers[0].disk()).await?;
        stack.nats.servers[0].kill().await?;
        stack.nats.start_server(0).await
    });
    let spool = Fault::new("disk-spool-full", async |stack, _| {
        full_for_a_while(&stack.spool).await
    });
    let full = |fault| Fault {
        refuses: true,
        shape: Shape {
            small_disks: true,
            ..Shape::default()
        },
        ..fault
    };
    [broker, spool].map(full).into()
}

async fn full_for_a_while(folder: &Path) -> anyhow::Result<()> {
    let path = folder.join("filler");
    let mut filler = File::create(&path)?;
    // The copy fails once the disk is full.
    let _full = io::copy(&mut io::repeat(0), &mut filler);
    sleep(FULL).await;
    Ok(fs::remove_file(path)?)
}

/// Faults of one of three brokers. The other two must continue.
fn of_cluster() -> Vec<Fault> {
    let of_three = |fault| Fault {
        limit: TAKEOVER,
        shape: Shape {
            broker: Broker::Three,
            ..Shape::default()
        },
        ..fault
    };
    let faults = impatient([of_leader(), of_any_of_three()].concat());
    faults.into_iter().map(of_three).collect()
}

fn of_leader() -> Vec<Fault> {
    let kill = Fault::new("cluster-leader-kill", async |stack, _| {
        let leader = stack.nats.leader_of(SITE_STREAM).await?;
        stack.nats.servers[leader].kill().await?;
        sleep(LEADER_OUTAGE).await;
        stack.nats.start_server(leader).await
    });
    let freeze = Fault::new("cluster-leader-freeze", async |stack, _| {
        let leader = stack.nats.leader_of(SITE_STREAM).await?;
        stack.nats.servers[leader].freeze().await?;
        sleep(LEADER_OUTAGE).await;
        stack.nats.servers[leader].thaw()
    });
    // The leader reaches clients, but not the other brokers.
    let cut_off = Fault::new("cluster-leader-cut-off", async |stack, _| {
        let leader = stack.nats.leader_of(SITE_STREAM).await?;
        stack.nats.cut_off(leader)?;
        sleep(LEADER_OUTAGE).await;
        stack.nats.reconnect(leader)
    });
    vec![kill, freeze, cut_off]
}

fn of_any_of_three() -> Vec<Fault> {
    let disk_wiped = Fault::new("cluster-disk-wiped", async |stack, mut rng| {
        let any = rng.usize(0..stack.nats.servers.len());
        stack.nats.servers[any].kill().await?;
        stack.nats.servers[any].wipe()?;
        // Replacing a disk takes a while. A server that returns empty at once would delay the election.
        sleep(LEADER_OUTAGE).await;
        stack.nats.start_server(any).await
    });
    let rolling_restart = Fault::new("cluster-rolling-restart", async |stack, _| {
        for server in 0..stack.nats.servers.len() {
            stack.nats.servers[server].stop().await?;
            stack.nats.start_server(server).await?;
            stack.nats.wait_until_current().await?;
        }
        Ok(())
    });
    vec![disk_wiped, rolling_restart]
}

/// More visitors leave, because slow brokers and stores prolong the awaits where leaving can do harm.
fn impatient(faults: Vec<Fault>) -> Vec<Fault> {
    let more_leave = |fault| Fault {
        vanish_every: 3,
        ..fault
    };
    faults.into_iter().map(more_leave).collect()
}

async fn outage(rng: &mut Rng) {
    sleep(Duration::from_millis(rng.u64(OUTAGE_MS))).await;
}
