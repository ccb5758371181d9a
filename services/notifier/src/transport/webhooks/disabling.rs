//! Disables endpoints that fail for too long, or answer 410 Gone.

use site_broker::endpoint_state::EndpointState;
use time::{Duration, OffsetDateTime};
use webhooks::SendingError;

/// Time without a success until an endpoint is disabled.
const GIVE_UP_AFTER: Duration = Duration::days(5);

/// A longer gap between failures starts the count anew.
const FAILURE_WINDOW: Duration = GIVE_UP_AFTER;

/// State after an attempt. A disabled endpoint stays disabled until the operator enables it.
pub fn next_state(
    before: &EndpointState,
    sent: &Result<(), SendingError>,
    now: OffsetDateTime,
) -> EndpointState {
    match sent {
        _ if before.off.is_some() => before.clone(),
        Ok(()) => EndpointState::default(),
        Err(error) => after_failure(before, error, now),
    }
}

fn after_failure(before: &EndpointState, error: &SendingError, now: OffsetDateTime) -> EndpointState {
    if error.is_account_refused() {
        return EndpointState {
            held: Some(error.to_string()),
            ..EndpointState::default()
        };
    }
    let goes_on = before.last_failed.is_none_or(|last| now - last < FAILURE_WINDOW);
    let since = before.failing_since.filter(|_| goes_on).unwrap_or(now);
    let off = match error {
        SendingError::Rejected { status: 410, .. } => Some("it answered 410 Gone".to_owned()),
        _ if now - since >= GIVE_UP_AFTER => Some("it failed for five days".to_owned()),
        _ => None,
    };
    EndpointState {
        failing_since: Some(since),
        last_failed: Some(now),
        held: None,
        off,
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    const FAILED: Result<(), SendingError> = rejected(500);

    const fn rejected(status: u16) -> Result<(), SendingError> {
        Err(SendingError::Rejected { status, after: None })
    }

    #[test]
    fn five_days_of_failure_switch_an_endpoint_off() {
        let mut state = next_state(&EndpointState::default(), &FAILED, NOW);
        assert_eq!(state.failing_since, Some(NOW));
        for hours in [20, 40, 60, 80, 100, 119] {
            state = next_state(&state, &FAILED, NOW + Duration::hours(hours));
            assert_eq!(state.off, None);
        }
        let then = next_state(&state, &FAILED, NOW + Duration::days(5));
        assert_eq!(then.off.as_deref(), Some("it failed for five days"));
    }

    #[test]
    fn refused_credentials_hold_an_endpoint_and_never_switch_it_off() {
        let refused = rejected(401);
        let mut state = next_state(&EndpointState::default(), &FAILED, NOW);
        for day in 1..10 {
            state = next_state(&state, &refused, NOW + Duration::days(day));
            assert_eq!(state.held.as_deref(), Some("the receiver answered 401"));
            assert_eq!((state.failing_since, &state.off), (None, &None));
        }
        assert_eq!(next_state(&state, &Ok(()), NOW), EndpointState::default());
    }

    #[test]
    fn two_isolated_failures_do_not_disable_an_endpoint() {
        let first = next_state(&EndpointState::default(), &FAILED, NOW);
        let next = NOW + FAILURE_WINDOW;
        let second = next_state(&first, &FAILED, next);
        assert_eq!((second.failing_since, second.off), (Some(next), None));
    }

    #[test]
    fn a_410_disables_an_endpoint_until_the_operator_enables_it() {
        let gone = next_state(&EndpointState::default(), &rejected(410), NOW);
        assert_eq!(gone.off.as_deref(), Some("it answered 410 Gone"));
        for later in [Ok(()), FAILED] {
            assert_eq!(next_state(&gone, &later, NOW + Duration::SECOND), gone);
        }
    }
}
