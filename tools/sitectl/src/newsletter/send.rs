//! `sitectl newsletter send`.

use std::io::{BufRead as _, IsTerminal as _, Write as _, stderr, stdin};

use anyhow::{Context as _, bail, ensure};
use async_nats::jetstream::Context;
use issues::{IssueProgress, IssueStoreError, Issues};
use serde_json::json;
use site_broker::Publisher;
use site_events::{EventType, IssueId, SITE_STREAM, event::NewsletterIssueRequested};
use site_service::RequestId;
use time::OffsetDateTime;

use super::{post::Post, reach::Reach};
use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::print_output,
};

/// The word that sends it.
const GO_AHEAD: &str = "send";

/// Has an issue go out, once it is known to whom. A dry run says to whom it would go; where somebody is there to be asked whether it
/// is to go there, they are, because that may be others a moment later.
///
/// # Errors
///
/// If one of this name was sent before, nobody is to get it, it is not said to go ahead, or the broker does not store it.
pub async fn send(post: Post, mode: Mode, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let issues = Issues::open(&context).await?;
    let (issue, now) = (IssueId::named(&post.issue.name), OffsetDateTime::now_utc());
    ensure_is_new(&context, issue, &post.issue.name).await?;
    let reach = Reach::of_now(&context, now).await?;
    ensure!(
        reach.reached > 0,
        "Nobody confirmed a subscription, so that it would go to nobody."
    );
    let mut lines = vec![format!("Subject: {}", post.issue.subject)];
    lines.extend(reach.lines());
    lines.extend(post.remarks.iter().cloned());
    match mode {
        Mode::Apply => {}
        Mode::DryRun if stdin().is_terminal() => {
            ask(&lines)?;
            lines.clear();
            // Somebody else may have sent it while this one was asked.
            ensure_is_new(&context, issue, &post.issue.name).await?;
        }
        Mode::DryRun => {
            lines.push("Nothing was sent; repeat it with --yes.".to_owned());
            let document = json!({ "name": post.issue.name, "wouldReach": reach, "remarks": post.remarks });
            return print_output(common.json, &document, lines);
        }
    }
    begin(&issues, issue, &post.issue, now).await?;
    publish(&context, issue, post.issue.clone()).await?;
    let name = &post.issue.name;
    lines.push(format!(
        "It is on its way; see `sitectl newsletter status {name}`."
    ));
    let document = json!({ "name": name, "issue": issue, "reach": reach, "remarks": post.remarks });
    print_output(common.json, &document, lines)
}

/// One that is noted and has no event was begun by a command that ended before: it is sent by this one.
async fn ensure_is_new(context: &Context, issue: IssueId, name: &str) -> anyhow::Result<()> {
    let site = broker::stream(context, SITE_STREAM).await?;
    let subject = EventType::NewsletterIssueRequested.subject(&issue.as_subject());
    let sent = broker::next(&site, &subject, 1).await?;
    ensure!(
        sent.is_none(),
        "An issue named {name} was sent before; nobody gets the same twice. See `sitectl newsletter status {name}`, or give \
         another one another name with --name."
    );
    Ok(())
}

fn ask(lines: &[String]) -> anyhow::Result<()> {
    let mut out = stderr().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    write!(out, "Type `{GO_AHEAD}` to send it: ")?;
    out.flush()?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    if answer.trim() != GO_AHEAD {
        bail!("Nothing was sent.");
    }
    Ok(())
}

/// Notes the issue, so that it can be paused from the first mail on.
async fn begin(
    issues: &Issues,
    issue: IssueId,
    requested: &NewsletterIssueRequested,
    now: OffsetDateTime,
) -> anyhow::Result<()> {
    let known = issues.progress(issue).await?;
    let revision = known.map_or(0, |known| known.revision);
    let progress = IssueProgress::new(requested.name.clone(), requested.subject.clone(), now);
    match issues.write_progress(issue, &progress, revision).await {
        Ok(_) => Ok(()),
        Err(IssueStoreError::Conflict) => bail!("Somebody else sends an issue of this name in this moment."),
        Err(error) => Err(error.into()),
    }
}

/// Publishes the event that asks for an issue.
///
/// # Errors
///
/// If the broker does not store it.
pub async fn publish(
    context: &Context,
    issue: IssueId,
    requested: NewsletterIssueRequested,
) -> anyhow::Result<()> {
    let publisher = Publisher::new(context.client());
    let request_id = RequestId::accept(None);
    let published = publisher
        .publish(&request_id, issue.event_id(), &issue.as_subject(), requested)
        .await;
    published
        .map(drop)
        .context("the issue is not known to be sent; repeat the command")
}
