//! Configuration drift: whether streams, buckets and consumers are as `sitectl setup` creates them.

use std::time::Duration;

use async_nats::jetstream::{
    Context,
    consumer::{PullConsumer, pull},
    stream::{Config, Info},
};
use serde::Serialize;
use serde_json::{Value, json};
use site_broker::{Desired, provision::described};
use site_events::{SENDINGS_STREAM, SITE_STREAM};

use crate::finding::{Finding, RUN_SETUP, Verdict};

const NEARLY_FULL_PERCENT: u64 = 80;
/// Compared settings of streams and consumers, by the broker's names.
const SETTINGS: &str = "subjects num_replicas max_age max_bytes max_msgs_per_subject duplicate_window retention storage discard \
                        allow_direct allow_rollup_hdrs allow_msg_ttl subject_delete_marker_ttl filter_subjects ack_wait \
                        max_deliver ack_policy";
/// Settings that the broker chooses if they are unset.
const DECIDED_BY_BROKER: &str = "num_replicas max_msgs_per_subject duplicate_window";
/// Settings in nanoseconds.
const DURATIONS: &str = "max_age duplicate_window subject_delete_marker_ttl ack_wait";

pub async fn examine(context: &Context, wanted: &Desired) -> Vec<Finding> {
    let mut findings = Vec::new();
    for config in wanted.streams.iter().chain(&wanted.buckets) {
        findings.push(examine_stream(context, &described(config), config).await);
    }
    let of_site = wanted.consumers.iter().map(|config| (SITE_STREAM, config));
    let others = wanted.others.iter().map(|(stream, config)| (*stream, config));
    for (stream, config) in of_site.chain(others) {
        findings.push(examine_consumer(context, stream, config).await);
    }
    findings
}

async fn examine_stream(context: &Context, what: &str, wanted: &Config) -> Finding {
    match context.get_stream(&wanted.name).await {
        Ok(stream) => {
            let info = stream.cached_info();
            let full = full_percent(info);
            let fine = format!("as set up, {} messages, {full} % full", info.state.messages);
            let finding = judge(what, fine, &differences(wanted, &info.config));
            // A large newsletter issue fills the stream of sendings for a while, which is no fault.
            let may_be_full = wanted.name == SENDINGS_STREAM;
            if finding.verdict == Verdict::Ok && full >= NEARLY_FULL_PERCENT && !may_be_full {
                let remedy = "raise STREAM_STORAGE_MB; a full one rejects new messages";
                return Finding::warning(what, format!("{full} % full"), remedy);
            }
            finding
        }
        Err(error) => Finding::wrong(what, format!("cannot be opened: {error}"), RUN_SETUP),
    }
}

fn full_percent(info: &Info) -> u64 {
    let share = u64::try_from(info.config.max_bytes).unwrap_or(u64::MAX).max(1);
    info.state.bytes.saturating_mul(100) / share
}

async fn examine_consumer(context: &Context, stream: &str, wanted: &pull::Config) -> Finding {
    let name = wanted.durable_name.as_deref().unwrap_or_default();
    let what = format!("consumer {name}");
    let found: Result<PullConsumer, _> = context.get_consumer_from_stream(name, stream).await;
    match found {
        Ok(consumer) => {
            let differences = differences(wanted, &consumer.cached_info().config);
            judge(&what, "as set up".to_owned(), &differences)
        }
        Err(error) => Finding::wrong(what, format!("cannot be opened: {error}"), RUN_SETUP),
    }
}

fn judge(what: &str, fine: String, differences: &[String]) -> Finding {
    if differences.is_empty() {
        Finding::ok(what, fine)
    } else {
        let remedy = format!("{RUN_SETUP} with the settings of this command");
        Finding::wrong(what, differences.join(", "), remedy)
    }
}

fn differences(wanted: &impl Serialize, found: &impl Serialize) -> Vec<String> {
    let (wanted, found) = (json!(wanted), json!(found));
    let differences = SETTINGS.split(' ').filter_map(|name| {
        let is_any = DECIDED_BY_BROKER.contains(name) && wanted[name].as_i64().unwrap_or_default() == 0;
        let [wanted, found] = [&wanted, &found].map(|config| shown(name, &config[name]));
        (wanted != found && !is_any).then(|| format!("{name} is {found} and should be {wanted}"))
    });
    differences.collect()
}

fn shown(name: &str, value: &Value) -> String {
    match value.as_u64() {
        Some(nanoseconds) if DURATIONS.contains(name) => format!("{:?}", Duration::from_nanos(nanoseconds)),
        None if value.is_null() => "unset".to_owned(),
        _ => value.to_string(),
    }
}
