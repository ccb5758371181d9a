//! Streams, consumers and buckets that must exist. `sitectl setup` creates them and can be repeated.

use std::time::Duration;

use async_nats::jetstream::{
    Context, consumer,
    context::GetStreamErrorKind,
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
};
use clap::Args;
use futures_util::TryStreamExt;

use site_events::{
    Channel, DEAD_LETTERS_STREAM, EventType, FAN_OUT_CONSUMER, SENDINGS_CONSUMER, SENDINGS_STREAM,
    SITE_STREAM, SUPPRESSION_CONSUMER, subjects,
};
use visitor::PersonKey;

use crate::{
    DELIVERIES_BUCKET, DIGEST_CONSUMER, ENDPOINTS_BUCKET, Endpoint, Endpoints, ISSUES_BUCKET,
    SUBSCRIBERS_BUCKET, UPLOADS_BUCKET, VISITOR_MAILS_BUCKET,
    person_key::{self, PersonKeyError},
};

/// How long the broker recognises a duplicate submission.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(60 * 60);
/// The broker redelivers after this time without an ack.
pub(crate) const ACK_WAIT: Duration = Duration::from_secs(60);
const MAX_ACK_PENDING: i64 = 100_000;
/// TTL of delivery records (idempotency), longer than all retries of an event.
const DELIVERY_RECORD_TTL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// TTL of the records of visitors' mails: the limits of mails are per day.
const VISITOR_MAILS_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Settings of provisioning.
#[derive(Args, Clone, Debug)]
pub struct ProvisionSettings {
    /// Copies of every stream and bucket: 1 on a single server, 3 in a cluster
    #[arg(long, env = "STREAM_REPLICAS", default_value_t = 1)]
    pub replicas: usize,
    /// How many days events and dead letters are kept
    #[arg(long, env = "STREAM_MAX_AGE_DAYS", default_value = "365", value_parser = days)]
    pub max_age: Duration,
    /// Megabytes on each broker server for all streams and buckets; each stream or bucket rejects writes
    /// beyond its fixed share
    #[arg(long, env = "STREAM_STORAGE_MB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(16..))]
    pub storage_mb: u32,
    /// Webhook endpoints, as JSON; the same value as the notifier's
    #[arg(long, env = "WEBHOOKS", hide_env_values = true, value_parser = Endpoints::parse)]
    pub webhooks: Option<Endpoints>,
}

fn days(raw: &str) -> Result<Duration, std::num::ParseIntError> {
    raw.parse()
        .map(|days: u32| Duration::from_secs(u64::from(days) * 24 * 60 * 60))
}

/// Consumer that `provision` creates last. If it exists, an earlier setup was complete. Never choose another
/// consumer. Otherwise installed sites look incomplete, and their new channels get every kept event.
const LAST_CONSUMER: &str = FAN_OUT_CONSUMER;

/// Percent of the storage per stream or bucket; the rest is the broker's overhead. In a flood of forms, the
/// event stream must fill first, so that dead letters and delivery records keep their space.
const STORAGE_SHARES: [(&str, i64); 9] = [
    (SITE_STREAM, 39),
    (DEAD_LETTERS_STREAM, 15),
    (SENDINGS_STREAM, 2),
    (SUBSCRIBERS_BUCKET, 10),
    (DELIVERIES_BUCKET, 29),
    (ENDPOINTS_BUCKET, 1),
    (ISSUES_BUCKET, 1),
    (UPLOADS_BUCKET, 1),
    (VISITOR_MAILS_BUCKET, 1),
];

impl ProvisionSettings {
    fn max_bytes(&self, name: &str) -> i64 {
        let share = STORAGE_SHARES.iter().find(|(of, _)| *of == name);
        let (_, percent) = share.expect("each has a share");
        i64::from(self.storage_mb) * percent * 1_000_000 / 100
    }
}

/// Names of all streams, including the streams of buckets.
pub fn stream_names() -> impl Iterator<Item = String> {
    STORAGE_SHARES.iter().map(|(name, _)| match *name {
        SITE_STREAM | DEAD_LETTERS_STREAM | SENDINGS_STREAM => (*name).to_owned(),
        bucket => format!("KV_{bucket}"),
    })
}

/// Provisioning failed.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be set up: {reason}")]
pub struct ProvisionError {
    what: String,
    reason: String,
}

/// Configuration of all streams, buckets and consumers.
pub struct Desired {
    /// Events (`SITE`), dead letters, and newsletter mails to send.
    pub streams: [Config; 3],
    /// Buckets, as streams.
    pub buckets: [Config; 6],
    /// Consumers of `SITE`. [`provision`] sets the event with which each begins.
    pub consumers: Vec<consumer::pull::Config>,
    /// Consumers of `DEAD_LETTERS` and `SENDINGS`.
    pub others: [(&'static str, consumer::pull::Config); 2],
}

impl Desired {
    /// Configuration from these settings.
    pub fn from_settings(settings: &ProvisionSettings) -> Self {
        Self {
            streams: streams(settings),
            buckets: buckets(settings),
            consumers: consumers(settings),
            others: [
                (DEAD_LETTERS_STREAM, durable(DIGEST_CONSUMER.to_owned())),
                (SENDINGS_STREAM, durable(SENDINGS_CONSUMER.to_owned())),
            ],
        }
    }
}

/// Kind and name of a stream or bucket.
pub fn described(config: &Config) -> String {
    match config.name.strip_prefix("KV_") {
        Some(bucket) => format!("bucket {bucket}"),
        None => format!("stream {}", config.name),
    }
}

/// Result of provisioning.
pub struct Provisioned {
    /// Names of all streams, buckets and consumers.
    pub ready: Vec<String>,
    /// Consumers of endpoints that `WEBHOOKS` no longer names; events may wait for them. Empty if `WEBHOOKS`
    /// is not set.
    pub orphaned_consumers: Vec<String>,
}

/// Creates what is missing, updates what differs, removes nothing, and stores the person key's fingerprint.
///
/// # Errors
///
/// If the key differs or a stream exceeds its share (nothing is changed), or if the broker rejects a stream
/// or consumer (earlier changes remain).
pub async fn provision(
    context: &Context,
    settings: &ProvisionSettings,
    key: &PersonKey,
) -> Result<Provisioned, ProvisionError> {
    let known = known_consumers(context, key).await?;
    let mut wanted = Desired::from_settings(settings);
    let [site, ..] = &mut wanted.streams;
    site.metadata = person_key::metadata(key);
    for config in wanted.streams.iter().chain(&wanted.buckets) {
        ensure_share_is_enough(context, settings, config).await?;
    }
    let mut ready = Vec::new();
    for config in wanted.streams.iter().chain(&wanted.buckets) {
        let what = described(config);
        let created = context.create_or_update_stream(config.clone()).await;
        map_error(&what, created)?;
        ready.push(what);
    }
    // Without `WEBHOOKS`, no consumer counts as orphaned: the operator may have forgotten the setting.
    let orphaned_consumers = known.iter().map(|known| &known.name).filter(|name| {
        let is_wanted = |config: &consumer::pull::Config| config.durable_name.as_ref() == Some(*name);
        settings.webhooks.is_some()
            && name.starts_with(Endpoint::CONSUMER_PREFIX)
            && !wanted.consumers.iter().any(is_wanted)
    });
    let orphaned_consumers = orphaned_consumers.cloned().collect();
    let of_site = wanted.consumers.into_iter();
    let of_site = of_site.map(|config| (SITE_STREAM, as_known(&known, config)));
    for (stream, config) in of_site.chain(wanted.others) {
        let name = config.durable_name.as_deref().unwrap_or_default();
        let what = format!("consumer {name}");
        let created = context.create_consumer_on_stream(config, stream).await;
        map_error(&what, created)?;
        ready.push(what);
    }
    Ok(Provisioned {
        ready,
        orphaned_consumers,
    })
}

/// Fails if the installation has another key of person ids.
async fn known_consumers(context: &Context, key: &PersonKey) -> Result<Vec<consumer::Info>, ProvisionError> {
    let Some(site) = existing_stream(context, SITE_STREAM).await? else {
        return Ok(Vec::new());
    };
    if let Err(another @ PersonKeyError::Another) = person_key::compare(&site.cached_info().config, key) {
        return map_error("the installation", Err(another));
    }
    map_error("the consumers of SITE", site.consumers().try_collect().await)
}

/// Fails if a stream already exceeds its new limit, because the stream would reject every event.
async fn ensure_share_is_enough(
    context: &Context,
    settings: &ProvisionSettings,
    config: &Config,
) -> Result<(), ProvisionError> {
    let Some(stream) = existing_stream(context, &config.name).await? else {
        return Ok(());
    };
    let stored = i64::try_from(stream.cached_info().state.bytes).unwrap_or(i64::MAX);
    if stored <= config.max_bytes {
        return Ok(());
    }
    let megabytes = |bytes: i64| bytes as f64 / 1_000_000.0;
    Err(ProvisionError {
        what: format!("stream {}", config.name),
        reason: format!(
            "it holds {:.1} MB, and with STREAM_STORAGE_MB={} its share is {:.1} MB, so that it would refuse whatever comes; \
             nothing was changed",
            megabytes(stored),
            settings.storage_mb,
            megabytes(config.max_bytes),
        ),
    })
}

async fn existing_stream(context: &Context, name: &str) -> Result<Option<Stream>, ProvisionError> {
    match context.get_stream(name).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), GetStreamErrorKind::JetStream(ref error) if error.code() == 404) => {
            Ok(None)
        }
        Err(error) => map_error(&format!("stream {name}"), Err(error)),
    }
}

/// Keeps the start and pause of an existing consumer. A new consumer on a running site skips old events,
/// because nobody wants mails about them. After an incomplete setup, a new consumer gets every event.
fn as_known(known: &[consumer::Info], config: consumer::pull::Config) -> consumer::pull::Config {
    let named = |name: Option<&str>| known.iter().find(|known| Some(known.name.as_str()) == name);
    let (deliver_policy, pause_until) = match named(config.durable_name.as_deref()) {
        Some(known) => (known.config.deliver_policy, known.config.pause_until),
        None if named(Some(LAST_CONSUMER)).is_some() => (consumer::DeliverPolicy::New, None),
        None => (consumer::DeliverPolicy::All, None),
    };
    consumer::pull::Config {
        deliver_policy,
        pause_until,
        ..config
    }
}

fn map_error<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> Result<T, ProvisionError> {
    result.map_err(|error| ProvisionError {
        what: what.to_owned(),
        reason: error.to_string(),
    })
}

fn streams(settings: &ProvisionSettings) -> [Config; 3] {
    let stream = |name: &str, subjects: &[&str]| Config {
        name: name.to_owned(),
        subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
        storage: StorageType::File,
        num_replicas: settings.replicas,
        max_age: settings.max_age,
        max_bytes: settings.max_bytes(name),
        duplicate_window: DUPLICATE_WINDOW,
        // A full stream rejects the next event instead of dropping an accepted one.
        discard: DiscardPolicy::New,
        allow_direct: true,
        ..Config::default()
    };
    [
        stream(
            SITE_STREAM,
            &[subjects::EVENTS_SUBJECT, subjects::REPLAYS_SUBJECT],
        ),
        stream(DEAD_LETTERS_STREAM, &[subjects::DEAD_LETTERS_SUBJECT]),
        // An ack removes a sent or cancelled mail.
        Config {
            retention: RetentionPolicy::WorkQueue,
            ..stream(SENDINGS_STREAM, &[subjects::SENDINGS_SUBJECT])
        },
    ]
}

fn buckets(settings: &ProvisionSettings) -> [Config; 6] {
    let bucket = |name: &str| Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        storage: StorageType::File,
        num_replicas: settings.replicas,
        max_bytes: settings.max_bytes(name),
        discard: DiscardPolicy::New,
        // With the header `Nats-Rollup: all`, a user who may write one key could remove all other keys.
        allow_rollup: false,
        deny_delete: true,
        allow_direct: true,
        ..Config::default()
    };
    [
        // Unconfirmed sign-ups expire by a TTL, which leaves no deletion marker with the person's id.
        Config {
            allow_message_ttl: true,
            ..bucket(SUBSCRIBERS_BUCKET)
        },
        Config {
            max_age: DELIVERY_RECORD_TTL,
            ..bucket(DELIVERIES_BUCKET)
        },
        bucket(ENDPOINTS_BUCKET),
        bucket(ISSUES_BUCKET),
        // Deletion markers expire by a TTL.
        Config {
            allow_message_ttl: true,
            ..bucket(UPLOADS_BUCKET)
        },
        // A full bucket drops its oldest record: a flood of addresses loosens the limit, but delays no mail.
        Config {
            max_age: VISITOR_MAILS_TTL,
            discard: DiscardPolicy::Old,
            ..bucket(VISITOR_MAILS_BUCKET)
        },
    ]
}

/// Ends with [`LAST_CONSUMER`].
fn consumers(settings: &ProvisionSettings) -> Vec<consumer::pull::Config> {
    let mails = Channel::ALL.into_iter().map(|channel| consumer::pull::Config {
        filter_subjects: subjects::filter_subjects(channel.name(), &[channel.event_type()]),
        ..durable(channel.name().to_owned())
    });
    let endpoints = settings.webhooks.iter().flat_map(Endpoints::iter);
    let webhooks = endpoints.map(|endpoint| consumer::pull::Config {
        filter_subjects: subjects::filter_subjects(&endpoint.consumer(), &endpoint.events),
        ..durable(endpoint.consumer())
    });
    let suppression = consumer::pull::Config {
        filter_subjects: subjects::filter_subjects(SUPPRESSION_CONSUMER, &[EventType::NewsletterBounced]),
        ..durable(SUPPRESSION_CONSUMER.to_owned())
    };
    // Newsletter issues are sent one at a time.
    let fan_out = consumer::pull::Config {
        filter_subjects: subjects::filter_subjects(FAN_OUT_CONSUMER, &[EventType::NewsletterIssueRequested]),
        max_ack_pending: 1,
        ..durable(FAN_OUT_CONSUMER.to_owned())
    };
    mails.chain(webhooks).chain([suppression, fan_out]).collect()
}

fn durable(name: String) -> consumer::pull::Config {
    consumer::pull::Config {
        durable_name: Some(name),
        ack_policy: consumer::AckPolicy::Explicit,
        ack_wait: ACK_WAIT,
        // Our consumer loop limits attempts by the event's age.
        max_deliver: -1,
        // With the default, 1,000 deferred events would stop the channel.
        max_ack_pending: MAX_ACK_PENDING,
        ..consumer::pull::Config::default()
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_json_snapshot;

    use super::*;

    const CRM: &str = r#"[{"name": "crm", "url": "https://crm.example/hooks", "secrets": ["whsec_AAAA"],
        "events": ["contact.received"]}]"#;

    fn wanted() -> Desired {
        Desired::from_settings(&ProvisionSettings {
            replicas: 3,
            max_age: days("365").expect("days"),
            storage_mb: 1024,
            webhooks: Some(Endpoints::parse(CRM).expect("endpoints")),
        })
    }

    #[test]
    fn every_stream_and_bucket_looks_like_this() {
        assert_json_snapshot!("streams", wanted().streams);
        assert_json_snapshot!("buckets", wanted().buckets);
    }

    #[test]
    fn every_consumer_looks_like_this() {
        let Desired {
            mut consumers,
            others,
            ..
        } = wanted();
        consumers.extend(others.map(|(_stream, config)| config));
        assert_json_snapshot!("consumers", consumers);
    }
}
