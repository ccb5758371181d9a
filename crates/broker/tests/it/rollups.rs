//! No header of a message can remove other messages.

use std::collections::BTreeSet;

use async_nats::jetstream::{self, message::PublishMessage};
use site_broker::provision::stream_names;
use testkit::{Nats, User};

use crate::{rights::stored, support::operator};

const USERS: &str = include_str!("../../nats/users.conf");
const STORED: [&str; 4] = ["site.", "dead.", "sending.", "$KV."];
/// Header that removes earlier messages: those of the subject (`sub`) or all (`all`).
const ROLLUP: &str = "Nats-Rollup";

/// Writable subjects, from the imports in `users.conf`.
fn writable() -> Vec<(User, String)> {
    let mut writer = None;
    let mut writable = Vec::new();
    for line in USERS.lines() {
        if let Some(name) = between(line, "user: ", ",") {
            writer = User::all().find(|user| user.name() == name);
        }
        let is_stored = |subject: &&str| STORED.iter().any(|of| subject.starts_with(of));
        let subject = between(line, "subject: \"", "\"").filter(is_stored);
        writable.extend(writer.zip(subject.map(|subject| subject.replace(['*', '>'], "written"))));
    }
    writable
}

fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (found, _) = line.split_once(before)?.1.split_once(after)?;
    Some(found)
}

/// Subject that nothing else in this test writes.
fn kept_subject(stream: &str, key: &str) -> String {
    match stream.strip_prefix("KV_") {
        Some(bucket) => format!("$KV.{bucket}.{key}"),
        None if stream == "SITE" => format!("site.other.event.{key}"),
        None if stream == "SENDINGS" => format!("sending.other.{key}"),
        None => format!("dead.other.{key}"),
    }
}

#[tokio::test]
async fn no_service_can_roll_up_messages() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let operator = operator(&nats).await?;
    for stream in stream_names() {
        for key in ["one", "two"] {
            let kept = operator.publish(kept_subject(&stream, key), "kept".into());
            kept.await?.await?;
        }
    }
    let mut written = BTreeSet::new();
    for (user, subject) in writable() {
        let context = jetstream::new(nats.client(user).await?);
        let ack = context.publish(subject.clone(), "".into()).await?.await?;
        written.insert(ack.stream);
        let before = stored(&nats).await?;
        for removed in ["all", "sub"] {
            let message = PublishMessage::build().header(ROLLUP, removed);
            let sent = context.send_publish(subject.clone(), message).await?.await;
            let name = user.name();
            assert!(sent.is_err(), "{name} removed by {subject} ({removed})");
            assert_eq!(stored(&nats).await?, before, "{name} {subject} {removed}");
        }
    }
    assert_eq!(written, stream_names().collect::<BTreeSet<_>>());
    Ok(())
}
