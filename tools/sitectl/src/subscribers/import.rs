//! `sitectl subscribers import`: who gave their consent elsewhere becomes a confirmed subscriber, and who left elsewhere
//! has left. No event is published, so nobody gets a mail by it and no endpoint hears of it.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read, stdin},
    path::Path,
};

use ::subscribers::{Retention, Subscriber, SubscriberStoreError, Subscribers};
use anyhow::Context as _;
use serde_json::json;
use site_broker::ensure_person_key;
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

use super::lines::{self, ImportRecord, Line};
use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::{print_output, table},
    progress,
};

/// What is said whenever something is, or would be, imported.
const NO_MAIL: &str =
    "No event is published and no mail is sent: what the table tells of happened elsewhere.";

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
/// If the table cannot be read or a line of it is wrong, before any is imported; if the broker fails, with how many are.
pub async fn import(from: &Path, mode: Mode, key: &PersonKey, common: &CommonArgs) -> anyhow::Result<()> {
    let lines = lines::read(&content_of(from)?, OffsetDateTime::now_utc())?;
    let context = broker::connect(&common.nats).await?;
    ensure_person_key(&context, key).await?;
    let mut import = Import {
        subscribers: Subscribers::open(context.client()).await?,
        mode,
        key,
        left: last_unsubscribes(&lines, key),
        seen: HashMap::new(),
    };
    let progress = progress::counted("lines", lines.len() as u64)?;
    let mut outcomes = Vec::new();
    for line in progress.wrap_iter(lines.iter()) {
        let outcome = import.apply(line).await;
        let outcome = outcome.with_context(|| {
            let before = outcomes
                .iter()
                .filter(|(_, outcome)| !matches!(outcome, LineOutcome::LeftAlone(_)));
            format!(
                "line {} was not imported (imported before it: {}); repeating it is safe",
                line.number,
                before.count()
            )
        })?;
        outcomes.push((line.number, outcome));
    }
    progress.finish_and_clear();
    print_outcomes(&outcomes, mode, common)
}

/// The last time that somebody left, by the table.
struct LastUnsubscribe {
    ended: OffsetDateTime,
    /// The line that tells of it.
    line: u64,
}

/// Of everybody who left, the last time.
fn last_unsubscribes(lines: &[Line], key: &PersonKey) -> HashMap<PersonId, LastUnsubscribe> {
    let mut last: HashMap<PersonId, LastUnsubscribe> = HashMap::new();
    for line in lines {
        let ImportRecord::Unsubscribe { email, ended } = &line.record else {
            continue;
        };
        let person = key.person(email);
        if last.get(&person).is_none_or(|known| known.ended < *ended) {
            let unsubscribe = LastUnsubscribe {
                ended: *ended,
                line: line.number,
            };
            last.insert(person, unsubscribe);
        }
    }
    last
}

/// An import under way.
struct Import<'a> {
    subscribers: Subscribers,
    mode: Mode,
    key: &'a PersonKey,
    /// Who left: nobody of them is brought in by another line, wherever it stands.
    left: HashMap<PersonId, LastUnsubscribe>,
    /// Who is brought in, by the line.
    seen: HashMap<PersonId, u64>,
}

impl Import<'_> {
    async fn apply(&mut self, line: &Line) -> Result<LineOutcome, SubscriberStoreError> {
        match &line.record {
            ImportRecord::Consent {
                email,
                confirmed,
                source,
                consent,
            } => {
                let source = Some(source.clone());
                let mut subscriber = Subscriber::imported(email.clone(), source, *confirmed, Uuid::new_v4());
                if let Some(consent) = consent {
                    subscriber = subscriber.with_consent(consent.clone(), *confirmed);
                }
                self.import_confirmed(line.number, email, &subscriber).await
            }
            ImportRecord::Unsubscribe { email, ended } => self.end(line.number, email, *ended).await,
            ImportRecord::Other { state } => Ok(LineOutcome::LeftAlone(format!("the table says {state}"))),
            ImportRecord::Forgotten => Ok(LineOutcome::LeftAlone(
                "the table says unsubscribed, and no address".to_owned(),
            )),
        }
    }

    async fn import_confirmed(
        &mut self,
        line: u64,
        email: &EmailAddress,
        subscriber: &Subscriber,
    ) -> Result<LineOutcome, SubscriberStoreError> {
        let person = self.key.person(email);
        if let Some(unsubscribe) = self.left.get(&person) {
            return Ok(LineOutcome::LeftAlone(format!(
                "line {} says that they left",
                unsubscribe.line
            )));
        }
        if let Some(first) = self.seen.insert(person.clone(), line) {
            return Ok(LineOutcome::LeftAlone(the_same_as(first)));
        }
        let known = self.subscribers.read(&person).await?;
        if let Some(known) = &known.subscriber {
            return Ok(LineOutcome::LeftAlone(known_already(known)));
        }
        if self.mode == Mode::DryRun {
            return Ok(LineOutcome::Imported);
        }
        let written = self
            .subscribers
            .write(&person, subscriber, known.revision, Retention::Forever)
            .await;
        match written {
            Ok(_) => Ok(LineOutcome::Imported),
            Err(SubscriberStoreError::Conflict) => {
                Ok(LineOutcome::LeftAlone("they signed up in this moment".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    async fn end(
        &self,
        line: u64,
        email: &EmailAddress,
        ended: OffsetDateTime,
    ) -> Result<LineOutcome, SubscriberStoreError> {
        let person = self.key.person(email);
        if let Some(last) = self.left.get(&person)
            && last.line != line
        {
            return Ok(LineOutcome::LeftAlone(the_same_as(last.line)));
        }
        match self.try_to_end(&person, ended).await {
            // What they did in this moment does not undo that they left.
            Err(SubscriberStoreError::Conflict) => self.try_to_end(&person, ended).await,
            done => done,
        }
    }

    async fn try_to_end(
        &self,
        person: &PersonId,
        ended: OffsetDateTime,
    ) -> Result<LineOutcome, SubscriberStoreError> {
        let known = self.subscribers.read(person).await?;
        let Some(subscriber) = known.subscriber else {
            return Ok(LineOutcome::LeftAlone(
                "nobody with this address is known".to_owned(),
            ));
        };
        let left = subscriber.clone().unsubscribed(ended);
        if left == subscriber {
            return Ok(LineOutcome::LeftAlone(known_already(&subscriber)));
        }
        // Tools list everybody who ever left: the same list, imported again, must not end what began later.
        if subscriber.requested > ended {
            return Ok(LineOutcome::LeftAlone("they signed up anew since".to_owned()));
        }
        if self.mode == Mode::Apply {
            // No event is published that would need the address.
            self.subscribers
                .write(person, &left.forgotten(), known.revision, Retention::Forever)
                .await?;
        }
        Ok(LineOutcome::Unsubscribed)
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
        rows.push([number.to_string(), became]);
    }
    let mut lines = table(["LINE", "OUTCOME"], rows)?;
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
