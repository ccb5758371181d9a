//! `sitectl subscribers import`: who gave their consent elsewhere becomes a confirmed subscriber, and who left elsewhere
//! has left. No event is published, so nobody gets a mail by it and no endpoint hears of it.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read, stdin},
    path::{Path, PathBuf},
};

use ::subscribers::{Retention, Subscriber, Subscribers};
use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use site_broker::ensure_person_key;
use time::OffsetDateTime;
use visitor::{PersonId, PersonKey, PersonKeySettings};

use super::lines::{self, ImportRecord, Line};
use crate::{
    broker,
    common_args::{CommonArgs, Mode, ModeArgs},
    output::{print_output, table},
};

/// What is said whenever something is, or would be, imported.
const NO_MAIL: &str =
    "No event is published and no mail is sent: what the table tells of happened elsewhere.";

/// The table, and who we are.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// CSV with at least the columns email, confirmed (RFC 3339) and source; or, for those whose state is
    /// unsubscribed, email and state, and ended (RFC 3339) where it is known; - reads stdin
    #[arg(value_name = "FILE")]
    from: PathBuf,
    #[command(flatten)]
    mode: ModeArgs,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    common: CommonArgs,
}

/// What became, or would become, of a line.
enum LineOutcome {
    Imported,
    Unsubscribed,
    LeftAlone(String),
}

/// Reads the whole table, and imports it only if no line is wrong.
///
/// # Errors
///
/// If the table cannot be read or a line of it is wrong, before any is imported; if the broker fails or a record changed meanwhile,
/// with how many are.
pub async fn import(args: &ImportArgs) -> anyhow::Result<()> {
    let (key, mode, common) = (&args.key.person_key, args.mode.mode(), &args.common);
    let lines = lines::read(&content_of(&args.from)?, OffsetDateTime::now_utc())?;
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let mut import = Import {
        subscribers: Subscribers::open(context.client()).await?,
        mode,
        key,
        left: last_unsubscribes(&lines, key),
        seen: HashMap::new(),
    };
    let mut outcomes = Vec::new();
    for line in lines {
        let number = line.number;
        let outcome = import.apply(line).await.with_context(|| {
            let is_changed =
                |(_, outcome): &&(u64, LineOutcome)| !matches!(outcome, LineOutcome::LeftAlone(_));
            let before = outcomes.iter().filter(is_changed).count();
            format!("line {number} was not imported (imported before it: {before}); repeating it is safe")
        })?;
        outcomes.push((number, outcome));
    }
    print_outcomes(&outcomes, mode, common)
}

/// When somebody left for the last time, by the table, and the line that says so.
type LastUnsubscribes = HashMap<PersonId, (OffsetDateTime, u64)>;

fn last_unsubscribes(lines: &[Line], key: &PersonKey) -> LastUnsubscribes {
    let mut left = LastUnsubscribes::new();
    for line in lines {
        if let ImportRecord::Unsubscribe { email, ended } = &line.record {
            let told = (*ended, line.number);
            let last = left.entry(key.person(email)).or_insert(told);
            if last.0 < *ended {
                *last = told;
            }
        }
    }
    left
}

/// An import under way.
struct Import<'a> {
    subscribers: Subscribers,
    mode: Mode,
    key: &'a PersonKey,
    /// Who left: nobody of them is brought in by another line, wherever it stands.
    left: LastUnsubscribes,
    /// Who is brought in, by the line.
    seen: HashMap<PersonId, u64>,
}

impl Import<'_> {
    async fn apply(&mut self, line: Line) -> anyhow::Result<LineOutcome> {
        match line.record {
            ImportRecord::Consent(email, subscriber) => {
                let person = self.key.person(&email);
                self.confirm(line.number, &person, &subscriber).await
            }
            ImportRecord::Unsubscribe { email, ended } => {
                let person = self.key.person(&email);
                self.end(line.number, &person, ended).await
            }
            ImportRecord::LeftAlone(why) => Ok(LineOutcome::LeftAlone(why)),
        }
    }

    async fn confirm(
        &mut self,
        line: u64,
        person: &PersonId,
        subscriber: &Subscriber,
    ) -> anyhow::Result<LineOutcome> {
        if let Some((_, line)) = self.left.get(person) {
            return Ok(LineOutcome::LeftAlone(format!("line {line} says that they left")));
        }
        if let Some(first) = self.seen.insert(person.clone(), line) {
            return Ok(LineOutcome::LeftAlone(the_same_as(first)));
        }
        let known = self.subscribers.read(person).await?;
        if let Some(known) = &known.subscriber {
            return Ok(LineOutcome::LeftAlone(known_already(known)));
        }
        self.write(person, subscriber, known.revision).await?;
        Ok(LineOutcome::Imported)
    }

    async fn end(&self, line: u64, person: &PersonId, ended: OffsetDateTime) -> anyhow::Result<LineOutcome> {
        if let Some((_, last)) = self.left.get(person)
            && *last != line
        {
            return Ok(LineOutcome::LeftAlone(the_same_as(*last)));
        }
        let known = self.subscribers.read(person).await?;
        let Some(subscriber) = known.subscriber else {
            let why = "nobody with this address is known";
            return Ok(LineOutcome::LeftAlone(why.to_owned()));
        };
        let left = subscriber.clone().unsubscribed(ended);
        if left == subscriber {
            return Ok(LineOutcome::LeftAlone(known_already(&subscriber)));
        }
        // Tools list everybody who ever left: the same list, imported again, must not end what began later.
        if subscriber.requested > ended {
            return Ok(LineOutcome::LeftAlone("they signed up anew since".to_owned()));
        }
        // No event is published that would need the address.
        self.write(person, &left.forgotten(), known.revision).await?;
        Ok(LineOutcome::Unsubscribed)
    }

    async fn write(&self, person: &PersonId, subscriber: &Subscriber, revision: u64) -> anyhow::Result<()> {
        let write = self
            .subscribers
            .write(person, subscriber, revision, Retention::Forever);
        self.mode.apply(write).await?;
        Ok(())
    }
}

fn the_same_as(line: u64) -> String {
    format!("the same address as in line {line}")
}

fn known_already(subscriber: &Subscriber) -> String {
    format!("known already, as {}", subscriber.state_name())
}

fn print_outcomes(outcomes: &[(u64, LineOutcome)], mode: Mode, common: &CommonArgs) -> anyhow::Result<()> {
    let (would, keys) = match mode {
        Mode::Apply => ("", ["imported", "unsubscribed"]),
        Mode::DryRun => ("would be ", ["wouldImport", "wouldUnsubscribe"]),
    };
    let (mut imported, mut unsubscribed, mut left_alone) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows = Vec::new();
    for (number, outcome) in outcomes {
        let became = match outcome {
            LineOutcome::Imported => {
                imported.push(number);
                format!("{would}imported")
            }
            LineOutcome::Unsubscribed => {
                unsubscribed.push(number);
                format!("{would}unsubscribed")
            }
            LineOutcome::LeftAlone(why) => {
                left_alone.push(json!({ "line": number, "why": why }));
                format!("left alone: {why}")
            }
        };
        rows.push(json!({ "line": number, "outcome": became }));
    }
    let mut lines = table(&[("LINE", "line"), ("OUTCOME", "outcome")], &rows)?;
    let all = outcomes.len();
    lines.push(format!("{would}imported: {} of {all}", imported.len()));
    lines.push(format!("{would}unsubscribed: {} of {all}", unsubscribed.len()));
    lines.push(NO_MAIL.to_owned());
    if mode == Mode::DryRun {
        lines.push("Nothing was changed; repeat it with --yes.".to_owned());
    }
    let document = json!({ keys[0]: imported, keys[1]: unsubscribed, "leftAlone": left_alone });
    print_output(common.json, &document, lines)
}

fn content_of(from: &Path) -> anyhow::Result<Vec<u8>> {
    let mut table = Vec::new();
    let read = if from == Path::new("-") {
        stdin().read_to_end(&mut table)
    } else {
        File::open(from).and_then(|mut file| file.read_to_end(&mut table))
    };
    read.with_context(|| format!("{} cannot be read", from.display()))?;
    Ok(table)
}
