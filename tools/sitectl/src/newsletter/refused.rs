//! `sitectl newsletter send --refused`: an issue goes out once more to those whose mail the mail server refused.

use std::collections::HashSet;

use anyhow::{Context as _, ensure};
use async_nats::jetstream::{Context, message::PublishMessage};
use futures_util::TryStreamExt as _;
use issues::{IssueState, Issues};
use serde_json::json;
use site_broker::{DELIVERIES_BUCKET, REFUSED};
use site_events::{EventType, IssueId, SENDINGS_CONSUMER, SENDINGS_STREAM, SITE_STREAM, Sending, subjects};
use subscribers::Subscribers;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    broker::{self, BucketReader},
    common_args::{CommonArgs, Mode},
    output::print_output,
};

/// Has the refused mails of an issue sent once more, or says how many those are. Whoever left meanwhile gets none. What it says is what was
/// sent, whatever the file says by now.
///
/// # Errors
///
/// If the issue is not known, canceled or too old, or the broker does not store a mail; then it can be repeated.
pub async fn repeat(name: &str, mode: Mode, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let issue = IssueId::named(name);
    let progress = Issues::open(&context).await?.progress(issue).await?;
    let progress = progress
        .with_context(|| format!("There is no issue named {name}; see `sitectl newsletter status`."))?
        .record;
    ensure!(
        progress.state != IssueState::Canceled,
        "The issue {name} is canceled."
    );
    let site = broker::stream(&context, SITE_STREAM).await?;
    let event = EventType::NewsletterIssueRequested.subject(&issue.as_subject());
    ensure!(
        broker::next(&site, &event, 1).await?.is_some(),
        "The issue {name} is not kept any more; send it under another name with --name."
    );
    let refused = refused(&context, issue, progress.requested).await?;
    if mode == Mode::DryRun {
        let lines = [
            format!("It goes once more to {} whose mail was refused.", refused.len()),
            "Nothing was sent; repeat it with --yes.".to_owned(),
        ];
        return print_output(
            common.json,
            &json!({ "name": name, "wouldReach": refused.len() }),
            lines,
        );
    }
    for sending in &refused {
        put(&context, sending).await?;
    }
    let lines = [
        format!("On their way once more: {} mail(s).", refused.len()),
        format!("See `sitectl newsletter status {name}`."),
    ];
    print_output(
        common.json,
        &json!({ "name": name, "sent": refused.len() }),
        lines,
    )
}

/// The mails of an issue that the delivery records have as refused, of those who are subscribers still.
async fn refused(
    context: &Context,
    issue: IssueId,
    requested: OffsetDateTime,
) -> anyhow::Result<Vec<Sending>> {
    let deliveries = BucketReader::open(context, DELIVERIES_BUCKET).await?;
    let records = deliveries.search(&format!("*.{SENDINGS_CONSUMER}")).await?;
    let ids: HashSet<Uuid> = records
        .iter()
        .filter(|record| record.payload.starts_with(REFUSED.as_bytes()))
        .filter_map(|record| deliveries.key_of(record)?.split('.').next()?.parse().ok())
        .collect();
    let subscribers = Subscribers::open(context.client()).await?;
    let mut entries = subscribers.since(1);
    let mut refused = Vec::new();
    while let Some(entry) = entries.try_next().await? {
        // Whose record cannot be read was sent nothing.
        let Ok(Some((person, subscriber))) = subscribers.record_of(&entry) else {
            continue;
        };
        let id = issue.sending_id(subscriber.subscription);
        if ids.contains(&id) && subscriber.reached_at(requested).is_ok() {
            refused.push(Sending {
                id,
                subject: person,
                requestid: issue.to_string(),
                issue,
                test: None,
                repeats_refused: true,
            });
        }
    }
    Ok(refused)
}

/// Under an id that the broker does not know from the first time.
async fn put(context: &Context, sending: &Sending) -> anyhow::Result<()> {
    let subject = subjects::sending(&sending.issue.to_string(), sending.subject.as_str());
    let message = PublishMessage::build()
        .payload(serde_json::to_vec(sending)?.into())
        .message_id(Uuid::new_v4().to_string())
        .expected_stream(SENDINGS_STREAM);
    let put = context.send_publish(subject, message).await?.await;
    put.map(drop)
        .context("not all mails are known to be on their way; repeat the command")
}
