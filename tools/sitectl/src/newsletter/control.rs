//! `sitectl newsletter pause`, `resume` and `cancel`: the newsletter service and the notifiers look at what is noted here several
//! times a second.

use anyhow::{Context as _, bail, ensure};
use async_nats::jetstream::Context;
use issues::{Entry, IssueProgress, IssueState, Issues};
use serde_json::json;
use site_broker::RecordError;
use site_events::{IssueId, SENDINGS_STREAM, subjects};

use crate::{
    broker,
    common_args::{Mode, NamedArgs},
    output::print_output,
};

/// How often a record is tried to be changed that the newsletter service changes at the same time.
const ATTEMPTS: usize = 20;

/// Pauses an issue, or lets it go on.
///
/// # Errors
///
/// If it is not known, canceled or done, or cannot be changed.
pub async fn pause_or_resume(named: &NamedArgs, state: IssueState) -> anyhow::Result<()> {
    let NamedArgs { name, common } = named;
    change(&broker::connect(&common.nats).await?, name, state).await?;
    let line = match state {
        IssueState::Paused => format!("Paused: {name}. It goes on by `sitectl newsletter resume {name}`."),
        _ => format!("It goes on: {name}."),
    };
    print_output(
        common.json,
        &json!({ "name": name, "state": state.name() }),
        [line],
    )
}

/// Ends an issue, or says what waits to be sent of it. That is removed; what is put there in the same moment is not sent either.
///
/// # Errors
///
/// As [`pause_or_resume`].
pub async fn cancel(named: &NamedArgs, mode: Mode) -> anyhow::Result<()> {
    let NamedArgs { name, common } = named;
    let context = broker::connect(&common.nats).await?;
    if mode == Mode::DryRun {
        let (_, waiting) = not_done(&context, &Issues::open(&context).await?, name).await?;
        let lines = [
            format!("would be canceled: {name}; {waiting} wait for a mail of it"),
            "Nothing was canceled; repeat it with --yes.".to_owned(),
        ];
        return print_output(
            common.json,
            &json!({ "name": name, "wouldRemove": waiting }),
            lines,
        );
    }
    change(&context, name, IssueState::Canceled).await?;
    let sendings = broker::stream(&context, SENDINGS_STREAM).await?;
    let purged = sendings.purge().filter(of_issue(name).as_str()).await;
    let removed = purged
        .context("it is canceled, but what waits is not removed yet; repeat it")?
        .purged;
    let line = format!("Canceled: {name}. {removed} who have no mail of it yet get none.");
    let document = json!({ "name": name, "state": "canceled", "removed": removed });
    print_output(common.json, &document, [line])
}

/// The record of an issue.
///
/// # Errors
///
/// If there is none of this name, or the broker does not answer.
pub async fn known(issues: &Issues, name: &str) -> anyhow::Result<Entry<IssueProgress>> {
    let entry = issues.progress(IssueId::named(name)).await?;
    entry.with_context(|| format!("There is no issue named {name}; see `sitectl newsletter status`."))
}

/// How many mails of an issue are still to be sent.
///
/// # Errors
///
/// If the broker does not answer.
pub async fn waiting(context: &Context, name: &str) -> anyhow::Result<u64> {
    let sendings = broker::reader(context, SENDINGS_STREAM).await?;
    Ok(sendings.count(&of_issue(name)).await?)
}

/// The record of an issue that not everybody has yet, and how many wait for it.
async fn not_done(
    context: &Context,
    issues: &Issues,
    name: &str,
) -> anyhow::Result<(Entry<IssueProgress>, u64)> {
    let entry = known(issues, name).await?;
    let waiting = waiting(context, name).await?;
    ensure!(
        !entry.record.is_done(waiting),
        "The issue {name} is done: no mail of it waits. See `sitectl newsletter status {name}`."
    );
    Ok((entry, waiting))
}

fn of_issue(name: &str) -> String {
    subjects::sending(&IssueId::named(name).to_string(), "*")
}

async fn change(context: &Context, name: &str, state: IssueState) -> anyhow::Result<()> {
    let issues = Issues::open(context).await?;
    for _ in 0..ATTEMPTS {
        let (mut entry, _) = not_done(context, &issues, name).await?;
        if entry.record.state == state {
            return Ok(());
        }
        ensure!(
            entry.record.state != IssueState::Canceled,
            "The issue {name} is canceled."
        );
        entry.record.state = state;
        match issues
            .write_progress(IssueId::named(name), &entry.record, entry.revision)
            .await
        {
            Ok(_) => return Ok(()),
            Err(RecordError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("the issue {name} changes faster than it can be told; repeat it")
}
