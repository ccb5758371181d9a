//! The table of attacks, and what must hold in each row.

use std::{fmt::Write, time::Duration};

use clap::ValueEnum;

use super::{attack::Attack, parts::Part, seen::Seen};

/// The head of the table.
pub const HEAD: &str = "\
| attack | attempts | visits | failed | page p99 ms | message p99 ms | work p99 ms | slowest application s | failed probes | fullest part |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---|";
/// What a visitor does not notice, however quick the quiet site is.
const UNNOTICED: Duration = Duration::from_millis(50);
/// How much longer something may take than on the quiet site.
const SLOWER: u32 = 2;
/// Until an honest application must be taken.
const MAX_APPLICATION: Duration = Duration::from_secs(10);
/// What one visitor may be sent within a day of the two kinds that the attackers call for: acknowledgements of messages and of
/// applications, of each the notifier's default.
const MAX_MAILS_TO_VICTIM: usize = 2 * 10;
const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// One row of it.
pub fn row(seen: &Seen) -> String {
    let visits = &seen.visits;
    let taken = visits.pages.len() + visits.messages.len() + visits.applications.len();
    let mut row = format!(
        "| {} | {} | {taken} | {} | {} | {} | {} | {:.1} | {} |",
        name(seen.attack),
        seen.attempts,
        visits.failures.len(),
        p99(&visits.pages).as_millis(),
        p99(&visits.messages).as_millis(),
        p99(&visits.solutions).as_millis(),
        slowest(&visits.applications).as_secs_f64(),
        seen.failed_probes,
    );
    if let Some(part) = fullest(&seen.parts) {
        let mebibytes = |bytes: u64| bytes as f64 / MEBIBYTE;
        let (peak, limit) = (mebibytes(part.peak), mebibytes(part.limit));
        // Writing to memory works.
        let _written = write!(row, " {} {peak:.0} of {limit:.0} MiB |", part.name);
    }
    row
}

/// What did not hold, in sentences; the first row is the quiet one.
pub fn broken_bars(all: &[Seen]) -> Vec<String> {
    let Some(quiet) = all.first() else {
        return vec!["nothing was tried".to_owned()];
    };
    all.iter().flat_map(|seen| broken(seen, quiet)).collect()
}

fn broken(seen: &Seen, quiet: &Seen) -> Vec<String> {
    let (visits, calm) = (&seen.visits, &quiet.visits);
    let mut broken = visits.failures.clone();
    // A form for which work is asked is sent twice; how long the work takes is the visitor's machine's matter.
    let requests = if seen.attack.is_challenged() { 2 } else { 1 };
    for (what, took, usual, requests) in [
        ("a page", &visits.pages, &calm.pages, 1),
        ("a message", &visits.messages, &calm.messages, requests),
    ] {
        let (took, allowed) = (p99(took), (p99(usual) * SLOWER).max(UNNOTICED) * requests);
        if took > allowed {
            broken.push(format!("{what} took {took:?} at p99, and may take {allowed:?}"));
        }
    }
    let (forms, worked) = (
        visits.messages.len() + visits.applications.len(),
        visits.solutions.len(),
    );
    if seen.attack.is_challenged() && worked * 10 < forms * 9 {
        broken.push(format!("{worked} of {forms} forms were asked for work"));
    }
    let application = slowest(&visits.applications);
    if visits.applications.is_empty() || application > MAX_APPLICATION {
        broken.push(format!(
            "{} applications were taken, the slowest after {application:?}",
            visits.applications.len()
        ));
    }
    if seen.failed_probes > 0 {
        broken.push(format!("{} probes failed", seen.failed_probes));
    }
    for part in seen.parts.iter().filter(|part| part.peak > part.limit) {
        broken.push(format!(
            "{} had {} bytes, and may have {}",
            part.name, part.peak, part.limit
        ));
    }
    if seen.mails_to_victim > MAX_MAILS_TO_VICTIM {
        broken.push(format!("the victim was sent {} mails", seen.mails_to_victim));
    }
    let attack = name(seen.attack);
    broken
        .into_iter()
        .map(|what| format!("{attack}: {what}"))
        .collect()
}

/// The time that 99 of 100 do not exceed.
fn p99(took: &[Duration]) -> Duration {
    let mut sorted = took.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * 99).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

fn slowest(took: &[Duration]) -> Duration {
    took.iter().max().copied().unwrap_or_default()
}

fn fullest(parts: &[Part]) -> Option<&Part> {
    parts
        .iter()
        .max_by_key(|part| part.peak * 1000 / part.limit.max(1))
}

fn name(attack: Attack) -> String {
    attack
        .to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attacks::honest_visitors::Visits;

    const MS: Duration = Duration::from_millis(1);

    fn seen(attack: Attack, page: Duration, message: Duration) -> Seen {
        Seen {
            attack,
            attempts: 9,
            visits: Visits {
                pages: vec![page; 100],
                messages: vec![message; 100],
                applications: vec![MS * 900],
                solutions: Vec::new(),
                failures: Vec::new(),
            },
            parts: vec![Part::new("gateway", 100, 90), Part::new("careers", 100, 99)],
            failed_probes: 0,
            mails_to_victim: 20,
        }
    }

    fn told(change: impl FnOnce(&mut Seen)) -> Vec<String> {
        let mut attacked = seen(Attack::FloodFromOne, MS * 50, MS * 80);
        change(&mut attacked);
        broken_bars(&[seen(Attack::Quiet, MS * 5, MS * 40), attacked])
    }

    #[test]
    fn the_slowest_of_a_hundred_is_beyond_p99() {
        assert_eq!(p99(&[vec![MS; 99], vec![MS * 9]].concat()), MS);
        assert_eq!(p99(&[vec![MS; 98], vec![MS * 9; 2]].concat()), MS * 9);
        assert_eq!(p99(&[]), Duration::ZERO);
    }

    #[test]
    fn twice_as_slow_or_unnoticed_is_good_enough_and_all_else_is_told() {
        assert_eq!(told(|_| {}), [""; 0]);
        for (change, expected) in [
            (
                (|seen| seen.visits.pages.extend([MS * 51; 2])) as fn(&mut Seen),
                "a page took 51ms at p99, and may take 50ms",
            ),
            (
                |seen| seen.visits.messages.extend([MS * 81; 2]),
                "a message took 81ms at p99, and may take 80ms",
            ),
            (
                |seen| seen.visits.applications.push(MS * 10_001),
                "2 applications were taken, the slowest after 10.001s",
            ),
            (
                |seen| seen.visits.applications.clear(),
                "0 applications were taken, the slowest after 0ns",
            ),
            (|seen| seen.visits.failures.push("refused".to_owned()), "refused"),
            (|seen| seen.failed_probes = 1, "1 probes failed"),
            (
                |seen| seen.parts[1].peak = 101,
                "careers had 101 bytes, and may have 100",
            ),
            (|seen| seen.mails_to_victim = 21, "the victim was sent 21 mails"),
        ] {
            assert_eq!(told(change), [format!("flood-from-one: {expected}")]);
        }
    }

    #[test]
    fn a_form_with_work_may_take_as_long_as_its_two_requests_and_work_must_be_asked_for() {
        let told = |worked: usize, message: Duration| {
            let mut attacked = seen(Attack::ChallengedFlood, MS * 50, message);
            attacked.visits.solutions = vec![MS * 900; worked];
            broken_bars(&[seen(Attack::Quiet, MS * 5, MS * 40), attacked])
        };
        assert_eq!(told(100, MS * 160), [""; 0]);
        assert_eq!(
            told(100, MS * 161),
            ["challenged-flood: a message took 161ms at p99, and may take 160ms"]
        );
        assert_eq!(
            told(90, MS * 160),
            ["challenged-flood: 90 of 101 forms were asked for work"]
        );
    }

    #[test]
    fn a_row_tells_of_the_part_that_is_nearest_to_its_limit() {
        let row = row(&seen(Attack::Quiet, MS * 5, MS * 40));
        assert_eq!(
            row,
            "| quiet | 9 | 201 | 0 | 5 | 40 | 0 | 0.9 | 0 | careers 0 of 0 MiB |"
        );
        assert_eq!(
            row.matches('|').count(),
            HEAD.lines().next().map_or(0, |head| head.matches('|').count())
        );
    }
}
