//! `sitectl subscribers import`: who gave their consent elsewhere becomes a confirmed subscriber. No event is
//! published, so nobody gets a mail by it and no endpoint hears of it.

use std::{
    collections::HashMap,
    fs::File,
    io::{Read, stdin},
    path::Path,
};

use ::subscribers::{Kept, StoreError, Subscriber, Subscribers};
use anyhow::{Context as _, bail, ensure};
use csv::{ReaderBuilder, StringRecord};
use serde_json::json;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId};

use super::{Key, Stage, Usual, table::plain};
use crate::{answer::answer, broker};

/// How many wrong lines are told of at once.
const TOLD_AT_MOST: usize = 10;
/// The longest name of a source, in characters.
const LONGEST_SOURCE: usize = 200;
/// What is said whenever something is, or would be, imported.
const NO_MAIL: &str = "No event is published and no mail is sent: the consent was given elsewhere.";

/// Whether it is done, or only told what would be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Doing,
    Telling,
}

/// One line that may become a subscriber.
struct Line {
    number: u64,
    content: Content,
}

enum Content {
    Consent {
        email: EmailAddress,
        confirmed: OffsetDateTime,
        source: String,
    },
    /// Somebody whom the table itself says not to be confirmed.
    Other { state: String },
}

/// What became, or would become, of a line.
enum Fate {
    Imported,
    LeftAlone(String),
}

/// Reads the whole table, and imports it only if no line is wrong.
pub async fn import(from: &Path, what: What, key: &Key, usual: &Usual) -> anyhow::Result<()> {
    let lines = read(&content_of(from)?, OffsetDateTime::now_utc())?;
    let context = broker::connect(&usual.nats).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let mut seen = HashMap::new();
    let mut fates = Vec::new();
    for line in &lines {
        let fate = settle(&subscribers, line, what, key, &mut seen).await;
        let fate = fate.with_context(|| {
            let before = imported(&fates).len();
            format!(
                "line {} was not imported (imported before it: {before}); repeating it is safe",
                line.number
            )
        })?;
        fates.push((line.number, fate));
    }
    tell(&fates, what, usual)
}

async fn settle(
    subscribers: &Subscribers,
    line: &Line,
    what: What,
    key: &Key,
    seen: &mut HashMap<PersonId, u64>,
) -> anyhow::Result<Fate> {
    let (email, confirmed, source) = match &line.content {
        Content::Consent {
            email,
            confirmed,
            source,
        } => (email, *confirmed, source),
        Content::Other { state } => return Ok(Fate::LeftAlone(format!("the table says {state}"))),
    };
    let person = key.person_key.person(email);
    if let Some(first) = seen.insert(person.clone(), line.number) {
        return Ok(Fate::LeftAlone(format!("the same address as in line {first}")));
    }
    let known = subscribers.read(&person).await?;
    if let Some(subscriber) = &known.subscriber {
        let state = Stage::of(subscriber).name();
        return Ok(Fate::LeftAlone(format!("known already, as {state}")));
    }
    if what == What::Telling {
        return Ok(Fate::Imported);
    }
    let subscriber = Subscriber::imported(email.clone(), Some(source.clone()), confirmed, Uuid::new_v4());
    let written = subscribers
        .write(&person, &subscriber, known.revision, Kept::ForGood)
        .await;
    match written {
        Ok(_) => Ok(Fate::Imported),
        Err(StoreError::Conflict) => Ok(Fate::LeftAlone("they signed up in this moment".to_owned())),
        Err(error) => Err(error.into()),
    }
}

fn tell(fates: &[(u64, Fate)], what: What, usual: &Usual) -> anyhow::Result<()> {
    let (done, key) = match what {
        What::Doing => ("imported", "imported"),
        What::Telling => ("would be imported", "wouldImport"),
    };
    let mut lines: Vec<String> = fates
        .iter()
        .map(|(number, fate)| match fate {
            Fate::Imported => format!("line {number}: {done}"),
            Fate::LeftAlone(why) => format!("line {number}: left alone: {why}"),
        })
        .collect();
    let imported = imported(fates);
    lines.push(format!("{done}: {} of {}", imported.len(), fates.len()));
    lines.push(NO_MAIL.to_owned());
    if what == What::Telling {
        lines.push("Nothing was imported; repeat it with --yes.".to_owned());
    }
    let left_alone: Vec<_> = fates
        .iter()
        .filter_map(|(number, fate)| match fate {
            Fate::Imported => None,
            Fate::LeftAlone(why) => Some(json!({ "line": number, "why": why })),
        })
        .collect();
    answer(
        usual.json,
        &json!({ key: imported, "leftAlone": left_alone }),
        lines,
    )
}

fn imported(fates: &[(u64, Fate)]) -> Vec<u64> {
    let imported = fates.iter().filter(|(_, fate)| matches!(fate, Fate::Imported));
    imported.map(|(number, _)| *number).collect()
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

/// All lines, or what is wrong with those that are.
fn read(table: &[u8], now: OffsetDateTime) -> anyhow::Result<Vec<Line>> {
    let mut reader = ReaderBuilder::new().from_reader(table);
    let columns = Columns::of(reader.headers()?)?;
    let mut numbers = Numbers::of(table);
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let position = match &record {
            Ok(record) => record.position(),
            Err(error) => error.position(),
        };
        let number = numbers.at(position.map_or(0, csv::Position::byte));
        let content = record
            .map_err(|_| "it is not CSV with as many cells as the heading".to_owned())
            .and_then(|record| columns.read(&record, now));
        match content {
            Ok(content) => lines.push(Line { number, content }),
            Err(reason) => wrong.push(format!("line {number}: {reason}")),
        }
    }
    let more = wrong.len().saturating_sub(TOLD_AT_MOST);
    wrong.truncate(TOLD_AT_MOST);
    if more > 0 {
        wrong.push(format!("and {more} more"));
    }
    ensure!(wrong.is_empty(), "Nothing was imported: {}.", wrong.join("; "));
    Ok(lines)
}

/// The numbers of lines as an editor shows them. The reader's own are behind by one where lines end with CR LF, and
/// behind by every empty line.
struct Numbers<'a> {
    table: &'a [u8],
    byte: usize,
    number: u64,
}

impl<'a> Numbers<'a> {
    fn of(table: &'a [u8]) -> Self {
        Self {
            table,
            byte: 0,
            number: 1,
        }
    }

    /// The number of the line that begins at this byte, or after the ends of lines that stand there. To be asked in
    /// the order of the lines.
    fn at(&mut self, byte: u64) -> u64 {
        let byte = usize::try_from(byte).unwrap_or(usize::MAX);
        while let Some(&next) = self.table.get(self.byte) {
            if self.byte >= byte && !matches!(next, b'\r' | b'\n') {
                break;
            }
            self.number += u64::from(next == b'\n');
            self.byte += 1;
        }
        self.number
    }
}

/// Where in a line stands what.
struct Columns {
    email: usize,
    confirmed: usize,
    source: usize,
    /// An export of ours tells of those who left, too.
    state: Option<usize>,
}

impl Columns {
    fn of(heading: &StringRecord) -> anyhow::Result<Self> {
        let find = |name: &str| heading.iter().position(|column| column.trim() == name);
        let (Some(email), Some(confirmed), Some(source)) = (find("email"), find("confirmed"), find("source"))
        else {
            bail!(
                "Nothing was imported: the first line must name the columns email, confirmed and source, \
                 separated by commas."
            );
        };
        Ok(Self {
            email,
            confirmed,
            source,
            state: find("state"),
        })
    }

    fn read(&self, line: &StringRecord, now: OffsetDateTime) -> Result<Content, String> {
        let cell = |index: usize| plain(line.get(index).unwrap_or_default().trim());
        if let Some(state) = self
            .state
            .map(cell)
            .filter(|state| *state != Stage::Confirmed.name())
        {
            let known = [Stage::Pending, Stage::Unsubscribed, Stage::Suppressed].map(Stage::name);
            return if known.contains(&state) {
                Ok(Content::Other {
                    state: state.to_owned(),
                })
            } else {
                Err("there is no such state".to_owned())
            };
        }
        let email = EmailAddress::parse(cell(self.email)).map_err(|_| "email is no e-mail address")?;
        let confirmed = OffsetDateTime::parse(cell(self.confirmed), &Rfc3339)
            .map_err(|_| "confirmed is no time such as 2026-11-20T12:00:00Z")?;
        if confirmed > now {
            return Err("confirmed is yet to come".to_owned());
        }
        let source = cell(self.source);
        if source.is_empty() {
            return Err("source is empty; it says where the consent was given".to_owned());
        }
        if source.chars().count() > LONGEST_SOURCE || source.contains(char::is_control) {
            return Err(format!(
                "source is not a line of at most {LONGEST_SOURCE} characters"
            ));
        }
        Ok(Content::Consent {
            email,
            confirmed,
            source: source.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    fn refusal(table: &str) -> String {
        let read = read(table.as_bytes(), NOW);
        read.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_table_is_read_as_spreadsheets_write_it() {
        let table = "\u{feff}source,name,email,confirmed\r\n\r\n\
            \"Fair, Berlin\",\"Zoë\r\nMüller\",'+zoe@example.org,2026-11-01T10:00:00+01:00\r\n\
            Fair,Asha,asha@example.com,2026-11-01T10:00:00Z\r\n";
        let lines = read(table.as_bytes(), NOW).expect("a table");
        assert!(matches!(
            &lines[..],
            [Line { number: 3, content: Content::Consent { email, source, confirmed } }, Line { number: 5, .. }]
                if email.as_str() == "+zoe@example.org"
                    && source == "Fair, Berlin"
                    && *confirmed == datetime!(2026-11-01 9:00 UTC)
        ));
    }

    #[test]
    fn every_wrong_line_is_told_with_its_number_and_without_what_it_says() {
        let refusal = refusal(
            "email,confirmed,source\nzoe@example.org,2026-11-01T10:00:00Z,fair\nnobody,2026-11-01T10:00:00Z,fair\n\
             zoe@example.org,yesterday,fair\nzoe@example.org,2027-01-01T00:00:00Z,fair\n\
             zoe@example.org,2026-11-01T10:00:00Z,\nzoe@example.org\n",
        );
        for said in [
            "line 3: email",
            "line 4: confirmed is no time",
            "line 5: confirmed is yet",
            "line 6: source",
            "line 7: it is not CSV",
        ] {
            assert!(refusal.contains(said), "{said}: {refusal}");
        }
        assert!(
            !refusal.contains("nobody") && !refusal.contains("line 2"),
            "{refusal}"
        );
    }

    #[test]
    fn a_table_without_its_columns_is_refused() {
        for table in ["", "email\nzoe@example.org\n", "email;confirmed;source\n"] {
            assert!(
                refusal(table).contains("columns email, confirmed and source"),
                "{table}"
            );
        }
    }
}
