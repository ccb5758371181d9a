//! State of the webhook endpoints (circuit breaker): since when one fails, and whether it was switched off.

use async_nats::jetstream::{
    Context,
    kv::{Operation, Store},
};
use site_events::{ENDPOINTS, endpoints::EndpointState};
use time::{Duration, OffsetDateTime};

use super::sending::SendingError;
use crate::deliveries::Away;

/// For how long an endpoint may fail without a single success.
const GIVE_UP_AFTER: Duration = Duration::days(5);

/// Failures that lie further apart say nothing of the time between.
const APART: Duration = GIVE_UP_AFTER;
/// How often a change is tried beside those of other deliveries.
const ATTEMPTS: u32 = 5;

/// The state after one more attempt. What is switched off stays so until the operator switches it on.
pub fn after(before: &EndpointState, sent: &Result<(), SendingError>, now: OffsetDateTime) -> EndpointState {
    match sent {
        _ if before.off.is_some() => before.clone(),
        Ok(()) => EndpointState::default(),
        Err(error) => after_failure(before, error, now),
    }
}

fn after_failure(before: &EndpointState, error: &SendingError, now: OffsetDateTime) -> EndpointState {
    let goes_on = before.last_failed.is_none_or(|last| now - last < APART);
    let since = before.failing_since.filter(|_| goes_on).unwrap_or(now);
    let off = match error {
        SendingError::Gone => Some("it answered 410 Gone".to_owned()),
        _ if now - since >= GIVE_UP_AFTER => Some("it failed for five days".to_owned()),
        _ => None,
    };
    EndpointState {
        failing_since: Some(since),
        last_failed: Some(now),
        off,
    }
}

/// The KV bucket of endpoint states, by the endpoint's name.
pub struct EndpointStates(Store);

impl EndpointStates {
    /// Opens the bucket, which must be there.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_key_value(ENDPOINTS).await;
        opened.map(Self).map_err(|error| {
            anyhow::anyhow!("bucket {ENDPOINTS} cannot be opened ({error}); run `sitectl setup`")
        })
    }

    /// How an endpoint fares; well, where nothing is known of it.
    pub async fn of(&self, endpoint: &str) -> Result<EndpointState, Away> {
        let away = |error: &dyn std::fmt::Display| Away::new(ENDPOINTS, error);
        match self.0.get(endpoint).await {
            Ok(Some(state)) => serde_json::from_slice(&state).map_err(|error| away(&error)),
            Ok(None) => Ok(EndpointState::default()),
            Err(error) => Err(away(&error)),
        }
    }

    /// Changes how an endpoint fares, whatever other deliveries note meanwhile; gives what was noted, where that is
    /// something new.
    pub async fn change(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Away> {
        let away = |error: &dyn std::fmt::Display| Away::new(ENDPOINTS, error);
        let mut result = Ok(None);
        for _ in 0..ATTEMPTS {
            let entry = self.0.entry(endpoint).await.map_err(|error| away(&error))?;
            let revision = entry.as_ref().map_or(0, |entry| entry.revision);
            let before = match entry {
                Some(entry) if entry.operation == Operation::Put => {
                    serde_json::from_slice(&entry.value).map_err(|error| away(&error))?
                }
                _ => EndpointState::default(),
            };
            let after = change(&before);
            if after == before {
                return Ok(None);
            }
            let value = serde_json::to_vec(&after).expect("a state is plain values");
            match self.0.update(endpoint, value.into(), revision).await {
                Ok(_) => return Ok(Some(after)),
                Err(error) => result = Err(away(&error)),
            }
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    const FAILED: Result<(), SendingError> = Err(SendingError::Answered(500));

    #[test]
    fn five_days_of_failure_switch_an_endpoint_off() {
        let mut state = after(&EndpointState::default(), &FAILED, NOW);
        assert_eq!(state.failing_since, Some(NOW));
        for hours in [20, 40, 60, 80, 100, 119] {
            state = after(&state, &FAILED, NOW + Duration::hours(hours));
            assert_eq!(state.off, None);
        }
        let then = after(&state, &FAILED, NOW + Duration::days(5));
        assert_eq!(then.off.as_deref(), Some("it failed for five days"));
    }

    #[test]
    fn two_failures_a_week_apart_are_two_hiccups() {
        let first = after(&EndpointState::default(), &FAILED, NOW);
        let next = NOW + Duration::WEEK;
        let second = after(&first, &FAILED, next);
        assert_eq!((second.failing_since, second.off), (Some(next), None));
    }

    #[test]
    fn gone_switches_an_endpoint_off_at_once_and_nothing_but_the_operator_on_again() {
        let gone = after(&EndpointState::default(), &Err(SendingError::Gone), NOW);
        assert_eq!(gone.off.as_deref(), Some("it answered 410 Gone"));
        for later in [Ok(()), FAILED] {
            assert_eq!(after(&gone, &later, NOW + Duration::SECOND), gone);
        }
    }
}
