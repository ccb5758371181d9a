//! `sitectl newsletter status`.

use std::collections::BTreeMap;

use anyhow::Context as _;
use async_nats::jetstream::Context;
use serde_json::{Value, json};
use site_broker::ISSUES_BUCKET;
use subscribers::issues::{IssueProgress, Issues, Outcomes, store::ISSUE_KEY_PREFIX};
use time::OffsetDateTime;

use super::{control, send::not_reached_line};
use crate::{
    broker,
    common_args::CommonArgs,
    output::{Column, print_output, table},
};

const COLUMNS: [Column; 13] = [
    ("NAME", "name"),
    ("STATE", "state"),
    ("REQUESTED", "requested"),
    ("HANDED OUT", "handedOut"),
    ("WAITING", "waiting"),
    ("IN HAND", "inHand"),
    ("SENT", "sent"),
    ("LEFT", "left"),
    ("BOUNCED", "bounced"),
    ("REFUSED", "refused"),
    ("GIVEN UP", "givenUp"),
    ("PUT OFF", "deferred"),
    ("SUBJECT", "subject"),
];

/// # Errors
///
/// If the broker is unavailable, or the issue is unknown.
pub async fn status(name: Option<&str>, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let issues = Issues::open(&context).await?;
    let limits = issues.limits().await?.value.unwrap_or_default();
    let queue = issues.queue().await?;
    let outcomes = Outcomes::read(&context).await?;
    let listed = match name {
        Some(name) => vec![control::known(&issues, name).await?.0],
        None => all(&context).await?,
    };
    let mut rows = Vec::new();
    for progress in &listed {
        rows.push(row(progress, &outcomes, &context).await?);
    }
    let today = limits.mails_of_the_day(queue, OffsetDateTime::now_utc());
    let mut lines = table(&COLUMNS, &rows, "No issue was sent yet.")?;
    if let (Some(_), [progress]) = (name, listed.as_slice()) {
        lines.extend(not_reached_line(&progress.passed_over));
    }
    lines.push(format!("Mails of the newsletter today (UTC): {today}."));
    let document = json!({ "issues": rows, "mailsToday": today });
    print_output(common.json, &document, lines)
}

/// Records of all issues, in order of their requests.
async fn all(context: &Context) -> anyhow::Result<Vec<IssueProgress>> {
    let bucket = broker::bucket(context, ISSUES_BUCKET).await?;
    let subject = format!("$KV.{ISSUES_BUCKET}.{ISSUE_KEY_PREFIX}*");
    // The stream repeats records that change meanwhile.
    let mut issues = BTreeMap::new();
    for record in broker::search(&bucket, &subject).await? {
        let progress: IssueProgress = serde_json::from_slice(&record.payload)
            .with_context(|| format!("The record {} is not an issue", record.subject))?;
        issues.insert((progress.requested, progress.name.clone()), progress);
    }
    Ok(issues.into_values().collect())
}

async fn row(progress: &IssueProgress, outcomes: &Outcomes, context: &Context) -> anyhow::Result<Value> {
    let waiting = control::waiting(context, &progress.name).await?;
    let mut row = json!(progress);
    let figures = json!(outcomes.figures(progress));
    for (name, figure) in figures.as_object().into_iter().flatten() {
        row[name] = figure.clone();
    }
    row["waiting"] = waiting.into();
    if progress.is_done(waiting) {
        row["state"] = "done".into();
    }
    row["handedOutAt"] = row["handedOut"].take();
    row["handedOut"] = progress.queued.into();
    Ok(row)
}
