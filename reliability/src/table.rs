//! The table: a row for each run, and in words what did not hold.

use std::time::Duration;

use testkit::Broker;

use crate::{books::Losses, memory::Growth, plan::Plan, repeats::unexplained, run::Outcome};

/// Head of the table, as Markdown.
pub const HEAD: &str = "| fault | accepted | refused | unanswered | stored | delivered | repeated | orphaned | lost | longest stall s | recovery s | first mail s | backlog s |\n\
    |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// How soon submissions are accepted, and mails delivered, once what was away is back.
const MAX_RECOVERY: Duration = Duration::from_secs(5);
/// How soon they are after a leader is lost: the others have to find another one.
const MAX_STALL_OF_THREE: Duration = Duration::from_secs(10);
/// How much memory may grow from the third minute of a soak to its fifteenth, in per cent.
const MAX_GROWTH_PERCENT: u64 = 10;

/// A run's row.
pub fn row(plan: &Plan, outcome: &Outcome) -> String {
    let balance = &outcome.balance;
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
        plan.name,
        balance.accepted,
        balance.refused,
        balance.unanswered,
        balance.stored,
        balance.delivered,
        balance.repeats.len(),
        balance.orphaned,
        balance.losses.len(),
        outcome.longest_stall.as_secs_f64(),
        outcome.seen.slowest_recovery.as_secs_f64(),
        outcome.seen.slowest_delivery.as_secs_f64(),
        outcome.backlog.as_secs_f64(),
    )
}

/// What did not hold, a sentence each.
pub fn broken_promises(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let balance = &outcome.balance;
    let mut broken = Vec::new();
    if !balance.losses.is_empty() {
        broken.push(format!("lost or wrong:\n{}", balance.losses));
    }
    if balance.orphaned > 0 {
        broken.push(format!("{} résumés that no event names", balance.orphaned));
    }
    let repeats = unexplained(&balance.repeats, &outcome.seen.notifier_kills);
    let repeats: Losses = repeats.iter().map(ToString::to_string).collect();
    if !repeats.is_empty() {
        broken.push(format!("repeated, and not because of a kill:\n{repeats}"));
    }
    if balance.accepted < plan.min_accepted {
        let (accepted, expected) = (balance.accepted, plan.min_accepted);
        broken.push(format!("{accepted} accepted, of {expected} at the least"));
    }
    broken.extend(outcome.seen.growth.iter().filter_map(too_much_memory));
    broken
}

fn too_much_memory(growth: &Growth) -> Option<String> {
    let (Some(third), Some(fifteenth)) = (growth.third_minute, growth.fifteenth_minute) else {
        return Some(format!("memory is not known: {growth:?}"));
    };
    let grows = fifteenth * 100 > third * (100 + MAX_GROWTH_PERCENT);
    grows.then(|| format!("memory grows: {growth:?}"))
}

/// What did not go on soon enough, a sentence each. A machine that is busy with other things says nothing of that.
pub fn too_slow(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let limits = match plan.shape.broker {
        Broker::One => vec![
            ("recovery", outcome.seen.slowest_recovery, MAX_RECOVERY),
            ("first mail", outcome.seen.slowest_delivery, MAX_RECOVERY),
        ],
        Broker::Three => vec![("longest stall", outcome.longest_stall, MAX_STALL_OF_THREE)],
    };
    let slow = limits.into_iter().filter(|(_, took, limit)| took > limit);
    slow.map(|(what, took, limit)| {
        let (took, limit) = (took.as_secs_f64(), limit.as_secs_f64());
        format!("{what}: {took:.1} s, of {limit:.0} s at the most")
    })
    .collect()
}
