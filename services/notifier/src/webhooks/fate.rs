//! How the endpoints fare: since when one fails, and whether it was switched off.

use async_nats::jetstream::{Context, kv::Store};
use site_events::{ENDPOINTS, endpoints::Fate};
use time::{Duration, OffsetDateTime};

use super::sending::SendingError;
use crate::deliveries::Away;

/// For how long an endpoint may fail without a single success.
const GIVE_UP_AFTER: Duration = Duration::days(5);

/// The fate after one more failure.
pub fn after(before: &Fate, error: &SendingError, now: OffsetDateTime) -> Fate {
    let since = before.failing_since.unwrap_or(now);
    let off = match error {
        SendingError::Gone => Some("it answered 410 Gone".to_owned()),
        _ if now - since >= GIVE_UP_AFTER => Some("it failed for five days".to_owned()),
        _ => None,
    };
    Fate {
        failing_since: Some(since),
        off,
    }
}

/// The bucket of fates, by the endpoint's name.
pub struct Fates(Store);

impl Fates {
    /// Opens the bucket, which must be there.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_key_value(ENDPOINTS).await;
        opened.map(Self).map_err(|error| {
            anyhow::anyhow!("bucket {ENDPOINTS} cannot be opened ({error}); run `sitectl setup`")
        })
    }

    /// How an endpoint fares; well, where nothing is known of it.
    pub async fn of(&self, endpoint: &str) -> Result<Fate, Away> {
        let away = |error: &dyn std::fmt::Display| Away::new(ENDPOINTS, error);
        match self.0.get(endpoint).await {
            Ok(Some(fate)) => serde_json::from_slice(&fate).map_err(|error| away(&error)),
            Ok(None) => Ok(Fate::default()),
            Err(error) => Err(away(&error)),
        }
    }

    /// Notes it.
    pub async fn note(&self, endpoint: &str, fate: &Fate) -> Result<(), Away> {
        let value = serde_json::to_vec(fate).expect("a fate is plain values");
        let noted = self.0.put(endpoint, value.into()).await;
        noted.map(drop).map_err(|error| Away::new(ENDPOINTS, &error))
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    #[test]
    fn five_days_of_failure_switch_an_endpoint_off() {
        let first = after(&Fate::default(), &SendingError::Answered(500), NOW);
        assert_eq!(first.failing_since, Some(NOW));
        let almost = after(
            &first,
            &SendingError::Answered(500),
            NOW + Duration::days(5) - Duration::SECOND,
        );
        assert_eq!(almost.off, None);
        let then = after(&almost, &SendingError::Answered(500), NOW + Duration::days(5));
        assert_eq!(then.off.as_deref(), Some("it failed for five days"));
    }

    #[test]
    fn gone_switches_an_endpoint_off_at_once() {
        let gone = after(&Fate::default(), &SendingError::Gone, NOW);
        assert_eq!(gone.off.as_deref(), Some("it answered 410 Gone"));
    }
}
