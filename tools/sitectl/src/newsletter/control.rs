//! `sitectl newsletter pause`, `resume` and `cancel`. The newsletter service and the notifiers poll the issue's state.

use anyhow::{Context as _, bail, ensure};
use async_nats::jetstream::Context;
use serde_json::json;
use site_broker::{Record, RecordError};
use site_events::{IssueId, SENDINGS_STREAM, subjects};
use subscribers::issues::{IssueProgress, IssueState, Issues};

use crate::{
    broker,
    common_args::{Mode, NamedArgs},
    output::print_output,
};

/// Maximum attempts to write the record, because writes of the newsletter service can cause conflicts.
const ATTEMPTS: usize = 20;

/// Pauses, resumes or cancels an issue. Canceling removes its waiting mails; mails that are queued at the same time are not
/// sent either.
///
/// # Errors
///
/// If the issue is unknown, canceled or done, or the write fails.
pub async fn change(named: &NamedArgs, state: IssueState, mode: Mode) -> anyhow::Result<()> {
    let NamedArgs { name, common } = named;
    let context = broker::connect(&common.nats).await?;
    let issues = Issues::open(&context).await?;
    if !mode.yes {
        let (progress, _) = known(&issues, name).await?;
        let waiting = ensure_not_done(&context, name, &progress).await?;
        let line = format!(
            "would be canceled: {name}; {waiting} wait for a mail of it.\nNothing was canceled; repeat it with --yes."
        );
        let document = json!({ "name": name, "wouldRemove": waiting });
        return print_output(common.json, &document, [line]);
    }
    write(&context, &issues, name, state).await?;
    let mut line = format!("The issue {name} is {}.", state.name());
    let mut document = json!({ "name": name, "state": state.name() });
    if state == IssueState::Canceled {
        let sendings = broker::stream(&context, SENDINGS_STREAM).await?;
        let purged = sendings.purge().filter(of_issue(name).as_str()).await;
        let purged =
            purged.context("it is canceled, but its waiting mails are not removed yet; repeat it")?;
        line = format!("{line} {} who have no mail of it yet get none.", purged.purged);
        document["removed"] = purged.purged.into();
    }
    print_output(common.json, &document, [line])
}

/// # Errors
///
/// If the issue is unknown, or the broker is unavailable.
pub async fn known(issues: &Issues, name: &str) -> anyhow::Result<(IssueProgress, u64)> {
    let Record { value, revision } = issues.progress(IssueId::named(name)).await?;
    let unknown = || format!("There is no issue named {name}; see `sitectl newsletter status`.");
    Ok((value.with_context(unknown)?, revision))
}

/// # Errors
///
/// If the broker is unavailable.
pub async fn waiting(context: &Context, name: &str) -> anyhow::Result<u64> {
    let sendings = broker::reader(context, SENDINGS_STREAM).await?;
    Ok(sendings.count(&of_issue(name)).await?)
}

/// Fails if an issue is done. Returns the number of its waiting mails.
async fn ensure_not_done(context: &Context, name: &str, progress: &IssueProgress) -> anyhow::Result<u64> {
    let waiting = waiting(context, name).await?;
    ensure!(
        !progress.is_done(waiting),
        "The issue {name} is done: no mail of it waits. See `sitectl newsletter status {name}`."
    );
    Ok(waiting)
}

fn of_issue(name: &str) -> String {
    subjects::sending(&IssueId::named(name).to_string(), "*")
}

async fn write(context: &Context, issues: &Issues, name: &str, state: IssueState) -> anyhow::Result<()> {
    for _ in 0..ATTEMPTS {
        let (mut progress, revision) = known(issues, name).await?;
        ensure_not_done(context, name, &progress).await?;
        let is_canceled = progress.state == IssueState::Canceled && state != IssueState::Canceled;
        ensure!(!is_canceled, "The issue {name} is canceled.");
        progress.state = state;
        let written = issues.write_progress(IssueId::named(name), &progress, revision);
        match written.await {
            Err(RecordError::Conflict) => {}
            written => return Ok(written?),
        }
    }
    bail!("the record of the issue {name} changed during every attempt; repeat it")
}
