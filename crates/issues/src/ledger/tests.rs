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
fn a_mail_whose_subscriber_left_counts_once_however_often_it_is_told_of() {
    let limits = SendingLimits::default();
    let mut ledger = Ledger::default();
    claim(&mut ledger, 1, "a.example", NOW, &limits);
    for told in [NOW, later(1), later(61)] {
        finish(&mut ledger, 1, Outcome::Left, told);
        // Before it was claimed.
        finish(&mut ledger, 2, Outcome::Left, told);
    }
    assert_eq!(ledger.figures(issue()).left, 2);
    // Whoever left after their mail may have been sent is not counted as both.
    claim(&mut ledger, 3, "a.example", NOW, &limits);
    claim_again(&mut ledger, 3, NOW, &limits);
    finish(&mut ledger, 3, Outcome::Sent, NOW);
    finish(&mut ledger, 3, Outcome::Left, NOW);
    assert_eq!(
        (ledger.figures(issue()).sent, ledger.figures(issue()).left),
        (1, 2)
    );
}

#[test]
fn of_those_who_left_as_many_are_known_as_fit() {
    let mut ledger = Ledger::default();
    for mail in 0..2_000 {
        finish(&mut ledger, mail, Outcome::Left, NOW);
    }
    let record = serde_json::to_vec(&ledger).expect("a record");
    assert!(record.len() < 20_000, "{} bytes", record.len());
    assert_eq!(ledger.figures(issue()).left, 2_000);
    ledger.claim(
        Uuid::from_u128(1),
        ATTEMPT,
        (issue(), "a.example"),
        later(FORGOTTEN_AFTER + HOUR),
        &SendingLimits::default(),
    );
    assert!(ledger.left.is_empty());
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
