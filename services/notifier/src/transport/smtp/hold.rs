//! Hold: while the mail server takes nothing for a reason of ours, nothing is given up. One mail at a time asks whether that is mended, at
//! growing intervals, and the operator is alarmed.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use opentelemetry::{
    KeyValue,
    metrics::{Counter, UpDownCounter},
};
use site_service::metrics;
use tokio::time::Instant;

use super::{limits::Priority, refusal::Refusal};

/// The pause after the first refusal of our account; it doubles with each one that comes when it is over.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause: a daily limit is asked for by the hour.
const MAX_PAUSE: Duration = Duration::from_secs(60 * 60);
/// The longest where only the row of refusals says that it is about us: anybody can name recipients that are refused.
const MAX_PAUSE_OF_ROW: Duration = Duration::from_secs(60);
/// Refusals to so many domains in a row, and no mail taken between them, are about us.
const DOMAINS_IN_A_ROW: usize = 3;
/// The same where the server says of each that it is about the recipient.
const RECIPIENTS_DOMAINS_IN_A_ROW: usize = 5;
/// A refusal that may be about us is final where it comes so often, and no row of them does.
const CONFIRMED_BY: u32 = 3;
/// The most mails of which it is known that they were refused.
const MAX_KNOWN: usize = 1024;

/// What to do about a refusal.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Give the mail up.
    Final,
    /// Try the mail again: it is not known yet whether others are refused, too.
    Again,
    /// Hold all mails for so long.
    Hold(Duration),
}

/// Whether mails are held, and the refusals since the server last took one.
pub struct Hold {
    state: Mutex<State>,
    held: UpDownCounter<i64>,
    refusals: Counter<u64>,
}

#[derive(Default)]
struct State {
    is_held: bool,
    pause: Duration,
    until: Option<Instant>,
    /// The domains of the row.
    domains: HashSet<String>,
    /// How many mails were taken.
    taken: u64,
    /// Of mails whose refusal may be about us: how many others had been taken at the first, and how often it came.
    unconfirmed: HashMap<String, (u64, u32)>,
}

impl Hold {
    /// Nothing is held.
    pub fn new() -> Self {
        let hold = Self {
            state: Mutex::default(),
            held: metrics::meter()
                .i64_up_down_counter("site.smtp.held")
                .with_unit("{hold}")
                .with_description(
                    "Whether mails are held because the mail server takes nothing for a reason of ours",
                )
                .build(),
            refusals: metrics::meter()
                .u64_counter("site.smtp.refusals")
                .with_unit("{mail}")
                .with_description("Refusals of the mail server, by what they are about")
                .build(),
        };
        hold.held.add(0, &[]);
        for refusal in [
            Refusal::Account,
            Refusal::Recipient,
            Refusal::Mail,
            Refusal::Unknown,
        ] {
            hold.refusals.add(0, &[KeyValue::new("about", refusal.name())]);
        }
        hold
    }

    /// Whether mails are held.
    pub fn is_held(&self) -> bool {
        self.state().is_held
    }

    /// What to do about a refusal of this mail (its key tells it from others) to this domain.
    pub fn refused(
        &self,
        refusal: Refusal,
        reason: &str,
        key: &str,
        priority: Priority,
        domain: &str,
    ) -> Verdict {
        self.refusals.add(1, &[KeyValue::new("about", refusal.name())]);
        let (verdict, is_new) = {
            let mut state = self.state();
            let verdict = state.refused(refusal, key, priority, domain, Instant::now());
            let is_new = matches!(verdict, Verdict::Hold(_)) && !state.is_held;
            state.is_held |= is_new;
            (verdict, is_new)
        };
        if is_new {
            self.held.add(1, &[]);
            tracing::error!(
                reason,
                "the mail server takes nothing for a reason of ours; mails are held until it does (docs/runbook.md, MailIsHeld)"
            );
        }
        verdict
    }

    /// The server took a mail.
    pub fn taken(&self) {
        let was_held = {
            let mut state = self.state();
            let was_held = std::mem::take(&mut state.is_held);
            state.taken += 1;
            state.domains.clear();
            (state.pause, state.until) = (Duration::ZERO, None);
            was_held
        };
        if was_held {
            self.held.add(-1, &[]);
            tracing::info!("the mail server takes mails again");
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.held.add(-i64::from(self.is_held()), &[]);
    }
}

impl State {
    fn refused(
        &mut self,
        refusal: Refusal,
        key: &str,
        priority: Priority,
        domain: &str,
        now: Instant,
    ) -> Verdict {
        let too_many = match refusal {
            Refusal::Account => return Verdict::Hold(self.next_pause(MAX_PAUSE, now)),
            Refusal::NoSuchAddress | Refusal::Recipient => RECIPIENTS_DOMAINS_IN_A_ROW,
            Refusal::Mail | Refusal::Unknown => DOMAINS_IN_A_ROW,
        };
        if self.domains.len() < RECIPIENTS_DOMAINS_IN_A_ROW {
            self.domains.insert(domain.to_lowercase());
        }
        if self.domains.len() >= too_many {
            return Verdict::Hold(self.next_pause(MAX_PAUSE_OF_ROW, now));
        }
        if refusal != Refusal::Unknown && self.domains.len() == 1 {
            return Verdict::Final;
        }
        if self.unconfirmed.len() >= MAX_KNOWN {
            self.unconfirmed.clear();
        }
        let (taken, times) = self.unconfirmed.entry(key.to_owned()).or_insert((self.taken, 0));
        *times += 1;
        // A site where little happens has no row, and what says nothing may be the day's quota: a form's mail is tried until its time is
        // over. An issue's ends, and can be repeated.
        let is_patient = refusal == Refusal::Unknown && priority == Priority::First;
        let is_confirmed = !is_patient && *times >= CONFIRMED_BY;
        if self.taken > *taken || is_confirmed {
            self.unconfirmed.remove(key);
            return Verdict::Final;
        }
        Verdict::Again
    }

    /// How long to hold from now on. What was under way together grows it once.
    fn next_pause(&mut self, max: Duration, now: Instant) -> Duration {
        if self.until.is_none_or(|until| until <= now) {
            self.pause = (2 * self.pause).clamp(FIRST_PAUSE, max);
            self.until = Some(now + self.pause);
        }
        self.until.map_or(self.pause, |until| until - now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refuse(hold: &Hold, refusal: Refusal, recipient: &str) -> Verdict {
        let domain = recipient.split('@').next_back().unwrap_or_default();
        hold.refused(refusal, "no", recipient, Priority::First, domain)
    }

    #[test]
    fn a_refusal_of_our_account_holds_all_at_once_until_a_mail_is_taken() {
        let hold = Hold::new();
        assert!(matches!(
            refuse(&hold, Refusal::Account, "a@a.example"),
            Verdict::Hold(_)
        ));
        assert!(hold.is_held());
        hold.taken();
        assert!(!hold.is_held());
    }

    #[test]
    fn pauses_double_up_to_an_hour_and_what_fails_together_grows_them_once() {
        let (mut state, mut now) = (State::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..12 {
            let pause = state.next_pause(MAX_PAUSE, now);
            assert_eq!(state.next_pause(MAX_PAUSE, now), pause);
            now += pause;
            pauses.push(pause.as_secs());
        }
        assert_eq!(pauses[..3], [5, 10, 20]);
        assert_eq!(pauses[11], 60 * 60);
    }

    #[test]
    fn refusals_of_several_domains_in_a_row_are_about_us() {
        let hold = Hold::new();
        let unknown = |recipient: &str| refuse(&hold, Refusal::Unknown, recipient);
        assert_eq!(unknown("a@a.example"), Verdict::Again);
        assert_eq!(unknown("b@a.example"), Verdict::Again, "the same domain");
        assert_eq!(unknown("b@b.example"), Verdict::Again);
        assert!(matches!(unknown("c@c.example"), Verdict::Hold(_)));
        hold.taken();
        assert_eq!(unknown("d@d.example"), Verdict::Again);
        assert_eq!(unknown("a@a.example"), Verdict::Final, "others are taken");
    }

    #[test]
    fn a_refusal_about_the_recipient_or_the_mail_is_final_unless_others_are_refused_too() {
        let hold = Hold::new();
        let gone = |recipient: &str| refuse(&hold, Refusal::NoSuchAddress, recipient);
        assert_eq!(gone("a@a.example"), Verdict::Final);
        assert_eq!(gone("b@b.example"), Verdict::Again);
        hold.taken();
        assert_eq!(refuse(&hold, Refusal::Mail, "c@c.example"), Verdict::Final);
        assert_eq!(gone("b@b.example"), Verdict::Final);
        for domain in ["d", "e"] {
            assert_eq!(gone(&format!("x@{domain}.example")), Verdict::Again, "{domain}");
        }
        assert!(matches!(gone("x@f.example"), Verdict::Hold(_)));
    }

    #[test]
    fn a_refusal_that_says_nothing_is_final_only_once_another_mail_is_taken() {
        let hold = Hold::new();
        for _ in 0..20 {
            assert_eq!(refuse(&hold, Refusal::Unknown, "a@a.example"), Verdict::Again);
            assert_eq!(refuse(&hold, Refusal::Unknown, "b@b.example"), Verdict::Again);
        }
        hold.taken();
        assert_eq!(refuse(&hold, Refusal::Unknown, "a@a.example"), Verdict::Final);
    }

    #[test]
    fn of_an_issue_such_a_refusal_is_final_where_it_comes_again_and_again_for_one_domain() {
        let hold = Hold::new();
        let issue = || {
            hold.refused(
                Refusal::Unknown,
                "no",
                "a.example.issue",
                Priority::Bulk,
                "a.example",
            )
        };
        assert_eq!(
            [issue(), issue(), issue()],
            [Verdict::Again, Verdict::Again, Verdict::Final]
        );
    }
}
