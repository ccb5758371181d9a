//! The ledger: how many mails of the newsletter were sent in this second, hour and day, to which domains, which are in somebody's
//! hands, and what came of those of each issue. One record that all notifiers change by compare-and-set, so that limits hold for
//! all of them together, and each mail counts once, whoever is killed.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};
use site_events::IssueId;
use time::OffsetDateTime;
use uuid::Uuid;

/// The namespace of domains.
const DOMAINS: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_646f_6d61_696e);
/// How long a domain that did not take a mail is left alone at first; twice as long each time, up to [`MAX_SLOWED`].
const FIRST_SLOWED: i64 = 2;
/// The longest that a domain is left alone, in seconds.
const MAX_SLOWED: i64 = 15 * 60;
/// While a mail asks whether a slow domain takes mails again, the others wait for so many seconds.
const PROBE_SECONDS: i64 = 5;
/// How long a mail that was put off is left alone at first; twice as long each time, up to [`MAX_SLOWED`].
const FIRST_PUT_OFF: i64 = 30;
/// How often a mail is put off before it is given up: in some two hours.
const MAX_PUT_OFF: u32 = 12;
/// A domain that took nothing for so many seconds is given up.
const DOMAIN_GIVEN_UP_AFTER: i64 = 3 * DAY;
/// Of how many domains it is known that they take nothing at present: one record holds them, and the broker takes a megabyte.
const MAX_SLOW_DOMAINS: usize = 2_000;
/// Of how many mails it is known how often they were put off.
const MAX_KNOWN_PUT_OFF: usize = 2_000;
/// How long a mail is known to be in somebody's hands that nobody speaks of any more, in seconds: longer than one is tried.
const FORGOTTEN_AFTER: i64 = 7 * DAY;
/// How long a claim holds: a mail that waited longer before it goes to the mail server is claimed anew.
pub const CLAIM_HOLDS: Duration = Duration::from_secs(60);
const CLAIM_HOLDS_SECONDS: i64 = CLAIM_HOLDS.as_secs().cast_signed();
/// The longest that a mail is under way once it is claimed, in seconds: until it would be claimed anew, and then the timeouts of the
/// mail server.
const MAX_UNDER_WAY: i64 = 15 * MINUTE;
/// The figures of how many issues are kept.
const MAX_ISSUES: usize = 50;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How many mails of the newsletter all notifiers together may send; what is `None` is not limited.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendingLimits {
    /// Within a second.
    pub per_second: Option<u32>,
    /// Within an hour (UTC).
    pub per_hour: Option<u32>,
    /// Within a day (UTC).
    pub per_day: Option<u32>,
    /// To one receiving domain within a minute.
    pub per_domain_and_minute: Option<u32>,
    /// The daily limits of the first days on which mails are sent.
    pub warm_up: Vec<u32>,
}

/// Whether a mail may be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It may; it is counted, and in the hands of whoever asked.
    Granted,
    /// None may for so long.
    Wait(Duration),
    /// None to this domain may for so long.
    DomainWaits(Duration),
}

/// What came of a mail that was in somebody's hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The mail server has it.
    Sent,
    /// Its subscriber left meanwhile.
    Left,
    /// The same, by the record of whoever had it in hand and was killed: one that is in nobody's hands was told of.
    LeftBefore,
    /// Its address does not exist.
    Bounced,
    /// The mail server will never take it, for another reason.
    Refused,
    /// It was not taken for as long as it is tried.
    GivenUp,
    /// It was not tried; it comes again.
    Released,
    /// It is not tried any more: its issue was canceled.
    Canceled,
}

/// What becomes of a mail that its domain put off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutOff {
    /// It comes again after this time.
    Later(Duration),
    /// It was put off often enough: it is to be finished as [`Outcome::GivenUp`].
    GivenUp,
}

/// What came of the mails of one issue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Figures {
    /// The mail server has them.
    pub sent: u64,
    /// Their subscribers left before they were sent.
    pub left: u64,
    /// Their addresses do not exist.
    pub bounced: u64,
    /// The mail server will never take them, for another reason.
    pub refused: u64,
    /// They were not taken for as long as they were tried.
    pub given_up: u64,
    /// Attempts that a domain put off.
    pub deferred: u64,
    /// When the last of them was decided on, in seconds since 1970.
    pub last: i64,
}

/// A count within a window of time, by the window's number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    number: i64,
    mails: u32,
}

impl Window {
    /// Enters the window of this number, if it is a later one, with the mails that are counted in it already. One notifier's clock may
    /// be behind another's: what has begun stays.
    fn enter(&mut self, number: i64, mails: impl FnOnce() -> usize) {
        if number > self.number {
            let mails = u32::try_from(mails()).unwrap_or(u32::MAX);
            *self = Self { number, mails };
        }
    }

    fn give_back(&mut self) {
        self.mails = self.mails.saturating_sub(1);
    }

    fn is_full(self, limit: Option<u32>) -> bool {
        limit.is_some_and(|limit| self.mails >= limit)
    }
}

/// A mail in somebody's hands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct InHand {
    issue: IssueId,
    domain: String,
    /// The second in which it was claimed.
    second: i64,
    /// The attempt that claimed it last.
    #[serde(default)]
    attempt: Uuid,
    /// Whether an attempt was cut off: the mail server may have it, or be about to take it.
    #[serde(default)]
    may_be_sent: bool,
    /// Whether it is known what came of it: it is in nobody's hands then, and counts for as long as a cut-off attempt may arrive.
    #[serde(default)]
    is_told: bool,
}

impl InHand {
    /// Whether it counts in the hour or day that begins then. What was under way at that moment counts before and after it: nobody
    /// knows on which side the mail server took it.
    fn counts_since(&self, begin: i64) -> bool {
        self.second >= begin - MAX_UNDER_WAY
    }
}

/// In which windows a mail counts.
#[derive(Clone, Copy, Default)]
struct Counted {
    second: bool,
    hour: bool,
    day: bool,
}

/// A domain that did not take a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SlowDomain {
    since: i64,
    until: i64,
    pause: i64,
}

/// How often a mail was put off, and when last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct PutOffMail {
    times: u32,
    last: i64,
}

/// The record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ledger {
    second: Window,
    hour: Window,
    day: Window,
    /// On how many days mails were sent, today included.
    days: u32,
    minute: i64,
    domains: BTreeMap<String, u32>,
    slow: BTreeMap<String, SlowDomain>,
    in_hand: BTreeMap<Uuid, InHand>,
    put_off_mails: BTreeMap<Uuid, PutOffMail>,
    issues: BTreeMap<IssueId, Figures>,
}

impl Ledger {
    /// Asks, for one attempt at a mail, whether it may go to this domain. One that is in hand already keeps its place, and counts once in
    /// each second, hour and day; where its claim is an old one, as of a notifier that was killed, it counts in those of now, too.
    pub fn claim(
        &mut self,
        sending: Uuid,
        attempt: Uuid,
        (issue, domain): (IssueId, &str),
        now: OffsetDateTime,
        limits: &SendingLimits,
    ) -> Claim {
        let (domain, time) = (domain_key(domain), now.unix_timestamp());
        self.enter(time);
        let earlier = self.in_hand.get(&sending);
        let may_be_sent = earlier.is_some_and(|mail| mail.may_be_sent || mail.attempt != attempt);
        let counted = earlier.map_or_else(Counted::default, |mail| self.counted(mail));
        let holds = earlier.filter(|mail| time - mail.second < CLAIM_HOLDS_SECONDS);
        let second = holds.map(|mail| mail.second);
        if second.is_none() {
            if let Some(wait) = self.domain_wait(&domain, time, limits) {
                return Claim::DomainWaits(wait);
            }
            if let Some(until) = self.full_until(counted, limits) {
                return Claim::Wait(time_until(until, now));
            }
            self.count(&domain, time, counted, limits);
        }
        let in_hand = InHand {
            issue,
            domain,
            second: second.unwrap_or(self.second.number),
            attempt,
            may_be_sent,
            is_told: false,
        };
        self.in_hand.insert(sending, in_hand);
        Claim::Granted
    }

    /// Says that a domain put a mail off, or did not say that it took it: the domain is slowed down, and the mail comes again, or is given
    /// up.
    pub fn put_off(
        &mut self,
        sending: Uuid,
        attempt: Uuid,
        may_be_sent: bool,
        now: OffsetDateTime,
    ) -> PutOff {
        let Some(in_hand) = self.in_hand.get_mut(&sending).filter(|mail| !mail.is_told) else {
            return PutOff::Later(Duration::from_secs(FIRST_PUT_OFF.unsigned_abs()));
        };
        in_hand.may_be_sent |= may_be_sent;
        let (issue, domain) = (in_hand.issue, in_hand.domain.clone());
        let time = now.unix_timestamp();
        self.enter(time);
        self.slow_down(&domain, time);
        let domain_since = self.slow.get(&domain).map_or(time, |slow| slow.since);
        let mail = self.put_off_mails.entry(sending).or_default();
        *mail = PutOffMail {
            times: mail.times + 1,
            last: time,
        };
        let times = mail.times;
        self.issues.entry(issue).or_default().deferred += 1;
        if times >= MAX_PUT_OFF || time - domain_since >= DOMAIN_GIVEN_UP_AFTER {
            return PutOff::GivenUp;
        }
        self.release(sending, attempt);
        forget_oldest(&mut self.put_off_mails, MAX_KNOWN_PUT_OFF, |mail| mail.last);
        let doubled = FIRST_PUT_OFF << (times - 1).min(5);
        PutOff::Later(Duration::from_secs(doubled.min(MAX_SLOWED).unsigned_abs()))
    }

    /// Says that a mail was put off for what may be no fault of its domain: that is left alone for the time that this gives, and the mail
    /// comes again as if it had not been tried.
    pub fn leave_domain_alone(&mut self, sending: Uuid, attempt: Uuid, now: OffsetDateTime) -> Duration {
        let time = now.unix_timestamp();
        self.enter(time);
        let domain = self.in_hand.get(&sending).map(|mail| mail.domain.clone());
        let pause = domain.map_or(FIRST_SLOWED, |domain| {
            self.slow_down(&domain, time);
            self.slow.get(&domain).map_or(FIRST_SLOWED, |slow| slow.pause)
        });
        self.release(sending, attempt);
        Duration::from_secs(pause.unsigned_abs())
    }

    /// Says what came of one attempt at a mail. One that is in nobody's hands was told of before, or its subscriber left before it was
    /// claimed. Its place is given back by whoever claimed it and did not send it, unless somebody else may have.
    pub fn finish(
        &mut self,
        sending: Uuid,
        attempt: Uuid,
        issue: IssueId,
        outcome: Outcome,
        now: OffsetDateTime,
    ) {
        let in_hand = self.in_hand.get(&sending).filter(|mail| !mail.is_told).cloned();
        if in_hand.is_none() && outcome != Outcome::Left {
            return;
        }
        let time = now.unix_timestamp();
        // With what is in hand: this one may have been sent after midnight.
        self.enter(time);
        let figures = self.issues.entry(issue).or_default();
        figures.last = time;
        match outcome {
            Outcome::Sent => figures.sent += 1,
            Outcome::Left | Outcome::LeftBefore => figures.left += 1,
            Outcome::Bounced => figures.bounced += 1,
            Outcome::Refused => figures.refused += 1,
            Outcome::GivenUp => figures.given_up += 1,
            Outcome::Released | Outcome::Canceled => {}
        }
        forget_oldest(&mut self.issues, MAX_ISSUES, |figures| figures.last);
        let Some(in_hand) = in_hand else {
            return;
        };
        if outcome == Outcome::Released {
            return self.release(sending, attempt);
        }
        self.put_off_mails.remove(&sending);
        if matches!(outcome, Outcome::Sent | Outcome::Bounced) {
            self.slow.remove(&in_hand.domain);
        }
        if in_hand.may_be_sent || in_hand.attempt != attempt {
            if let Some(mail) = self.in_hand.get_mut(&sending) {
                mail.is_told = true;
            }
            return;
        }
        self.in_hand.remove(&sending);
        if outcome != Outcome::Sent {
            self.give_back(&in_hand);
        }
    }

    /// Takes out a mail that comes again, if nobody but this attempt can have sent it.
    fn release(&mut self, sending: Uuid, attempt: Uuid) {
        let in_hand = self.in_hand.get(&sending);
        let is_its_own = in_hand.is_some_and(|mail| mail.attempt == attempt && !mail.may_be_sent);
        if is_its_own && let Some(in_hand) = self.in_hand.remove(&sending) {
            self.give_back(&in_hand);
        }
    }

    /// What came of an issue's mails so far.
    pub fn figures(&self, issue: IssueId) -> Figures {
        self.issues.get(&issue).copied().unwrap_or_default()
    }

    /// How many mails of an issue are in somebody's hands.
    pub fn in_hand(&self, issue: IssueId) -> usize {
        let mails = self.in_hand.values().filter(|mail| !mail.is_told);
        mails.filter(|mail| mail.issue == issue).count()
    }

    /// How many mails were sent or are in somebody's hands today (UTC).
    pub fn mails_of_the_day(&self, now: OffsetDateTime) -> u32 {
        let is_today = now.unix_timestamp().div_euclid(DAY) == self.day.number;
        if is_today { self.day.mails } else { 0 }
    }

    /// How many domains are left alone at present.
    pub fn slow_domains(&self, now: OffsetDateTime) -> usize {
        let time = now.unix_timestamp();
        self.slow.values().filter(|slow| slow.until > time).count()
    }

    /// Takes back what a clock made of the record that was more than a minute ahead of the broker's, by when the broker stored it: windows
    /// that had not begun by then hold what they counted as of those that had.
    pub fn correct(&mut self, stored: OffsetDateTime) {
        let time = stored.unix_timestamp();
        let latest = time + MINUTE;
        for (window, length) in [
            (&mut self.second, 1),
            (&mut self.hour, HOUR),
            (&mut self.day, DAY),
        ] {
            if window.number * length > latest {
                window.number = time.div_euclid(length);
            }
        }
        self.minute = self.minute.min(latest.div_euclid(MINUTE));
        for mail in self.in_hand.values_mut() {
            mail.second = mail.second.min(latest);
        }
        for domain in self.slow.values_mut() {
            domain.since = domain.since.min(latest);
            domain.until = domain.until.min(latest + MAX_SLOWED);
        }
    }

    fn enter(&mut self, time: i64) {
        let (hour, day) = (time.div_euclid(HOUR), time.div_euclid(DAY));
        let is_next_day = day > self.day.number;
        let in_hand = |begin| {
            let mails = self.in_hand.values();
            mails.filter(|mail| mail.counts_since(begin)).count()
        };
        self.second.enter(time, || 0);
        self.hour.enter(hour, || in_hand(hour * HOUR));
        self.day.enter(day, || in_hand(day * DAY));
        if is_next_day && self.day.mails > 0 {
            self.days += 1;
        }
        let minute = time.div_euclid(MINUTE);
        if minute > self.minute {
            self.minute = minute;
            self.domains.clear();
            // Of a domain to which nothing goes any more nothing is known in the end.
            self.slow.retain(|_, slow| slow.until > time - DAY);
            self.in_hand.retain(|_, mail| {
                let known_for = if mail.is_told {
                    MAX_UNDER_WAY
                } else {
                    FORGOTTEN_AFTER
                };
                mail.second > time - known_for
            });
        }
    }

    /// Where a mail that is in hand counts already.
    fn counted(&self, mail: &InHand) -> Counted {
        Counted {
            second: mail.second == self.second.number,
            hour: mail.counts_since(self.hour.number * HOUR),
            day: mail.counts_since(self.day.number * DAY),
        }
    }

    /// Counts a mail where it does not count yet.
    fn count(&mut self, domain: &str, time: i64, counted: Counted, limits: &SendingLimits) {
        if let Some(slow) = self.slow.get_mut(domain) {
            slow.until = time + PROBE_SECONDS;
        }
        if self.day.mails == 0 {
            self.days += 1;
        }
        for (window, is_counted) in [
            (&mut self.second, counted.second),
            (&mut self.hour, counted.hour),
            (&mut self.day, counted.day),
        ] {
            window.mails += u32::from(!is_counted);
        }
        if limits.per_domain_and_minute.is_some() {
            *self.domains.entry(domain.to_owned()).or_default() += 1;
        }
    }

    /// Until when none may be sent that counts there already, in seconds since 1970.
    fn full_until(&self, counted: Counted, limits: &SendingLimits) -> Option<i64> {
        // A day on which nothing was sent yet is the next one.
        let day = self.days + u32::from(self.day.mails == 0);
        let of_warm_up = usize::try_from(day.saturating_sub(1)).ok();
        let of_warm_up = of_warm_up.and_then(|day| limits.warm_up.get(day).copied());
        let per_day = limits.per_day.into_iter().chain(of_warm_up).min();
        if !counted.day && self.day.is_full(per_day) {
            Some((self.day.number + 1) * DAY)
        } else if !counted.hour && self.hour.is_full(limits.per_hour) {
            Some((self.hour.number + 1) * HOUR)
        } else if !counted.second && self.second.is_full(limits.per_second) {
            Some(self.second.number + 1)
        } else {
            None
        }
    }

    fn domain_wait(&self, domain: &str, time: i64, limits: &SendingLimits) -> Option<Duration> {
        let until_taken = self.slow.get(domain).map(|slow| slow.until - time);
        let of_the_minute = self.domains.get(domain).copied().unwrap_or_default();
        let is_full = limits
            .per_domain_and_minute
            .is_some_and(|limit| of_the_minute >= limit);
        let until_next_minute = is_full.then(|| (self.minute + 1) * MINUTE - time);
        let wait = until_taken.max(until_next_minute)?;
        u64::try_from(wait)
            .ok()
            .filter(|wait| *wait > 0)
            .map(Duration::from_secs)
    }

    fn slow_down(&mut self, domain: &str, time: i64) {
        let known = self.slow.get(domain);
        let pause = known.map_or(FIRST_SLOWED, |slow| (slow.pause * 2).min(MAX_SLOWED));
        let slow = SlowDomain {
            since: known.map_or(time, |slow| slow.since),
            until: time + pause,
            pause,
        };
        self.slow.insert(domain.to_owned(), slow);
        forget_oldest(&mut self.slow, MAX_SLOW_DOMAINS, |slow| slow.until);
    }

    fn give_back(&mut self, mail: &InHand) {
        if mail.second == self.second.number {
            self.second.give_back();
        }
        if mail.counts_since(self.hour.number * HOUR) {
            self.hour.give_back();
        }
        let of_today = self.day.mails;
        if mail.counts_since(self.day.number * DAY) {
            self.day.give_back();
        }
        // A day on which nothing was sent after all is none.
        if of_today == 1 && self.day.mails == 0 {
            self.days = self.days.saturating_sub(1);
        }
        if mail.second.div_euclid(MINUTE) == self.minute
            && let Some(mails) = self.domains.get_mut(&mail.domain)
        {
            *mails = mails.saturating_sub(1);
        }
    }
}

/// Forgets what was last touched the longest ago, until there are no more than `most`.
fn forget_oldest<K: Clone + Ord, V>(known: &mut BTreeMap<K, V>, most: usize, last: impl Fn(&V) -> i64) {
    while known.len() > most {
        let oldest = known.iter().min_by_key(|(_, value)| last(value));
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
            return;
        };
        known.remove(&oldest);
    }
}

/// What stands for a domain in the record: some belong to one person.
fn domain_key(domain: &str) -> String {
    let hash = Uuid::new_v5(&DOMAINS, domain.to_lowercase().as_bytes());
    hash.as_simple().to_string().split_off(20)
}

/// The time until then, at least a moment.
fn time_until(then: i64, now: OffsetDateTime) -> Duration {
    let nanoseconds = i128::from(then) * 1_000_000_000 - now.unix_timestamp_nanos();
    let nanoseconds = u64::try_from(nanoseconds).unwrap_or_default();
    Duration::from_nanos(nanoseconds).max(Duration::from_millis(1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00:00.25 UTC);
    const ATTEMPT: Uuid = Uuid::from_u128(1);

    fn issue() -> IssueId {
        IssueId::named("smart-home")
    }

    fn later(seconds: i64) -> OffsetDateTime {
        NOW + time::Duration::seconds(seconds)
    }

    fn claim(
        ledger: &mut Ledger,
        mail: u128,
        domain: &str,
        now: OffsetDateTime,
        limits: &SendingLimits,
    ) -> Claim {
        ledger.claim(Uuid::from_u128(mail), ATTEMPT, (issue(), domain), now, limits)
    }

    /// The same by another attempt, as after a kill.
    fn claim_again(ledger: &mut Ledger, mail: u128, now: OffsetDateTime, limits: &SendingLimits) -> Claim {
        let attempt = Uuid::from_u128(u128::MAX);
        ledger.claim(
            Uuid::from_u128(mail),
            attempt,
            (issue(), "a.example"),
            now,
            limits,
        )
    }

    fn finish(ledger: &mut Ledger, mail: u128, outcome: Outcome, now: OffsetDateTime) {
        ledger.finish(Uuid::from_u128(mail), ATTEMPT, issue(), outcome, now);
    }

    fn put_off(ledger: &mut Ledger, mail: u128, now: OffsetDateTime) -> PutOff {
        ledger.put_off(Uuid::from_u128(mail), ATTEMPT, false, now)
    }

    #[test]
    fn a_limit_waits_for_the_next_second_hour_or_day() {
        for (limits, wait) in [
            (
                SendingLimits {
                    per_second: Some(2),
                    ..SendingLimits::default()
                },
                Duration::from_millis(750),
            ),
            (
                SendingLimits {
                    per_hour: Some(2),
                    ..SendingLimits::default()
                },
                Duration::from_millis(3_599_750),
            ),
            (
                SendingLimits {
                    per_day: Some(2),
                    ..SendingLimits::default()
                },
                Duration::from_millis(12 * 3_600_000 - 250),
            ),
        ] {
            let mut ledger = Ledger::default();
            for mail in 1..=2 {
                assert_eq!(
                    claim(&mut ledger, mail, "a.example", NOW, &limits),
                    Claim::Granted
                );
            }
            assert_eq!(
                claim(&mut ledger, 3, "b.example", NOW, &limits),
                Claim::Wait(wait)
            );
            let then = NOW + wait;
            assert_eq!(claim(&mut ledger, 3, "b.example", then, &limits), Claim::Granted);
        }
    }

    #[test]
    fn a_mail_that_comes_again_after_a_kill_counts_once_in_limits_and_figures() {
        let limits = SendingLimits {
            per_day: Some(1),
            ..SendingLimits::default()
        };
        let mut ledger = Ledger::default();
        assert_eq!(claim(&mut ledger, 1, "a.example", NOW, &limits), Claim::Granted);
        assert_eq!(
            claim(&mut ledger, 1, "a.example", later(60), &limits),
            Claim::Granted
        );
        assert!(matches!(
            claim(&mut ledger, 2, "a.example", NOW, &limits),
            Claim::Wait(_)
        ));
        for _ in 0..2 {
            finish(&mut ledger, 1, Outcome::Sent, later(61));
        }
        assert_eq!(ledger.figures(issue()).sent, 1);
        assert_eq!((ledger.in_hand(issue()), ledger.mails_of_the_day(NOW)), (0, 1));
        assert!(matches!(
            claim(&mut ledger, 2, "a.example", later(62), &limits),
            Claim::Wait(_)
        ));
    }

    #[test]
    fn a_mail_that_may_have_been_sent_by_whoever_was_killed_keeps_its_place() {
        let limits = SendingLimits {
            per_day: Some(2),
            per_second: Some(1),
            ..SendingLimits::default()
        };
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", NOW, &limits);
        let (again, next) = (later(61), later(62));
        claim(&mut ledger, 2, "a.example", again, &limits);
        finish(&mut ledger, 2, Outcome::Sent, again);
        let waits = claim_again(&mut ledger, 1, again, &limits);
        assert!(matches!(waits, Claim::Wait(_)), "one a second: {waits:?}");
        assert_eq!(ledger.mails_of_the_day(again), 2);
        for outcome in [Outcome::Released, Outcome::Left, Outcome::Canceled] {
            let mut ledger = ledger.clone();
            assert_eq!(claim_again(&mut ledger, 1, next, &limits), Claim::Granted);
            let attempt = Uuid::from_u128(u128::MAX);
            ledger.finish(Uuid::from_u128(1), attempt, issue(), outcome, next);
            let third = claim(&mut ledger, 3, "a.example", later(63), &limits);
            assert!(matches!(third, Claim::Wait(_)), "{outcome:?}: {third:?}");
        }
    }

    #[test]
    fn a_mail_of_which_a_mail_server_did_not_say_that_it_took_it_keeps_its_place() {
        let limits = one_a_day();
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", NOW, &limits);
        let put_off = ledger.put_off(Uuid::from_u128(1), ATTEMPT, true, NOW);
        assert!(matches!(put_off, PutOff::Later(_)), "{put_off:?}");
        let other = claim(&mut ledger, 2, "b.example", NOW, &limits);
        assert!(matches!(other, Claim::Wait(_)), "{other:?}");
        assert_eq!(claim_again(&mut ledger, 1, later(30), &limits), Claim::Granted);
    }

    #[test]
    fn a_mail_that_two_had_is_sent_once_in_the_figures_whoever_gives_it_back() {
        let limits = SendingLimits::default();
        let (mut ledger, mail, other) = (Ledger::default(), Uuid::from_u128(1), Uuid::from_u128(u128::MAX));
        claim(&mut ledger, 1, "a.example", NOW, &limits);
        claim_again(&mut ledger, 1, NOW, &limits);
        ledger.finish(mail, other, issue(), Outcome::Released, NOW);
        finish(&mut ledger, 1, Outcome::Sent, NOW);
        ledger.finish(mail, other, issue(), Outcome::Sent, NOW);
        assert_eq!((ledger.figures(issue()).sent, ledger.in_hand(issue())), (1, 0));
    }

    #[test]
    fn a_mail_that_was_cut_off_counts_after_the_hour_too_whatever_came_of_it_since() {
        let limits = SendingLimits {
            per_hour: Some(2),
            ..SendingLimits::default()
        };
        for outcome in [Outcome::Released, Outcome::Sent] {
            let mut ledger = Ledger::default();
            claim(&mut ledger, 1, "a.example", later(59 * MINUTE), &limits);
            claim_again(&mut ledger, 1, later(59 * MINUTE + 30), &limits);
            let other = Uuid::from_u128(u128::MAX);
            ledger.finish(
                Uuid::from_u128(1),
                other,
                issue(),
                outcome,
                later(59 * MINUTE + 31),
            );
            let next_hour = later(60 * MINUTE + 10);
            assert_eq!(
                claim(&mut ledger, 2, "a.example", next_hour, &limits),
                Claim::Granted
            );
            let third = claim(&mut ledger, 3, "a.example", next_hour, &limits);
            assert!(matches!(third, Claim::Wait(_)), "{outcome:?}: {third:?}");
        }
    }

    #[test]
    fn a_domain_that_is_left_alone_costs_its_mail_no_attempt() {
        let limits = SendingLimits::default();
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", NOW, &limits);
        let pause = ledger.leave_domain_alone(Uuid::from_u128(1), ATTEMPT, NOW);
        assert_eq!(pause, Duration::from_secs(2));
        assert_eq!(
            (ledger.figures(issue()).deferred, ledger.put_off_mails.len()),
            (0, 0)
        );
        let waits = claim(&mut ledger, 2, "a.example", NOW, &limits);
        assert!(matches!(waits, Claim::DomainWaits(_)), "{waits:?}");
    }

    #[test]
    fn an_attempt_that_did_not_claim_a_mail_says_nothing_of_its_place() {
        let limits = one_a_day();
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", NOW, &limits);
        let other = Uuid::from_u128(u128::MAX);
        for (outcome, in_hand) in [(Outcome::Released, 1), (Outcome::Canceled, 0)] {
            ledger.finish(Uuid::from_u128(1), other, issue(), outcome, NOW);
            assert_eq!(
                (ledger.in_hand(issue()), ledger.mails_of_the_day(NOW)),
                (in_hand, 1)
            );
        }
    }

    #[test]
    fn what_was_not_sent_makes_room_for_another() {
        let limits = SendingLimits {
            per_day: Some(1),
            per_domain_and_minute: Some(1),
            ..SendingLimits::default()
        };
        for outcome in [
            Outcome::Left,
            Outcome::Bounced,
            Outcome::Refused,
            Outcome::Released,
        ] {
            let mut ledger = Ledger::default();
            assert_eq!(claim(&mut ledger, 1, "a.example", NOW, &limits), Claim::Granted);
            finish(&mut ledger, 1, outcome, NOW);
            assert_eq!(
                claim(&mut ledger, 2, "a.example", NOW, &limits),
                Claim::Granted,
                "{outcome:?}"
            );
        }
    }

    #[test]
    fn the_record_of_many_slow_domains_fits_into_the_broker() {
        let limits = SendingLimits::default();
        let mut ledger = Ledger::default();
        for number in 0..2_100 {
            let domain = format!("a-domain-of-some-length-{number}.example");
            claim(&mut ledger, number, &domain, NOW, &limits);
            put_off(&mut ledger, number, NOW);
        }
        let record = serde_json::to_vec(&ledger).expect("a record");
        assert_eq!(ledger.slow_domains(NOW), MAX_SLOW_DOMAINS);
        assert!(record.len() < 500_000, "{} bytes", record.len());
    }

    #[test]
    fn a_domain_that_puts_mails_off_is_slowed_alone_and_asked_by_one() {
        let limits = SendingLimits::default();
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "slow.example", NOW, &limits);
        assert_eq!(
            put_off(&mut ledger, 1, NOW),
            PutOff::Later(Duration::from_secs(30))
        );
        let waits = claim(&mut ledger, 2, "Slow.example", later(1), &limits);
        assert_eq!(waits, Claim::DomainWaits(Duration::from_secs(1)));
        assert_eq!(
            claim(&mut ledger, 3, "fast.example", later(1), &limits),
            Claim::Granted
        );
        assert_eq!(
            claim(&mut ledger, 2, "slow.example", later(2), &limits),
            Claim::Granted
        );
        let others = claim(&mut ledger, 4, "slow.example", later(3), &limits);
        assert_eq!(others, Claim::DomainWaits(Duration::from_secs(4)));
        put_off(&mut ledger, 2, later(4));
        let waits = claim(&mut ledger, 4, "slow.example", later(4), &limits);
        assert_eq!(waits, Claim::DomainWaits(Duration::from_secs(4)), "twice as long");
        assert_eq!(ledger.slow_domains(later(5)), 1);
        claim(&mut ledger, 2, "slow.example", later(92), &limits);
        finish(&mut ledger, 2, Outcome::Sent, later(92));
        assert_eq!(
            claim(&mut ledger, 4, "slow.example", later(92), &limits),
            Claim::Granted
        );
        assert_eq!(
            (ledger.figures(issue()).deferred, ledger.figures(issue()).sent),
            (2, 1)
        );
    }

    #[test]
    fn a_mail_that_is_put_off_again_and_again_is_given_up_and_so_is_a_domain_after_days() {
        let limits = SendingLimits::default();
        let (mut ledger, mut now) = (Ledger::default(), NOW);
        let mut attempts = 0;
        let given_up = loop {
            attempts += 1;
            assert_eq!(
                claim(&mut ledger, 1, "full.example", now, &limits),
                Claim::Granted
            );
            match put_off(&mut ledger, 1, now) {
                PutOff::Later(pause) => now += pause.max(Duration::from_secs(15 * 60)),
                PutOff::GivenUp => break attempts,
            }
        };
        assert_eq!(given_up, MAX_PUT_OFF);
        finish(&mut ledger, 1, Outcome::GivenUp, now);
        assert_eq!(
            (ledger.figures(issue()).given_up, ledger.put_off_mails.len()),
            (1, 0)
        );

        let mut ledger = Ledger::default();
        for mail in 0u32..2 {
            let now = later(i64::from(mail) * 20 * HOUR);
            claim(&mut ledger, mail.into(), "gone.example", now, &limits);
            assert!(
                matches!(put_off(&mut ledger, mail.into(), now), PutOff::Later(_)),
                "{mail}"
            );
        }
        for (mail, hours, expected) in [(2, 40, false), (3, 60, false), (4, 73, true)] {
            let now = later(hours * HOUR);
            claim(&mut ledger, mail, "gone.example", now, &limits);
            let is_given_up = put_off(&mut ledger, mail, now) == PutOff::GivenUp;
            assert_eq!(is_given_up, expected, "after {hours} hours");
        }
    }

    #[test]
    fn a_domain_has_a_limit_of_its_own() {
        let limits = SendingLimits {
            per_domain_and_minute: Some(1),
            ..SendingLimits::default()
        };
        let mut ledger = Ledger::default();
        assert_eq!(claim(&mut ledger, 1, "a.example", NOW, &limits), Claim::Granted);
        let waits = claim(&mut ledger, 2, "a.example", NOW, &limits);
        assert_eq!(waits, Claim::DomainWaits(Duration::from_secs(60)));
        assert_eq!(claim(&mut ledger, 3, "b.example", NOW, &limits), Claim::Granted);
        assert_eq!(
            claim(&mut ledger, 2, "a.example", later(60), &limits),
            Claim::Granted
        );
    }

    #[test]
    fn a_warm_up_goes_by_days_on_which_mails_are_sent() {
        let limits = SendingLimits {
            warm_up: vec![1, 2],
            per_day: Some(3),
            ..SendingLimits::default()
        };
        let (mut ledger, mut mail) = (Ledger::default(), 0);
        // On the third day of the calendar nothing is sent.
        for (day, expected) in [(0, 1), (1, 2), (3, 3), (4, 3)] {
            let now = later(day * DAY);
            let granted = (0..10).filter(|_| {
                mail += 1;
                claim(&mut ledger, mail, "a.example", now, &limits) == Claim::Granted
            });
            assert_eq!(granted.count(), expected, "day {day}");
        }
    }

    #[test]
    fn a_clock_that_is_behind_opens_no_window_anew() {
        let limits = SendingLimits {
            per_hour: Some(1),
            ..SendingLimits::default()
        };
        let mut ledger = Ledger::default();
        assert_eq!(
            claim(&mut ledger, 1, "a.example", later(HOUR), &limits),
            Claim::Granted
        );
        assert!(matches!(
            claim(&mut ledger, 2, "a.example", NOW, &limits),
            Claim::Wait(_)
        ));
        assert!(matches!(
            claim(&mut ledger, 2, "a.example", later(HOUR), &limits),
            Claim::Wait(_)
        ));
    }

    #[test]
    fn what_a_clock_did_that_was_ahead_is_taken_back_and_what_it_counted_stays() {
        let limits = SendingLimits {
            per_day: Some(2),
            ..SendingLimits::default()
        };
        for ahead in [90, HOUR, DAY, 400 * DAY] {
            let mut ledger = Ledger::default();
            claim(&mut ledger, 1, "a.example", later(ahead), &limits);
            claim(&mut ledger, 2, "slow.example", later(ahead), &limits);
            put_off(&mut ledger, 2, later(ahead));
            ledger.correct(NOW);
            let again = claim(&mut ledger, 2, "slow.example", later(20 * MINUTE), &limits);
            assert_eq!(again, Claim::Granted, "{ahead}");
            let beyond = claim(&mut ledger, 3, "a.example", later(20 * MINUTE), &limits);
            assert!(matches!(beyond, Claim::Wait(_)), "{ahead}: {beyond:?}");
            let tomorrow = later(DAY);
            for mail in 4..6 {
                let granted = claim(&mut ledger, mail, "a.example", tomorrow, &limits);
                assert_eq!(granted, Claim::Granted, "{ahead}");
            }
        }
    }

    #[test]
    fn what_a_clock_did_that_is_right_stays_as_it_is() {
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", NOW, &SendingLimits::default());
        claim(&mut ledger, 2, "slow.example", NOW, &SendingLimits::default());
        put_off(&mut ledger, 2, NOW);
        for lag in [0, 1, MINUTE] {
            let mut corrected = ledger.clone();
            corrected.correct(NOW - time::Duration::seconds(lag));
            assert_eq!(corrected, ledger, "{lag}");
        }
    }

    #[test]
    fn the_figures_of_the_last_issues_are_kept_and_none_of_a_domain_by_name() -> serde_json::Result<()> {
        let (mut ledger, limits) = (Ledger::default(), SendingLimits::default());
        for number in 0..60 {
            let (mail, issue) = (Uuid::from_u128(number), IssueId::named(&number.to_string()));
            let now = later(i64::try_from(number).unwrap_or_default());
            ledger.claim(mail, ATTEMPT, (issue, "ravi.example"), now, &limits);
            ledger.finish(mail, ATTEMPT, issue, Outcome::Sent, now);
        }
        assert_eq!(ledger.figures(IssueId::named("9")).sent, 0);
        assert_eq!(ledger.figures(IssueId::named("10")).sent, 1);
        claim(&mut ledger, 70, "ravi.example", NOW, &limits);
        let record = serde_json::to_string(&ledger)?;
        assert!(!record.contains("ravi"), "{record}");
        assert_eq!(serde_json::from_str::<Ledger>(&record)?, ledger);
        Ok(())
    }

    const BEFORE_MIDNIGHT: OffsetDateTime = datetime!(2026-11-20 23:59:50 UTC);
    const AFTER_MIDNIGHT: OffsetDateTime = datetime!(2026-11-21 00:00:10 UTC);

    fn one_a_day() -> SendingLimits {
        SendingLimits {
            per_day: Some(1),
            ..SendingLimits::default()
        }
    }

    #[test]
    fn a_mail_under_way_at_midnight_takes_a_place_of_the_day_on_which_it_arrives() {
        let limits = one_a_day();
        let waits =
            |ledger: &mut Ledger, now| matches!(claim(ledger, 2, "a.example", now, &limits), Claim::Wait(_));
        for told_first in [false, true] {
            let mut ledger = Ledger::default();
            claim(&mut ledger, 1, "a.example", BEFORE_MIDNIGHT, &limits);
            assert!(told_first || waits(&mut ledger, AFTER_MIDNIGHT));
            finish(&mut ledger, 1, Outcome::Sent, AFTER_MIDNIGHT);
            assert!(waits(&mut ledger, AFTER_MIDNIGHT), "two on that day");
            let next_day = AFTER_MIDNIGHT + time::Duration::DAY;
            assert!(!waits(&mut ledger, next_day));
        }
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", BEFORE_MIDNIGHT, &limits);
        finish(&mut ledger, 1, Outcome::Released, AFTER_MIDNIGHT);
        assert!(!waits(&mut ledger, AFTER_MIDNIGHT), "it was not sent");
    }

    #[test]
    fn an_old_claim_is_made_anew_for_the_day_on_which_its_mail_is_sent() {
        let limits = one_a_day();
        let mut ledger = Ledger::default();
        let evening = BEFORE_MIDNIGHT - time::Duration::HOUR;
        claim(&mut ledger, 1, "a.example", evening, &limits);
        let other = claim(&mut ledger, 2, "a.example", AFTER_MIDNIGHT, &limits);
        assert_eq!(
            other,
            Claim::Granted,
            "the first did not take a place of this day"
        );
        let late = claim(&mut ledger, 1, "a.example", AFTER_MIDNIGHT, &limits);
        assert!(matches!(late, Claim::Wait(_)), "{late:?}");
        assert_eq!(ledger.in_hand(issue()), 2, "whoever was killed may have sent it");
        let next_day = AFTER_MIDNIGHT + time::Duration::DAY;
        let late = claim(&mut ledger, 1, "a.example", next_day, &limits);
        assert_eq!(late, Claim::Granted);
    }

    #[test]
    fn a_day_of_the_warm_up_begins_with_the_mail_that_was_under_way() {
        let limits = SendingLimits {
            warm_up: vec![1, 2, 5],
            ..SendingLimits::default()
        };
        let mut ledger = Ledger::default();
        claim(&mut ledger, 1, "a.example", BEFORE_MIDNIGHT, &limits);
        finish(&mut ledger, 1, Outcome::Sent, AFTER_MIDNIGHT);
        let mut granted_at = |now| {
            let claims = (2..9).map(|mail| claim(&mut ledger, mail, "a.example", now, &limits));
            claims.filter(|claim| *claim == Claim::Granted).count()
        };
        assert_eq!(granted_at(AFTER_MIDNIGHT), 1);
        assert_eq!(granted_at(AFTER_MIDNIGHT + time::Duration::DAY), 5);
    }

    /// What the mail server has: which mail, begun and taken in these seconds.
    #[derive(Default)]
    struct Sent(Vec<(u8, [i64; 2])>);

    impl Sent {
        /// The most mails of a window of so many seconds, by when they were begun, and by when they were taken. One that was sent again
        /// after a kill is one.
        fn most_in(&self, length: i64) -> usize {
            let most = |moment: usize| {
                let mut windows: BTreeMap<i64, BTreeSet<u8>> = BTreeMap::new();
                for (mail, moments) in &self.0 {
                    let window = windows.entry(moments[moment].div_euclid(length));
                    window.or_default().insert(*mail);
                }
                windows
                    .into_values()
                    .map(|mails| mails.len())
                    .max()
                    .unwrap_or_default()
            };
            most(0).max(most(1))
        }
    }

    proptest! {
        #[test]
        fn whoever_is_killed_and_comes_again_in_no_day_or_hour_more_are_sent_than_may_be(
            steps in prop::collection::vec((0u8..30, 0u8..6, 0i64..3_000, 1i64..MAX_UNDER_WAY - CLAIM_HOLDS_SECONDS), 0..300),
        ) {
            let limits = SendingLimits { per_hour: Some(2), per_day: Some(5), ..SendingLimits::default() };
            let (mut ledger, mut now) = (Ledger::default(), NOW.unix_timestamp());
            let at = |second| OffsetDateTime::from_unix_timestamp(second).expect("a time");
            // By when the mail server takes them; each with when it was begun, and by which attempt.
            let mut under_way: BTreeMap<(i64, u8), (i64, Uuid)> = BTreeMap::new();
            let (mut sent, mut begun, mut told) = (Sent::default(), Vec::new(), 0);
            for (number, (mail, what, pause, takes)) in steps.into_iter().chain([(0, 0, DAY, 1)]).enumerate() {
                now += pause;
                while let Some(first) = under_way.first_entry().filter(|first| first.key().0 <= now) {
                    let ((taken, mail), (since, attempt)) = first.remove_entry();
                    ledger.finish(Uuid::from_u128(mail.into()), attempt, issue(), Outcome::Sent, at(taken));
                    sent.0.push((mail, [since, taken]));
                    told += 1;
                }
                let (sending, attempt) = (Uuid::from_u128(mail.into()), Uuid::from_u128(number as u128));
                let claim = |ledger: &mut Ledger| {
                    ledger.claim(sending, attempt, (issue(), "a.example"), at(now), &limits)
                };
                if begun.contains(&mail) || claim(&mut ledger) != Claim::Granted {
                    continue;
                }
                match what {
                    // Its notifier was killed before it was sent, or before that was told of; it comes again.
                    0 => {}
                    1 => sent.0.push((mail, [now, now + takes])),
                    2 => ledger.finish(sending, attempt, issue(), Outcome::Released, at(now)),
                    _ => {
                        begun.push(mail);
                        under_way.insert((now + takes, mail), (now, attempt));
                    }
                }
            }
            prop_assert!(sent.most_in(DAY) <= 5, "{} in a day", sent.most_in(DAY));
            prop_assert!(sent.most_in(HOUR) <= 2, "{} in an hour", sent.most_in(HOUR));
            prop_assert_eq!(ledger.figures(issue()).sent, told);
        }
    }
}
