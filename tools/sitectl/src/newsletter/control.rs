//! `sitectl newsletter pause`, `resume` and `cancel`: the newsletter service and the notifiers look at what is noted here several
//! times a second.

use anyhow::{Context as _, bail, ensure};
use async_nats::jetstream::Context;
use issues::{Entry, IssueProgress, IssueState, IssueStoreError, Issues};
use serde_json::json;
use site_events::{IssueId, SENDINGS_STREAM, subjects};

use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::print_output,
};

/// How often a record is tried to be changed that the newsletter service changes at the same time.
const ATTEMPTS: usize = 20;

/// Has no mail of an issue begun, until it is resumed.
///
/// # Errors
///
/// If it is not known, canceled or done, or cannot be changed.
pub async fn pause(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    change(&context, name, IssueState::Paused).await?;
    let line = format!("Paused: {name}. It goes on by `sitectl newsletter resume {name}`.");
    print_output(common.json, &json!({ "name": name, "state": "paused" }), [line])
}

/// Lets an issue go on.
///
/// # Errors
///
/// As [`pause`].
pub async fn resume(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    change(&context, name, IssueState::Running).await?;
    print_output(
        common.json,
        &json!({ "name": name, "state": "running" }),
        [format!("It goes on: {name}.")],
    )
}

/// Ends an issue, or says what waits to be sent of it. That is removed; what is put there in the same moment is not sent either.
///
/// # Errors
///
/// As [`pause`].
pub async fn cancel(name: &str, mode: Mode, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    if mode == Mode::DryRun {
        let entry = known(&Issues::open(&context).await?, name).await?;
        let waiting = waiting(&context, name).await?;
        ensure_is_not_done(&entry.record, waiting)?;
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

async fn known(issues: &Issues, name: &str) -> anyhow::Result<Entry<IssueProgress>> {
    let entry = issues.progress(IssueId::named(name)).await?;
    entry.with_context(|| format!("There is no issue named {name}; see `sitectl newsletter status`."))
}

/// An issue that everybody has cannot be held up, ended or resumed.
fn ensure_is_not_done(progress: &IssueProgress, waiting: u64) -> anyhow::Result<()> {
    let name = &progress.name;
    ensure!(
        !progress.is_done(waiting),
        "The issue {name} is done: no mail of it waits. See `sitectl newsletter status {name}`."
    );
    Ok(())
}

/// How many mails of an issue are still to be sent.
async fn waiting(context: &Context, name: &str) -> anyhow::Result<u64> {
    let sendings = broker::reader(context, SENDINGS_STREAM).await?;
    Ok(sendings.count(&of_issue(name)).await?)
}

fn of_issue(name: &str) -> String {
    subjects::sending(&IssueId::named(name).to_string(), "*")
}

async fn change(context: &Context, name: &str, state: IssueState) -> anyhow::Result<()> {
    let issues = Issues::open(context).await?;
    let issue = IssueId::named(name);
    for _ in 0..ATTEMPTS {
        let mut entry = known(&issues, name).await?;
        let is_canceled = entry.record.state == IssueState::Canceled;
        ensure!(
            !is_canceled || state == IssueState::Canceled,
            "The issue {name} is canceled."
        );
        ensure_is_not_done(&entry.record, waiting(context, name).await?)?;
        if entry.record.state == state {
            return Ok(());
        }
        entry.record.state = state;
        match issues.write_progress(issue, &entry.record, entry.revision).await {
            Ok(_) => return Ok(()),
            Err(IssueStoreError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("the issue {name} changes faster than it can be told; repeat it")
}
