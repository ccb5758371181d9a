//! Backlog checks: consumer lag, dead letters, switched-off endpoints.

use async_nats::jetstream::{Context, consumer::Info, stream::Stream};
use futures_util::TryStreamExt as _;
use site_broker::{Desired, Endpoint, ProvisionSettings};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM};
use site_service::error_line;
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use crate::finding::{Finding, RUN_SETUP};
use crate::{broker, webhooks};

/// Age of an event at which the backlog becomes a warning: retries are minutes apart.
const BACKLOG_WARNING_AGE: Duration = Duration::minutes(30);

/// All that waits. What cannot be opened was told of before.
pub async fn examine(context: &Context, wanted: &Desired, settings: &ProvisionSettings) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Ok(site) = broker::stream(context, SITE_STREAM).await {
        findings.extend(examine_consumers(&site, wanted, settings).await);
    }
    if let Ok(letters) = broker::stream(context, DEAD_LETTERS_STREAM).await {
        findings.push(examine_dead_letters(letters.cached_info().state.messages));
    }
    findings.extend(examine_endpoints(context).await);
    findings
}

async fn examine_consumers(site: &Stream, wanted: &Desired, settings: &ProvisionSettings) -> Vec<Finding> {
    let infos: Vec<Info> = match site.consumers().try_collect().await {
        Ok(infos) => infos,
        Err(error) => {
            let says = format!("the consumers cannot be listed: {error}");
            return vec![Finding::wrong("what waits", says, "look at the broker's log")];
        }
    };
    let mut findings = Vec::new();
    for info in infos {
        let is_wanted = wanted
            .consumers
            .iter()
            .any(|config| config.durable_name.as_deref() == Some(&info.name));
        let is_endpoints = info.name.starts_with(Endpoint::CONSUMER_PREFIX);
        // Others read what they like; that is not ours to judge.
        if !is_wanted && !is_endpoints {
            continue;
        }
        if !is_wanted && settings.webhooks.is_some() {
            findings.push(Finding::warning(
                format!("consumer {}", info.name),
                "WEBHOOKS names its endpoint no more",
                format!("{RUN_SETUP}, which removes it with what waits for it"),
            ));
        }
        findings.push(examine_backlog(site, &info).await);
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
    let mut oldest = None;
    for subject in &info.config.filter_subjects {
        let first = broker::next(site, subject, from).await?;
        oldest = [oldest, first.map(|message| message.time)]
            .into_iter()
            .flatten()
            .min();
    }
    Ok(oldest)
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

async fn examine_endpoints(context: &Context) -> Vec<Finding> {
    let states = match webhooks::states(context).await {
        Ok(states) => states,
        // A bucket that is not there was told of before.
        Err(_) => return Vec::new(),
    };
    let judge = |(name, state): (String, site_broker::endpoint_state::EndpointState)| {
        let what = format!("endpoint {name}");
        match (state.off, state.failing_since) {
            (Some(reason), _) => Finding::warning(
                what,
                format!("switched off: {reason}"),
                format!("once it works again: `sitectl webhooks enable {name}`"),
            ),
            (None, Some(since)) => Finding::warning(
                what,
                format!("fails since {}", since.format(&Rfc3339).unwrap_or_default()),
                "ask its receiver; it is switched off after five days",
            ),
            (None, None) => Finding::ok(what, "takes what it is sent"),
        }
    };
    states.into_iter().map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_long_is_a_warning() {
        let line = |age| judge("waiting for somebody", 3, age).cells().join(" ");
        assert!(line(Duration::minutes(29)).starts_with("ok"));
        let late = line(Duration::minutes(31));
        assert!(
            late.starts_with("warning") && late.contains("3, the oldest for 1860 s"),
            "{late}"
        );
    }
}
