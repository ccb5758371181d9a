//! Backlog checks: consumer lag, dead letters, switched-off endpoints.

use async_nats::jetstream::{Context, consumer::Info, stream::Stream};
use futures_util::TryStreamExt as _;
use serde_json::Value;
use site_broker::{Desired, Endpoint};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM};
use site_service::error_line;
use time::{Duration, OffsetDateTime};

use crate::{broker, finding::Finding, webhooks};

/// Age above which an event in the backlog is a warning. Retries are minutes apart.
const BACKLOG_WARNING_AGE: Duration = Duration::minutes(30);

pub async fn examine(context: &Context, wanted: &Desired) -> Vec<Finding> {
    let examined = examine_consumers(context, wanted).await;
    let mut findings = examined.unwrap_or_else(|error| {
        let says = error_line(error.as_ref());
        vec![Finding::wrong("backlog", says, "look at the broker's log")]
    });
    // Another finding reports a missing stream.
    if let Ok(letters) = broker::stream(context, DEAD_LETTERS_STREAM).await {
        let what = "dead letters";
        findings.push(match letters.cached_info().state.messages {
            0 => Finding::ok(what, "none"),
            waiting => {
                let says = format!("{waiting} wait for a decision");
                Finding::warning(what, says, "see `sitectl dead-letters list`")
            }
        });
    }
    findings.extend(examine_endpoints(context).await);
    findings
}

/// Checks our consumers and those of endpoints, but not those of other programs.
async fn examine_consumers(context: &Context, wanted: &Desired) -> anyhow::Result<Vec<Finding>> {
    let site = broker::stream(context, SITE_STREAM).await?;
    let mut consumers = site.consumers();
    let mut findings = Vec::new();
    while let Some(info) = consumers.try_next().await? {
        let mut wanted = wanted.consumers.iter();
        let is_wanted = wanted.any(|config| config.durable_name.as_ref() == Some(&info.name));
        if is_wanted || info.name.starts_with(Endpoint::CONSUMER_PREFIX) {
            let waiting = broker::consumer_lag(&info);
            let oldest = match waiting {
                0 => None,
                _ => oldest(&site, &info).await?,
            };
            let age = oldest.map(|oldest| OffsetDateTime::now_utc() - oldest);
            findings.push(judge(&info.name, waiting, age));
        }
    }
    Ok(findings)
}

fn judge(consumer: &str, waiting: u64, age: Option<Duration>) -> Finding {
    let what = format!("waiting for {consumer}");
    let Some(age) = age else {
        return Finding::ok(what, "nothing");
    };
    let says = format!("{waiting}, the oldest for {} s", age.whole_seconds().max(0));
    if age <= BACKLOG_WARNING_AGE {
        return Finding::ok(what, says);
    }
    let remedy =
        "check that its service runs and its receiver accepts deliveries: the service's log says why";
    Finding::warning(what, says, remedy)
}

/// Time of the oldest event without an outcome.
async fn oldest(site: &Stream, info: &Info) -> anyhow::Result<Option<OffsetDateTime>> {
    let from = info.ack_floor.stream_sequence + 1;
    let mut times = Vec::new();
    for subject in &info.config.filter_subjects {
        let first = broker::next(site, subject, from).await?;
        times.extend(first.map(|message| message.time));
    }
    Ok(times.into_iter().min())
}

async fn examine_endpoints(context: &Context) -> Vec<Finding> {
    // Another finding reports a missing bucket.
    let endpoints = webhooks::endpoints(context).await.unwrap_or_default();
    let findings = endpoints.iter().filter_map(|endpoint| {
        let [name, state] = ["name", "state"].map(|key| endpoint[key].as_str().unwrap_or_default());
        let remedy = match (&endpoint["off"], &endpoint["failingSince"]) {
            (Value::String(_), _) => format!("once it works again: `sitectl webhooks enable {name}`"),
            (_, Value::String(_)) => "ask its operator; it is switched off after five days".to_owned(),
            _ => return None,
        };
        Some(Finding::warning(format!("endpoint {name}"), state, remedy))
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    #[test]
    fn an_old_backlog_is_a_warning() {
        let judged = |age| judge("somebody", 3, Some(age));
        assert_eq!(judged(Duration::minutes(29)).verdict, Verdict::Ok);
        let late = judged(Duration::minutes(31));
        assert_eq!(late.verdict, Verdict::Warning);
        assert!(late.says.contains("3, the oldest for 1860 s"), "{late:?}");
    }
}
