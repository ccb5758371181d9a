//! One run: load on a stack of its own, faults meanwhile, and the books afterwards.

use std::{ops::RangeInclusive, time::Duration};

use anyhow::Context;
use fastrand::Rng;
use testkit::{Keep, Mail, Ports, Shape, Stack, User, eventually, pass_flags};
use tokio::{
    process::Command,
    time::{Instant, sleep},
};

use crate::{
    awaited_deliveries::AwaitedDeliveries,
    books::{Balance, balance},
    faults::Fault,
    holdings::Holdings,
    ledger::Ledger,
    limits::max_recovery,
    memory::{Growth, MemoryWatch},
    plan::{Plan, Strikes},
    spool::files_in,
    visitors::Visitors,
};

/// Load before the first fault and after the last.
const MARGIN: Duration = Duration::from_secs(2);
/// The longest pause between two faults.
const PAUSE_MS: u64 = 2_000;
/// After how long a form of each kind must have been accepted, before a run is given up.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(60);
/// After how long a mail that was waited for must have been taken: longer than the ack wait, after which an event comes
/// again that was handed out when the fault struck.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(90);
/// How long the last upload may take after the last answer: longer than a store may take over one.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the backlog may take once the load is over.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(300);
/// How many faults are named beside a promise that was broken.
const TOLD_STRIKES: usize = 4;

/// What came of a run.
#[derive(Default)]
pub struct Outcome {
    /// The books.
    pub balance: Balance,
    /// The longest time in which somebody tried and no submission of that kind was accepted.
    pub longest_stall: Slowest,
    /// The same of those times that a fault of the cluster's began: others are as long as the fault.
    pub longest_stall_of_cluster: Slowest,
    /// From the last answer to a visitor until everything stored was delivered.
    pub backlog: Duration,
    /// What was seen while faults struck.
    pub seen: Seen,
}

/// What was seen while faults struck.
#[derive(Default)]
pub struct Seen {
    /// The longest time from the end of a fault until each kind of form was accepted again.
    pub slowest_recovery: Slowest,
    /// The longest time from the end of a fault until a mail was taken that it had kept back.
    pub slowest_delivery: Slowest,
    /// The faults, in the order of time.
    pub strikes: Vec<Strike>,
    /// From when to when somebody was killed who knew what notifiers had handed over.
    pub kills: Vec<RangeInclusive<Instant>>,
    /// Memory of the services, in a soak.
    pub growth: Vec<Growth>,
}

impl Seen {
    /// The longest stall of those whose fault is meant.
    fn longest_stall(&self, ledger: &Ledger, is_meant: impl Fn(Fault) -> bool) -> Slowest {
        let mut longest = Slowest::default();
        for stall in ledger.stalls() {
            let strike = self.strike_before(stall.since + stall.took);
            if let Some(strike) = strike.filter(|strike| is_meant(strike.fault)) {
                longest.note(stall.took, strike);
            }
        }
        longest
    }

    /// The last fault that had begun by then.
    fn strike_before(&self, moment: Instant) -> Option<&Strike> {
        let began = self.strikes.partition_point(|strike| strike.began < moment);
        self.strikes[..began].last()
    }

    /// How long before that the last faults began, in words for the end of a sentence: what one did may show under the next.
    pub fn since_faults(&self, moment: Instant) -> String {
        let began = self.strikes.partition_point(|strike| strike.began < moment);
        let last = self.strikes[..began].iter().rev().take(TOLD_STRIKES);
        last.map(|strike| {
            let later = (moment - strike.began).as_secs_f64();
            format!(", {later:.1} s after {} began", strike.fault)
        })
        .collect()
    }
}

/// A fault that was made.
#[derive(Debug, Clone, Copy)]
pub struct Strike {
    /// When it began.
    pub began: Instant,
    /// What it was.
    pub fault: Fault,
    /// How long the cluster took to elect another leader, where it had to.
    pub election: Duration,
    /// How long everything may take to go on after it.
    pub limit: Duration,
}

/// What took the longest.
#[derive(Debug, Default)]
pub struct Slowest {
    /// How long.
    pub took: Duration,
    /// What was over its limit by the most, if anything was.
    pub late: Option<Late>,
}

/// What took longer than it may.
#[derive(Debug)]
pub struct Late {
    /// How long.
    pub took: Duration,
    /// After what.
    pub after: Strike,
}

impl Slowest {
    /// Something took so long after this fault.
    pub fn note(&mut self, took: Duration, after: &Strike) {
        self.took = self.took.max(took);
        let excess = |late: &Late| late.took - late.after.limit;
        if took > after.limit {
            let late = Late { took, after: *after };
            self.late = self.late.take().into_iter().chain([late]).max_by_key(excess);
        }
    }
}

/// Runs a row; all choices follow from the seed.
///
/// # Errors
///
/// If the stack does not start, a fault cannot be made, or nothing is accepted or delivered after one for a minute.
pub async fn run(plan: &Plan, seed: u64) -> anyhow::Result<Outcome> {
    // Visitors who insist would meet the limit of an address, which is not what is tried here.
    let settings = [("LOG", "warn"), ("RATE_BURST", "1000")];
    let shape = Shape {
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..plan.shape
    };
    let mut stack = Stack::start_as(shape, Ports::free()?, &settings).await?;
    if let Some(ack_wait) = plan.ack_wait {
        shorten_the_ack_wait(&mut stack, ack_wait).await?;
    }
    let visitors = Visitors::start(&stack, seed, plan.behaviour)?;
    sleep(MARGIN).await;
    let seen = strike(plan, seed, &mut stack, &visitors).await?;
    sleep(MARGIN).await;
    let ledger = visitors.leave().await?;
    let backlog = settle(&stack).await?;
    all_run(&mut stack)?;
    sweep(&stack).await?;
    let holdings = Holdings::count(&stack).await?;
    stack.stop().await?;
    Ok(Outcome {
        balance: balance(&ledger, &holdings),
        longest_stall: seen.longest_stall(&ledger, |_| true),
        longest_stall_of_cluster: seen.longest_stall(&ledger, |fault| matches!(fault, Fault::Cluster(_))),
        backlog,
        seen,
    })
}

/// Those that take events are started anew: they go by the ack wait that they find.
async fn shorten_the_ack_wait(stack: &mut Stack, ack_wait: Duration) -> anyhow::Result<()> {
    stack.nats.shorten_the_ack_wait(ack_wait).await?;
    for name in stack.names() {
        if name.starts_with("notifier") {
            stack.stop_service(name).await?;
            stack.start_service(name)?;
        }
    }
    Ok(())
}

/// Makes the faults, and waits after each until the site has recovered.
async fn strike(plan: &Plan, seed: u64, stack: &mut Stack, visitors: &Visitors) -> anyhow::Result<Seen> {
    let mut rng = Rng::with_seed(seed);
    let mut deliveries = AwaitedDeliveries::default();
    let memory = MemoryWatch::start();
    let mut seen = Seen::default();
    let begun = Instant::now();
    for struck in 0.. {
        memory.follow(stack);
        sleep(Duration::from_millis(rng.u64(0..PAUSE_MS))).await;
        let Some(fault) = plan.next_fault(struck, begun.elapsed(), &mut rng) else {
            break;
        };
        all_run(stack)?;
        let began = Instant::now();
        let over = fault.strike(stack, &mut rng).await?;
        let limit = max_recovery(plan.shape.broker, over.election);
        let strike = Strike {
            began,
            fault,
            election: over.election,
            limit,
        };
        seen.strikes.push(strike);
        deliveries.orphaned_until = over.orphaned_until.or(deliveries.orphaned_until);
        let recovering = async {
            tokio::try_join!(
                acceptance(visitors, over.back),
                delivery(stack, visitors, &mut deliveries, fault, began..=over.back)
            )
        };
        let (accepted, delivered) = recovering.await.with_context(|| format!("after {fault}"))?;
        seen.slowest_recovery.note(accepted, &strike);
        seen.slowest_delivery.note(delivered, &strike);
        seen.kills.extend(over.killed.clone());
        over.mend(stack).await?;
        if matches!(fault, Fault::Cluster(_)) {
            // Until its servers agree again, one that leads no more may have handed out anything.
            deliveries.orphaned_until = Some(Instant::now());
        }
    }
    if matches!(plan.strikes, Strikes::Soak) {
        seen.growth = memory.growth();
    }
    Ok(seen)
}

/// Nothing ends but by a fault: where two share the work, nobody would miss the one that did, and the next fault might start it
/// again.
fn all_run(stack: &mut Stack) -> anyhow::Result<()> {
    stack.ended().map_or(Ok(()), |ended| Err(anyhow::anyhow!(ended)))
}

async fn acceptance(visitors: &Visitors, back: Instant) -> anyhow::Result<Duration> {
    let what = "a form of each kind is accepted";
    eventually(what, RECOVERY_TIMEOUT, async || visitors.recovery(back)).await
}

async fn delivery(
    stack: &Stack,
    visitors: &Visitors,
    deliveries: &mut AwaitedDeliveries,
    fault: Fault,
    lasted: RangeInclusive<Instant>,
) -> anyhow::Result<Duration> {
    let mail_server = stack.mail_server()?;
    eventually(
        "a mail or webhook is taken that was waited for",
        DELIVERY_TIMEOUT,
        async || {
            let acceptances = visitors.acceptances_after(deliveries.acceptances);
            deliveries.read(&acceptances, &mail_server.accepted_after(deliveries.mails));
            deliveries.read_webhooks(&stack.receiver.taken_after(deliveries.webhooks));
            deliveries.first_taken_after(lasted.clone(), |delivery| fault.shows_in(delivery))
        },
    )
    .await
}

/// Waits until the broker has nothing more to hand out, and tells how long that took. What was not delivered by then never
/// will be.
async fn settle(stack: &Stack) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    uploads_end(stack).await;
    eventually("the backlog is gone", SETTLE_TIMEOUT, async || {
        (stack.nats.backlog().await.ok()? == 0).then_some(())
    })
    .await?;
    Ok(begun.elapsed())
}

/// Waits until no résumé is on its way any more: those of visitors who left, too, are stored or given up. What lies in the spool
/// afterwards was left behind.
async fn uploads_end(stack: &Stack) {
    let ended = eventually("uploads end", UPLOAD_TIMEOUT, async || {
        // A file may go while they are listed.
        let files = files_in(stack.spool()).ok()?;
        files.is_empty().then_some(())
    });
    let _told_by_the_books = ended.await;
}

/// Removes the orphans, as the job in the cluster does; no upload is under way any more.
async fn sweep(stack: &Stack) -> anyhow::Result<()> {
    let mut sweep = Command::new(stack.programs().join("sitectl"));
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

#[cfg(test)]
mod tests {
    use nix::sys::signal::Signal;

    use super::*;

    /// The second of two, whose work the first goes on with.
    #[tokio::test]
    async fn a_process_that_ends_by_itself_is_told() -> anyhow::Result<()> {
        let shape = Shape {
            mail: Mail::Scripted,
            ..Plan::mixed().shape
        };
        let mut stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
        all_run(&mut stack)?;
        stack.service("notifier-2")?.signal(Signal::SIGKILL)?;
        let told = eventually("it is told", RECOVERY_TIMEOUT, async || all_run(&mut stack).err()).await?;
        assert!(told.to_string().starts_with("notifier-2 ended"), "{told}");
        Ok(())
    }
}
