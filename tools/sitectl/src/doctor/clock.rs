//! Checks the clock skew to the broker: links expire by our clock, records by the broker's.

use async_nats::Client;
use time::{Duration, OffsetDateTime};

use crate::{broker, finding::Finding};

/// Expiry and signatures tolerate this skew.
const MAX_CLOCK_SKEW: Duration = Duration::seconds(10);

pub async fn examine(client: &Client) -> Finding {
    match broker::time(client).await {
        Some(theirs) => judge(OffsetDateTime::now_utc() - theirs),
        None => Finding::ok("clock", "the broker did not return its time"),
    }
}

fn judge(ahead: Duration) -> Finding {
    let seconds = ahead.abs().whole_seconds();
    if ahead.abs() <= MAX_CLOCK_SKEW {
        return Finding::ok("clock", format!("within {seconds} s of the broker's"));
    }
    let side = if ahead.is_positive() { "ahead of" } else { "behind" };
    Finding::warning(
        "clock",
        format!("{seconds} s {side} the broker's"),
        "set both by NTP: links and records expire at the wrong time",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn a_wrong_clock_is_reported_with_its_direction() {
        assert_eq!(judge(Duration::seconds(-3)).verdict, Verdict::Ok);
        let ahead = judge(Duration::minutes(5));
        assert_eq!(ahead.verdict, Verdict::Warning);
        assert!(ahead.says.contains("300 s ahead of"), "{ahead:?}");
        assert!(judge(Duration::minutes(-5)).says.contains("300 s behind"));
    }
}
