//! `sitectl subscribers import`: people who consented elsewhere become confirmed subscribers. Known people
//! who unsubscribed elsewhere become unsubscribed. No event is published, so no mail or webhook is sent.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    fs,
    path::PathBuf,
};

use ::subscribers::{Subscriber, Subscribers};
use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use site_broker::ensure_person_key;
use time::OffsetDateTime;
use visitor::{PersonId, PersonKey, PersonKeySettings};

use super::lines::{self, ImportRecord, Line};
use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::print_output,
};

const NO_MAIL: &str = "No event is published and no mail is sent.";

#[derive(Args, Debug)]
pub struct ImportArgs {
    /// CSV with at least the columns email, confirmed (RFC 3339) and source; or, for the state unsubscribed, email and
    /// state, and optionally ended (RFC 3339)
    #[arg(value_name = "FILE")]
    from: PathBuf,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    key: PersonKeySettings,
    #[command(flatten)]
    common: CommonArgs,
}

const IMPORTED: &str = "imported";
const UNSUBSCRIBED: &str = "unsubscribed";

/// Outcome of a line, or why the line changes nothing.
type LineOutcome = Result<&'static str, String>;

/// # Errors
///
/// If a line is invalid (then none is imported), the broker fails, or a record changes in the meantime.
pub async fn import(args: &ImportArgs) -> anyhow::Result<()> {
    let (key, mode, common) = (&args.key.person_key, args.mode, &args.common);
    let table = fs::read(&args.from).with_context(|| format!("{} cannot be read", args.from.display()))?;
    let mut lines = lines::read(&table, OffsetDateTime::now_utc())?;
    // Only an address's first line counts. So unsubscribed lines come first, and the latest of them first.
    lines.sort_by_key(|line| match &line.record {
        ImportRecord::Unsubscribe { ended, .. } => Reverse(Some(*ended)),
        _ => Reverse(None),
    });
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let mut import = Import {
        subscribers: Subscribers::open(context.client()).await?,
        mode,
        key,
        seen: HashMap::new(),
    };
    let mut outcomes = BTreeMap::new();
    for Line { number, record } in lines {
        let outcome = import.apply(number, record).await;
        let outcome = outcome.with_context(|| {
            let before = outcomes.len();
            format!("line {number} was not imported, and {before} lines were; repeating it is safe")
        })?;
        outcomes.insert(number, outcome);
    }
    print_outcomes(&outcomes, mode, common.json)
}

struct Import<'a> {
    subscribers: Subscribers,
    mode: Mode,
    key: &'a PersonKey,
    seen: HashMap<PersonId, u64>,
}

impl Import<'_> {
    async fn apply(&mut self, line: u64, record: ImportRecord) -> anyhow::Result<LineOutcome> {
        let email = match &record {
            ImportRecord::Consent(email, _) | ImportRecord::Unsubscribe { email, .. } => email,
            ImportRecord::LeftAlone(why) => return Ok(Err(why.clone())),
        };
        let person = self.key.person(email);
        if let Some(first) = self.seen.insert(person.clone(), line) {
            return Ok(Err(format!("the same address as in line {first}")));
        }
        let known = self.subscribers.read(&person).await?;
        let (new, outcome) = match changed(record, known.value) {
            Ok(changed) => changed,
            Err(why) => return Ok(Err(why)),
        };
        let subscribers = &self.subscribers;
        let write = subscribers.write(&person, &new, known.revision, None);
        self.mode.apply(write).await?;
        Ok(Ok(outcome))
    }
}

/// New record of a known or new subscriber, or why the line changes nothing.
fn changed(record: ImportRecord, known: Option<Subscriber>) -> Result<(Subscriber, &'static str), String> {
    match (record, known) {
        (ImportRecord::Consent(_, new), None) => Ok((*new, IMPORTED)),
        (ImportRecord::Unsubscribe { ended, .. }, Some(known))
            if known.clone().unsubscribed(ended) != known =>
        {
            // A repeated import of the same list must not end a later subscription.
            if known.requested > ended {
                return Err("they signed up anew since".to_owned());
            }
            // No later event needs the address.
            Ok((known.unsubscribed(ended).forgotten(), UNSUBSCRIBED))
        }
        (_, Some(known)) => Err(format!("known already, as {}", known.state_name())),
        (_, None) => Err("nobody with this address is known".to_owned()),
    }
}

fn print_outcomes(outcomes: &BTreeMap<u64, LineOutcome>, mode: Mode, json: bool) -> anyhow::Result<()> {
    let (would, keys) = if mode.yes {
        ("", ["imported", "unsubscribed"])
    } else {
        ("would be ", ["wouldImport", "wouldUnsubscribe"])
    };
    let (mut lines, mut left_alone) = (Vec::new(), Vec::new());
    for (number, outcome) in outcomes {
        lines.push(match outcome {
            Ok(done) => format!("{number}  {would}{done}"),
            Err(why) => format!("{number}  left alone: {why}"),
        });
        if let Err(why) = outcome {
            left_alone.push(json!({ "line": number, "why": why }));
        }
    }
    let [imported, unsubscribed] = [IMPORTED, UNSUBSCRIBED].map(|done| {
        let of_it = outcomes.iter().filter(|(_, outcome)| **outcome == Ok(done));
        let numbers: Vec<u64> = of_it.map(|(number, _)| *number).collect();
        lines.push(format!("{would}{done}: {} of {}", numbers.len(), outcomes.len()));
        numbers
    });
    lines.push(NO_MAIL.to_owned());
    if !mode.yes {
        lines.push("Nothing was changed; repeat it with --yes.".to_owned());
    }
    let document = json!({ keys[0]: imported, keys[1]: unsubscribed, "leftAlone": left_alone });
    print_output(json, &document, lines)
}
