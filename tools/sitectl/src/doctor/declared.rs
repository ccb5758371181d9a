//! Configuration drift: whether streams, buckets and consumers are there, and set as `sitectl setup` sets them.

use std::{fmt::Debug, time::Duration};

use async_nats::jetstream::{
    Context,
    consumer::{PullConsumer, pull},
    context::GetStreamErrorKind,
    stream::{Config, Info},
};
use site_broker::{Desired, provision::described};
use site_events::{SENDINGS_STREAM, SITE_STREAM};

use crate::finding::{Finding, RUN_SETUP, Verdict};

/// From when on somebody should look.
const NEARLY_FULL_PERCENT: u64 = 80;

/// Each of them.
pub async fn examine(context: &Context, wanted: &Desired) -> Vec<Finding> {
    let mut findings = Vec::new();
    for config in wanted.streams.iter().chain(&wanted.buckets) {
        findings.push(examine_stream(context, &described(config), config).await);
    }
    for config in &wanted.consumers {
        findings.push(examine_consumer(context, SITE_STREAM, config).await);
    }
    for (stream, config) in &wanted.others {
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
            let finding = judge(what, fine, &stream_differences(wanted, &info.config));
            // An issue fills the stream of sendings as fast as there is room.
            let may_be_full = wanted.name == SENDINGS_STREAM;
            if finding.verdict == Verdict::Ok && full >= NEARLY_FULL_PERCENT && !may_be_full {
                let remedy = "raise STREAM_STORAGE_MB; a full one refuses what comes";
                return Finding::warning(what, format!("{full} % full"), remedy);
            }
            finding
        }
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(error) if error.code() == 404 => {
                Finding::wrong(what, "not there", RUN_SETUP)
            }
            _ => Finding::wrong(
                what,
                format!("cannot be opened: {error}"),
                "look at the broker's log",
            ),
        },
    }
}

/// How much of its share is used.
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
            let found = &consumer.cached_info().config;
            let mut differences = Differences::default();
            differences.note("what it takes", &wanted.filter_subjects, &found.filter_subjects);
            differences.note("the wait for an outcome", &wanted.ack_wait, &found.ack_wait);
            differences.note("the most attempts", &wanted.max_deliver, &found.max_deliver);
            differences.note("how it is acknowledged", &wanted.ack_policy, &found.ack_policy);
            judge(&what, "as set up".to_owned(), &differences)
        }
        Err(error) => Finding::wrong(what, format!("cannot be opened: {error}"), RUN_SETUP),
    }
}

fn judge(what: &str, fine: String, differences: &Differences) -> Finding {
    if differences.0.is_empty() {
        Finding::ok(what, fine)
    } else {
        let remedy = format!("{RUN_SETUP} with the settings that you gave here");
        Finding::wrong(what, differences.0.join(", "), remedy)
    }
}

/// In what a thing is not as it is wanted, in words.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn note<T: PartialEq + Debug>(&mut self, what: &str, wanted: &T, found: &T) {
        if wanted != found {
            self.0
                .push(format!("{what} is {found:?} and should be {wanted:?}"));
        }
    }
}

fn stream_differences(wanted: &Config, found: &Config) -> Differences {
    let mut differences = Differences::default();
    differences.note("its subjects", &wanted.subjects, &found.subjects);
    differences.note("the number of copies", &wanted.num_replicas, &found.num_replicas);
    differences.note("the time kept", &Age(wanted.max_age), &Age(found.max_age));
    differences.note("the most bytes", &wanted.max_bytes, &found.max_bytes);
    differences.note("what is removed", &wanted.retention, &found.retention);
    differences.note("where it is stored", &wanted.storage, &found.storage);
    differences.note("what a full one drops", &wanted.discard, &found.discard);
    differences.note("reading from any copy", &wanted.allow_direct, &found.allow_direct);
    differences.note(
        "letting a message remove all others",
        &wanted.allow_rollup,
        &found.allow_rollup,
    );
    differences.note(
        "letting records expire",
        &wanted.allow_message_ttl,
        &found.allow_message_ttl,
    );
    differences.note(
        "marking what expired",
        &wanted.subject_delete_marker_ttl,
        &found.subject_delete_marker_ttl,
    );
    // Where nothing is asked for, the broker says -1 for no limit, and two minutes for the window.
    if wanted.max_messages_per_subject > 0 {
        differences.note(
            "the records kept of a key",
            &wanted.max_messages_per_subject,
            &found.max_messages_per_subject,
        );
    }
    if !wanted.duplicate_window.is_zero() {
        differences.note(
            "the time in which a repetition is known",
            &wanted.duplicate_window,
            &found.duplicate_window,
        );
    }
    differences
}

/// How long something is kept; zero is for ever.
#[derive(PartialEq)]
struct Age(Duration);

impl Debug for Age {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DAY: u64 = 24 * 60 * 60;
        match self.0.as_secs() {
            0 => f.write_str("for ever"),
            seconds if seconds % DAY == 0 => write!(f, "{} days", seconds / DAY),
            seconds => write!(f, "{seconds} s"),
        }
    }
}
