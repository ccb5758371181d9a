//! `sitectl newsletter test`.

use anyhow::Context as _;
use async_nats::jetstream::message::PublishMessage;
use serde_json::json;
use site_broker::ensure_person_key;
use site_events::{IssueId, SENDINGS_STREAM, Sending, subjects};
use uuid::Uuid;
use visitor::{EmailAddress, PersonKey};

use super::{post::Post, send::publish};
use crate::{broker, common_args::CommonArgs, output::print_output};

/// Sends an issue to these addresses alone. Its link to unsubscribe is theirs, and works.
///
/// # Errors
///
/// If the broker does not store it.
pub async fn send_test(
    post: Post,
    to: &[EmailAddress],
    key: &PersonKey,
    common: &CommonArgs,
) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let issue = IssueId::of_test();
    publish(&context, issue, post.issue).await?;
    for address in to {
        let sending = Sending {
            id: issue.sending_id(Uuid::new_v4()),
            subject: key.person(address),
            requestid: issue.to_string(),
            issue,
            test: Some(address.clone()),
            repeats_refused: false,
        };
        let subject = subjects::sending(&issue.to_string(), sending.subject.as_str());
        let message = PublishMessage::build()
            .payload(serde_json::to_vec(&sending)?.into())
            .message_id(sending.id.to_string())
            .expected_stream(SENDINGS_STREAM);
        let sent = context.send_publish(subject, message).await?.await;
        sent.context("the test mail is not known to be on its way; repeat the command")?;
    }
    let mut lines = vec![format!("On their way: {} test mail(s).", to.len())];
    lines.extend(post.remarks.iter().cloned());
    print_output(
        common.json,
        &json!({ "sent": to.len(), "remarks": post.remarks }),
        lines,
    )
}
