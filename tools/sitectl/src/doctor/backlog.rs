//! Backlog checks: consumer lag, dead letters, switched-off endpoints.

use async_nats::jetstream::{Context, consumer::Info, stream::Stream};
use futures_util::TryStreamExt as _;
use serde_json::Value;
use site_broker::{Desired, Endpoint};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM};
use site_service::error_line;
use time::{Duration, OffsetDateTime};

use crate::finding::Finding;
use crate::{broker, webhooks};

/// Age of an event at which the backlog becomes a warning: retries are minutes apart.
const BACKLOG_WARNING_AGE: Duration = Duration::minutes(30);

/// All that waits. What cannot be opened was told of before.
pub async fn examine(context: &Context, wanted: &Desired) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Ok(site) = broker::stream(context, SITE_STREAM).await {
        findings.extend(examine_consumers(&site, wanted).await);
    }
    if let Ok(letters) = broker::stream(context, DEAD_LETTERS_STREAM).await {
        findings.push(examine_dead_letters(letters.cached_info().state.messages));
    }
    findings.extend(examine_endpoints(context).await);
    findings
}

async fn examine_consumers(site: &Stream, wanted: &Desired) -> Vec<Finding> {
    let infos: Vec<Info> = match site.consumers().try_collect().await {
        Ok(infos) => infos,
        Err(error) => {
            let says = format!("the consumers cannot be listed: {error}");
            return vec![Finding::wrong("what waits", says, "look at the broker's log")];
        }
    };
    let mut findings = Vec::new();
    for info in infos {
        let mut named = wanted
            .consumers
            .iter()
            .filter_map(|config| config.durable_name.as_ref());
        let is_wanted = named.any(|name| *name == info.name);
        // Others read what they like; that is not ours to judge.
        if is_wanted || info.name.starts_with(Endpoint::CONSUMER_PREFIX) {
            findings.push(examine_backlog(site, &info).await);
        }
    }
    findings
}

async fn examine_backlog(site: &Stream, info: &Info) -> Finding {
    let what = format!("waiting for {}", info.name);
    let waiting = broker::consumer_lag(info);
    if waiting == 0 {
        return Finding::ok(what, "nothing");
    }
    match oldest(site, info).await {
        Ok(Some(oldest)) => judge(&what, waiting, OffsetDateTime::now_utc() - oldest),
        Ok(None) => Finding::ok(what, "nothing any more"),
        Err(error) => Finding::wrong(what, error_line(error.as_ref()), "look at the broker's log"),
    }
}

fn judge(what: &str, waiting: u64, age: Duration) -> Finding {
    let says = format!("{waiting}, the oldest for {} s", age.whole_seconds().max(0));
    if age <= BACKLOG_WARNING_AGE {
        return Finding::ok(what, says);
    }
    Finding::warning(
        what,
        says,
        "see whether its service runs and whether its receiver takes anything: the service's log says why",
    )
}

/// When the oldest event came that has no outcome: the first behind all that have one.
async fn oldest(site: &Stream, info: &Info) -> anyhow::Result<Option<OffsetDateTime>> {
    let from = info.ack_floor.stream_sequence + 1;
    let mut times = Vec::new();
    for subject in &info.config.filter_subjects {
        times.extend(
            broker::next(site, subject, from)
                .await?
                .map(|message| message.time),
        );
    }
    Ok(times.into_iter().min())
}

fn examine_dead_letters(waiting: u64) -> Finding {
    if waiting == 0 {
        return Finding::ok("dead letters", "none");
    }
    Finding::warning(
        "dead letters",
        format!("{waiting} wait for a decision"),
        "see `sitectl dead-letters list`",
    )
}

/// Those that are on or paused by somebody are told by what waits for them.
async fn examine_endpoints(context: &Context) -> Vec<Finding> {
    // A bucket that is not there was told of before.
    let endpoints = webhooks::endpoints(context).await.unwrap_or_default();
    let findings = endpoints.iter().filter_map(|endpoint| {
        let [name, state] = ["name", "state"].map(|key| endpoint[key].as_str().unwrap_or_default());
        let remedy = match (&endpoint["off"], &endpoint["failingSince"]) {
            (Value::String(_), _) => format!("once it works again: `sitectl webhooks enable {name}`"),
            (_, Value::String(_)) => "ask its receiver; it is switched off after five days".to_owned(),
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
    fn what_waits_for_long_is_a_warning() {
        let judged = |age| judge("waiting for somebody", 3, age);
        assert_eq!(judged(Duration::minutes(29)).verdict, Verdict::Ok);
        let late = judged(Duration::minutes(31));
        assert_eq!(late.verdict, Verdict::Warning);
        assert!(late.says.contains("3, the oldest for 1860 s"), "{late:?}");
    }
}
