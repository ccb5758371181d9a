//! Repeats: mails and webhooks that were taken once more, and which of them may have been.

use std::{fmt, ops::RangeInclusive, time::Duration};

use tokio::time::Instant;

/// How many mails and webhooks a notifier may be handing over at once: four connections for each of seven channels, and
/// four for an endpoint.
const MAX_HANDED_OVER: usize = 4 * 7 + 4;
/// How long it may take from the moment at which a mail or webhook is taken until that is recorded.
pub(crate) const MAX_UNRECORDED: Duration = Duration::from_secs(1);
/// How long what a killed process had sent may still be on its way.
const MAX_ON_ITS_WAY: Duration = Duration::from_millis(300);

/// A mail or webhook that was taken once more.
#[derive(Debug)]
pub struct Repeat {
    /// Which one: its kind and id.
    pub what: String,
    /// When it was taken before.
    pub before: Instant,
    /// When it was taken once more.
    pub again: Instant,
}

impl Repeat {
    /// Whether it was in flight when who knew of it was killed.
    fn may_be_due_to(&self, kill: &RangeInclusive<Instant>) -> bool {
        let in_flight =
            self.before + MAX_UNRECORDED >= *kill.start() && self.before <= *kill.end() + MAX_ON_ITS_WAY;
        in_flight && self.again > *kill.start()
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let later = (self.again - self.before).as_secs_f64();
        write!(f, "{} was taken again {later:.1} s after it was", self.what)
    }
}

/// What was taken again at each of these moments but the first, in order.
pub fn repeats(what: &str, taken: &[Instant]) -> impl Iterator<Item = Repeat> {
    taken.windows(2).map(move |pair| Repeat {
        what: what.to_owned(),
        before: pair[0],
        again: pair[1],
    })
}

/// The repeats that no kill accounts for. A notifier that dies between handing a mail over and recording that leaves nobody
/// who knows, and a broker that dies takes no record until it is back, so what was taken just before, or meanwhile, may come
/// again, as much as can be in flight.
pub fn unexplained<'a>(repeats: &'a [Repeat], kills: &[RangeInclusive<Instant>]) -> Vec<&'a Repeat> {
    let mut left: Vec<_> = kills.iter().map(|kill| (kill, MAX_HANDED_OVER)).collect();
    let mut is_unexplained = |repeat: &&Repeat| {
        let cause = left
            .iter_mut()
            .find(|(kill, left)| *left > 0 && repeat.may_be_due_to(kill));
        cause.map(|(_, left)| *left -= 1).is_none()
    };
    repeats.iter().filter(|repeat| is_unexplained(repeat)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_taken_just_before_a_kill_may_be_taken_again() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let kills = [at(5_000)..=at(5_000), at(60_000)..=at(63_000)];
        for (taken, again, expected) in [
            (4_500, 65_000, true),
            (5_200, 65_000, true),
            (3_900, 65_000, false),
            (5_400, 65_000, false),
            (30_000, 60_100, false),
            (59_900, 60_100, true),
            (63_200, 64_000, true),
            (63_400, 64_000, false),
            (59_800, 59_900, false),
        ] {
            let repeat: Vec<_> = repeats("mail 1", &[at(taken), at(again)]).collect();
            assert_eq!(unexplained(&repeat, &kills).is_empty(), expected, "{taken}");
            assert_eq!(unexplained(&repeat, &[]).len(), 1, "{taken}");
        }
    }

    #[test]
    fn what_is_taken_a_third_time_is_judged_by_the_second() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let repeats: Vec<_> = repeats("mail 1", &[at(1), at(62), at(63)]).collect();
        let told: Vec<_> = unexplained(&repeats, &[at(1)..=at(1)])
            .into_iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(told, ["mail 1 was taken again 1.0 s after it was"]);
    }

    #[test]
    fn a_kill_accounts_for_no_more_than_was_in_flight() {
        let taken = Instant::now();
        let again = taken + Duration::from_secs(60);
        let repeats: Vec<_> = (0..=MAX_HANDED_OVER)
            .flat_map(|number| repeats(&format!("mail {number}"), &[taken, again]).collect::<Vec<_>>())
            .collect();
        let kill = taken..=taken;
        assert_eq!(unexplained(&repeats, std::slice::from_ref(&kill)).len(), 1);
        assert!(unexplained(&repeats, &[kill.clone(), kill]).is_empty());
    }
}
