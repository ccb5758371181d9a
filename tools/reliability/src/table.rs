//! The table: a row for each run, and in words what did not hold.

use std::time::Duration;

use testkit::Broker;

use crate::{
    books::{Balance, Losses},
    faults::Fault,
    limits::MAX_RECOVERY,
    memory::Growth,
    plan::Plan,
    repeats::{Repeat, unexplained},
    run::Outcome,
};

/// Head of the table, as Markdown.
pub const HEAD: &str = "| fault | accepted | refused | unanswered | stored | delivered | repeated | orphaned | lost | longest stall s | recovery s | first mail s | backlog s |\n\
    |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|";

/// How soon everything is delivered: an event that was handed out when the broker went down comes again after its ack
/// wait, a minute.
const MAX_BACKLOG: Duration = Duration::from_secs(90);
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
        balance.left + balance.unanswered,
        balance.stored,
        balance.delivered,
        balance.repeats.len(),
        balance.orphaned.len(),
        balance.losses.len(),
        outcome.longest_stall.took.as_secs_f64(),
        outcome.seen.slowest_recovery.took.as_secs_f64(),
        outcome.seen.slowest_delivery.took.as_secs_f64(),
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
    if !balance.orphaned.is_empty() {
        broken.push(format!("left behind by the sweep:\n{}", balance.orphaned));
    }
    let repeats = unexplained(&balance.repeats, &outcome.seen.kills);
    let told = |repeat: &&Repeat| format!("{repeat}{}", outcome.seen.since_faults(repeat.again));
    let repeats: Losses = repeats.iter().map(told).collect();
    if !repeats.is_empty() {
        broken.push(format!("repeated, and not because of a kill:\n{repeats}"));
    }
    if balance.unanswered > 0 && !plan.faults.iter().any(|fault| fault.silences()) {
        broken.push(format!(
            "{} got no answer, and nobody silenced the gateway",
            balance.unanswered
        ));
    }
    if balance.accepted < plan.min_accepted {
        let (accepted, expected) = (balance.accepted, plan.min_accepted);
        broken.push(format!("{accepted} accepted, of {expected} at the least"));
    }
    broken.extend(outcome.seen.growth.iter().filter_map(too_much_memory));
    broken.extend(not_made(&plan.faults, balance).map(str::to_owned));
    broken
}

/// Why a row says nothing: its fault did not do what it must.
fn not_made(faults: &[Fault], balance: &Balance) -> Option<&'static str> {
    match faults {
        [fault] if fault.refuses() && balance.refused == 0 => Some("no form was refused"),
        [Fault::VisitorsVanish] if balance.left_applications == 0 => {
            Some("nobody left in the middle of an application")
        }
        _ => None,
    }
}

fn too_much_memory(growth: &Growth) -> Option<String> {
    let Some((third, fifteenth)) = growth.ends() else {
        return Some(format!("memory is not known: {growth:?}"));
    };
    let grows = fifteenth * 100 > third * (100 + MAX_GROWTH_PERCENT);
    grows.then(|| format!("memory grows: {growth:?}"))
}

/// How long the elections took that took longer than a fault of one broker may, if any did: what follows them has longer, too.
pub fn long_elections(outcome: &Outcome) -> Option<String> {
    let elections = outcome.seen.strikes.iter().map(|strike| strike.election);
    let long: Vec<String> = elections
        .filter(|election| *election > MAX_RECOVERY)
        .map(|election| format!("{:.1} s", election.as_secs_f64()))
        .collect();
    (!long.is_empty()).then(|| format!("elections of another leader: {}", long.join(", ")))
}

/// What did not go on soon enough, a sentence each. A machine that is busy with other things says nothing of that.
pub fn too_slow(plan: &Plan, outcome: &Outcome) -> Vec<String> {
    let seen = &outcome.seen;
    let mut measured = vec![
        ("recovery", &seen.slowest_recovery),
        ("first mail", &seen.slowest_delivery),
    ];
    if plan.shape.broker == Broker::Three {
        measured.push(("longest stall", &outcome.longest_stall_of_cluster));
    }
    let late = measured.into_iter().filter_map(|(what, slowest)| {
        let late = slowest.late.as_ref()?;
        let (took, limit) = (late.took.as_secs_f64(), late.after.limit.as_secs_f64());
        Some(format!(
            "{what}: {took:.1} s after {}, of {limit:.1} s at the most",
            late.after.fault
        ))
    });
    let backlog = outcome.backlog;
    let backlog = (backlog > MAX_BACKLOG).then(|| format!("backlog: {:.1} s", backlog.as_secs_f64()));
    late.chain(backlog).collect()
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::{
        limits::max_recovery,
        repeats::repeats,
        run::{Seen, Slowest, Strike},
    };

    fn plan(broker: Broker) -> Plan {
        let mut plan = Plan::mixed();
        plan.shape.broker = broker;
        plan
    }

    fn strike(limit: Duration) -> Strike {
        Strike {
            began: Instant::now(),
            fault: Fault::Nothing,
            election: Duration::ZERO,
            limit,
        }
    }

    /// What is too slow where all that is measured took so many seconds.
    fn slow_after(broker: Broker, seconds: u64) -> Vec<String> {
        let took = Duration::from_secs(seconds);
        let slowest = || {
            let mut slowest = Slowest::default();
            slowest.note(took, &strike(max_recovery(broker, Duration::ZERO)));
            slowest
        };
        let outcome = Outcome {
            longest_stall_of_cluster: slowest(),
            backlog: took,
            seen: Seen {
                slowest_recovery: slowest(),
                slowest_delivery: slowest(),
                ..Seen::default()
            },
            ..Outcome::default()
        };
        let told = too_slow(&plan(broker), &outcome);
        told.iter()
            .filter_map(|told| Some(told.split_once(':')?.0.to_owned()))
            .collect()
    }

    #[test]
    fn recovery_and_the_first_mail_have_a_limit_on_one_broker_and_on_three_and_the_backlog_everywhere() {
        let (one, three) = (Broker::One, Broker::Three);
        assert!(slow_after(one, 5).is_empty());
        assert_eq!(slow_after(one, 6), ["recovery", "first mail"]);
        assert_eq!(slow_after(one, 90), ["recovery", "first mail"]);
        assert_eq!(slow_after(one, 91), ["recovery", "first mail", "backlog"]);
        assert!(slow_after(three, 10).is_empty());
        assert_eq!(slow_after(three, 11), ["recovery", "first mail", "longest stall"]);
        assert_eq!(
            slow_after(three, 91),
            ["recovery", "first mail", "longest stall", "backlog"]
        );
    }

    #[test]
    fn of_three_brokers_a_long_election_is_allowed_for_and_nothing_else() {
        let seconds = Duration::from_secs;
        assert_eq!(max_recovery(Broker::Three, seconds(4)), seconds(10));
        assert_eq!(max_recovery(Broker::Three, seconds(9)), seconds(14));
        let mut slowest = Slowest::default();
        slowest.note(seconds(12), &strike(seconds(14)));
        assert!(slowest.late.is_none());
        slowest.note(seconds(11), &strike(seconds(10)));
        slowest.note(seconds(15), &strike(seconds(14)));
        slowest.note(seconds(12), &strike(seconds(10)));
        assert_eq!(slowest.took, seconds(15));
        assert_eq!(
            slowest.late.map(|late| late.took),
            Some(seconds(12)),
            "the worst of them"
        );
    }

    fn broken(balance: Balance, seen: Seen) -> Vec<String> {
        let outcome = Outcome {
            balance,
            seen,
            ..Outcome::default()
        };
        broken_promises(&plan(Broker::One), &outcome)
    }

    #[test]
    fn nothing_is_broken_where_nothing_is_wrong() {
        assert!(broken(Balance::default(), Seen::default()).is_empty());
    }

    #[test]
    fn losses_orphans_and_too_few_submissions_are_told() {
        let balance = Balance {
            losses: ["number 7 was accepted and is not stored".to_owned()]
                .into_iter()
                .collect(),
            orphaned: ["the spool's file 4".to_owned()].into_iter().collect(),
            ..Balance::default()
        };
        let told = broken(balance, Seen::default());
        assert_eq!(
            told,
            [
                "lost or wrong:\n  number 7 was accepted and is not stored\n",
                "left behind by the sweep:\n  the spool's file 4\n"
            ]
        );
        let mut plan = plan(Broker::One);
        plan.min_accepted = 1;
        let told = broken_promises(&plan, &Outcome::default());
        assert_eq!(told, ["0 accepted, of 1 at the least"]);
    }

    #[test]
    fn a_fault_that_was_not_made_is_told() {
        let told = |fault: &str, refused, left_applications| {
            let row = Plan::all().into_iter().find(|plan| plan.name == fault);
            let balance = Balance {
                refused,
                left_applications,
                ..Balance::default()
            };
            not_made(&row.expect(fault).faults, &balance).is_some()
        };
        assert!(told("disk-spool-full", 0, 1) && !told("disk-spool-full", 1, 0));
        assert!(told("visitors-vanish", 1, 0) && !told("visitors-vanish", 0, 1));
        assert!(!told("nothing", 0, 0) && !told("soak", 0, 0));
    }

    #[test]
    fn only_long_elections_are_told() {
        let seen = Seen {
            strikes: [4_000, 7_100, 9_000]
                .map(|ms| Strike {
                    election: Duration::from_millis(ms),
                    ..strike(Duration::ZERO)
                })
                .into(),
            ..Seen::default()
        };
        let outcome = Outcome {
            seen,
            ..Outcome::default()
        };
        let told = long_elections(&outcome);
        assert_eq!(told.as_deref(), Some("elections of another leader: 7.1 s, 9.0 s"));
        assert_eq!(long_elections(&Outcome::default()), None);
    }

    #[test]
    fn whoever_waits_is_answered_unless_the_gateway_is_silenced() {
        let outcome = |left, unanswered| Outcome {
            balance: Balance {
                left,
                unanswered,
                ..Balance::default()
            },
            ..Outcome::default()
        };
        let row = |name| {
            Plan::all()
                .into_iter()
                .find(|plan| plan.name == name)
                .expect(name)
        };
        for (name, left, unanswered, expected) in [
            ("kill-contact", 0, 1, false),
            ("kill-contact", 1, 0, true),
            ("broker-freeze", 5, 0, true),
            ("broker-freeze", 5, 1, false),
            ("kill-gateway", 0, 1, true),
            ("soak", 0, 1, true),
        ] {
            let broken = broken_promises(&row(name), &outcome(left, unanswered));
            let is_fine = broken.iter().all(|what| !what.contains("no answer"));
            assert_eq!(is_fine, expected, "{name}: {broken:?}");
        }
    }

    #[test]
    fn a_repeat_is_told_by_its_id_unless_a_kill_accounts_for_it() {
        let taken = Instant::now();
        let balance = || Balance {
            repeats: repeats("mail 1.a", &[taken, taken + Duration::from_secs(60)]).collect(),
            ..Balance::default()
        };
        let killed = |at| Seen {
            kills: vec![at..=at],
            ..Seen::default()
        };
        assert!(broken(balance(), killed(taken + Duration::from_millis(500))).is_empty());
        let struck = |fault, second| Strike {
            began: taken + Duration::from_secs(second),
            fault,
            election: Duration::ZERO,
            limit: Duration::ZERO,
        };
        let seen = Seen {
            strikes: vec![
                struck(Fault::Receiver, 20),
                struck(Fault::VisitorsVanish, 50),
                struck(Fault::Nothing, 70),
            ],
            ..killed(taken + Duration::from_secs(30))
        };
        assert_eq!(
            broken(balance(), seen),
            [
                "repeated, and not because of a kill:\n  mail 1.a was taken again 60.0 s after it was, \
              10.0 s after visitors-vanish began, 40.0 s after receiver-unavailable began\n"
            ]
        );
    }

    #[test]
    fn memory_that_grows_and_memory_that_is_not_known_are_told() {
        let growth = |third_minute, fifteenth_minute| Seen {
            growth: vec![Growth {
                service: "careers",
                minutes: vec![third_minute, fifteenth_minute],
            }],
            ..Seen::default()
        };
        for (third, fifteenth, expected) in [
            (Some(100), Some(110), ""),
            (Some(100), Some(111), "memory grows"),
            (None, Some(100), "memory is not known"),
            (Some(100), None, "memory is not known"),
            (None, None, "memory is not known"),
        ] {
            let told = broken(Balance::default(), growth(third, fifteenth));
            let told = told.first().map(String::as_str).unwrap_or_default();
            let begin = told.split_once(':').unwrap_or_default().0;
            assert_eq!(begin, expected, "{third:?}, {fifteenth:?}");
        }
    }
}
