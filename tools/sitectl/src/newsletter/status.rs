//! `sitectl newsletter status`.

use anyhow::{Context as _, ensure};
use futures_util::TryStreamExt as _;
use issues::{Figures, IssueProgress, Issues, Ledger, store::ISSUE_KEY_PREFIX};
use serde::Serialize;
use serde_json::{Value, json};
use site_broker::{ISSUES_BUCKET, StreamReader};
use site_events::{IssueId, SENDINGS_STREAM, subjects};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::reach::not_reached_lines;
use crate::{
    broker::{self, BucketReader},
    common_args::CommonArgs,
    output::{print_output, table},
};

/// What the list tells of each issue.
const HEADINGS: [&str; 12] = [
    "NAME",
    "STATE",
    "REQUESTED",
    "HANDED OUT",
    "WAITING",
    "IN HAND",
    "SENT",
    "LEFT",
    "BOUNCED",
    "REFUSED",
    "GIVEN UP",
    "SUBJECT",
];

/// What is told of an issue.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(flatten)]
    progress: IssueProgress,
    #[serde(flatten)]
    figures: Figures,
    /// How many mails wait in the stream, those in the notifiers' hands included.
    waiting: u64,
    /// How many of those are in somebody's hands.
    in_hand: usize,
}

/// Says how far an issue is, or in a table how far each is.
///
/// # Errors
///
/// If the broker does not answer, or there is no issue of this name.
pub async fn status(name: Option<&str>, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let ledger = Issues::open(&context).await?.ledger().await?.record;
    let sendings = broker::reader(&context, SENDINGS_STREAM).await?;
    let bucket = BucketReader::open(&context, ISSUES_BUCKET).await?;
    let mut rows = Vec::new();
    let mut records = bucket.records();
    while let Some(record) = records.try_next().await? {
        let issue = bucket
            .key_of(&record)
            .and_then(|key| key.strip_prefix(ISSUE_KEY_PREFIX));
        let Some(issue) = issue.and_then(|issue| issue.parse().ok()) else {
            continue;
        };
        let progress: IssueProgress = serde_json::from_slice(&record.payload)
            .ok()
            .with_context(|| format!("The record {} is not an issue's.", record.subject))?;
        if name.is_none_or(|name| name == progress.name) {
            rows.retain(|row: &Row| row.progress.name != progress.name);
            rows.push(row(issue, progress, &ledger, &sendings).await?);
        }
    }
    ensure!(
        name.is_none() || !rows.is_empty(),
        "There is no issue named {}; see `sitectl newsletter status`.",
        name.unwrap_or_default()
    );
    rows.sort_by_key(|row| row.progress.requested);
    let now = OffsetDateTime::now_utc();
    let (today, slow) = (ledger.mails_of_the_day(now), ledger.slow_domains(now));
    let mut lines = match name {
        Some(_) => rows.iter().flat_map(Row::lines).collect(),
        None => table(HEADINGS, rows.iter().map(Row::cells))?,
    };
    if rows.is_empty() {
        lines.push("No issue was sent yet.".to_owned());
    }
    lines.push(format!(
        "Mails of the newsletter today (UTC): {today}. Domains that take none at present: {slow}."
    ));
    let issues = rows
        .iter()
        .map(Row::document)
        .collect::<anyhow::Result<Vec<Value>>>()?;
    let document = json!({ "issues": issues, "mailsToday": today, "slowDomains": slow });
    print_output(common.json, &document, lines)
}

async fn row(
    issue: IssueId,
    progress: IssueProgress,
    ledger: &Ledger,
    sendings: &StreamReader,
) -> anyhow::Result<Row> {
    let waiting = sendings
        .count(&subjects::sending(&issue.to_string(), "*"))
        .await?;
    Ok(Row {
        figures: ledger.figures(issue),
        in_hand: ledger.in_hand(issue),
        progress,
        waiting,
    })
}

impl Row {
    /// Where an issue stands, in a word.
    fn state(&self) -> &'static str {
        if self.progress.is_done(self.waiting) {
            "done"
        } else {
            self.progress.state.name()
        }
    }

    fn document(&self) -> anyhow::Result<Value> {
        let mut document = serde_json::to_value(self)?;
        document["state"] = self.state().into();
        document["handedOutAt"] = document["handedOut"].take();
        document["handedOut"] = self.progress.queued.into();
        Ok(document)
    }

    /// What stands under each of [`HEADINGS`].
    fn cells(&self) -> [String; 12] {
        let (progress, figures) = (&self.progress, &self.figures);
        [
            progress.name.clone(),
            self.state().to_owned(),
            progress.requested.format(&Rfc3339).unwrap_or_default(),
            progress.queued.to_string(),
            self.waiting.to_string(),
            self.in_hand.to_string(),
            figures.sent.to_string(),
            figures.left.to_string(),
            figures.bounced.to_string(),
            figures.refused.to_string(),
            figures.given_up.to_string(),
            progress.subject.clone(),
        ]
    }

    fn lines(&self) -> Vec<String> {
        let IssueProgress {
            name,
            subject,
            requested,
            queued,
            handed_out,
            ..
        } = &self.progress;
        let Figures {
            sent,
            left,
            bounced,
            refused,
            given_up,
            deferred,
            ..
        } = self.figures;
        let handed_out = if handed_out.is_some() { "all" } else { "so far" };
        let mut lines = vec![
            format!("{name}: {}", self.state()),
            format!("  {subject}, {}", requested.format(&Rfc3339).unwrap_or_default()),
            format!(
                "  handed out {handed_out}: {queued}, waiting {}, in hand {}",
                self.waiting, self.in_hand
            ),
            format!(
                "  sent {sent}, left meanwhile {left}, bounced {bounced}, refused {refused}, given up {given_up}; put off {deferred} times"
            ),
        ];
        let not_reached = not_reached_lines(&self.progress.passed_over);
        lines.extend(not_reached.iter().map(|line| format!("  {line}")));
        lines
    }
}
