//! The ledger: how many mails of the newsletter were sent in this second, hour and day, to which domains, which are in somebody's
//! hands, and what came of those of each issue. One record that all notifiers change by compare-and-set, so that limits hold for
//! all of them together, and each mail counts once, whoever is killed.

#[cfg(test)]
mod tests;

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
/// Of how many mails it is known that their subscribers left: some seconds of those of an issue that everybody leaves.
const MAX_KNOWN_LEFT: usize = 256;
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

impl Figures {
    /// How many mails were decided on.
    pub fn decided(self) -> u64 {
        self.sent + self.left + self.bounced + self.refused + self.given_up
    }
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
    /// Mails whose subscribers left and that may be told of again, by when they were told of: they need not have been claimed.
    left: BTreeMap<Uuid, i64>,
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
        let slow = self.slow_down(&domain, time);
        let mail = self.put_off_mails.entry(sending).or_default();
        *mail = PutOffMail {
            times: mail.times + 1,
            last: time,
        };
        let times = mail.times;
        self.issues.entry(issue).or_default().deferred += 1;
        if times >= MAX_PUT_OFF || time - slow.since >= DOMAIN_GIVEN_UP_AFTER {
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
        let pause = domain.map_or(FIRST_SLOWED, |domain| self.slow_down(&domain, time).pause);
        self.release(sending, attempt);
        Duration::from_secs(pause.unsigned_abs())
    }

    /// Says what came of one attempt at a mail. One that is in nobody's hands was told of before, unless its subscriber left before it
    /// was claimed. Its place is given back by whoever claimed it and did not send it, unless somebody else may have.
    pub fn finish(
        &mut self,
        sending: Uuid,
        attempt: Uuid,
        issue: IssueId,
        outcome: Outcome,
        now: OffsetDateTime,
    ) {
        let in_hand = self.in_hand.get(&sending).cloned();
        let is_told = in_hand.as_ref().map_or_else(
            || outcome != Outcome::Left || self.left.contains_key(&sending),
            |mail| mail.is_told,
        );
        if is_told {
            return;
        }
        let time = now.unix_timestamp();
        // With what is in hand: this one may have been sent after midnight.
        self.enter(time);
        let figures = self.issues.entry(issue).or_default();
        figures.last = time;
        match outcome {
            Outcome::Sent => figures.sent += 1,
            Outcome::Left => {
                figures.left += 1;
                self.left.insert(sending, time);
                forget_oldest(&mut self.left, MAX_KNOWN_LEFT, |time| *time);
            }
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

    /// Counts one refused mail less: it was sent once more, and what came of that is counted.
    pub fn forget_refusal(&mut self, issue: IssueId) {
        if let Some(figures) = self.issues.get_mut(&issue) {
            figures.refused = figures.refused.saturating_sub(1);
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
            self.left.retain(|_, told| *told > time - FORGOTTEN_AFTER);
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

    fn slow_down(&mut self, domain: &str, time: i64) -> SlowDomain {
        let known = self.slow.get(domain);
        let pause = known.map_or(FIRST_SLOWED, |slow| (slow.pause * 2).min(MAX_SLOWED));
        let slow = SlowDomain {
            since: known.map_or(time, |slow| slow.since),
            until: time + pause,
            pause,
        };
        self.slow.insert(domain.to_owned(), slow);
        forget_oldest(&mut self.slow, MAX_SLOW_DOMAINS, |slow| slow.until);
        slow
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
