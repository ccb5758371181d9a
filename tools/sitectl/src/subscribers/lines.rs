//! The lines of a table that is to be imported: read whole, or told what is wrong with them.

use ::subscribers::Consent;
use anyhow::{bail, ensure};
use csv::{ReaderBuilder, StringRecord};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use visitor::EmailAddress;

use super::{state_name::StateName, table::unescape_formula};

/// How many wrong lines are reported at once.
const MAX_REPORTED_ERRORS: usize = 10;
/// The longest name of a source.
const MAX_SOURCE_CHARACTERS: usize = 200;
/// The most words that were agreed to.
const MAX_CONSENT_CHARACTERS: usize = 1000;

/// One line and what it tells.
pub struct Line {
    /// Its number as an editor shows it.
    pub number: u64,
    /// Its record.
    pub record: ImportRecord,
}

/// Record of a line.
pub enum ImportRecord {
    /// Somebody gave their consent.
    Consent {
        email: EmailAddress,
        confirmed: OffsetDateTime,
        /// Where it was given.
        source: String,
        /// What was agreed to, where the table tells.
        consent: Option<Consent>,
    },
    /// Somebody left.
    Unsubscribe {
        email: EmailAddress,
        ended: OffsetDateTime,
    },
    /// Somebody is in a state that changes nothing here.
    Other { state: &'static str },
    /// Somebody left, of whom an export of ours has no address any more.
    Forgotten,
}

/// All lines, or what is wrong with those that are.
///
/// # Errors
///
/// If the heading lacks a column, or a line cannot be read: the message names the first of them.
pub fn read(table: &[u8], now: OffsetDateTime) -> anyhow::Result<Vec<Line>> {
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
        let parsed = record
            .map_err(|_| "it is not CSV with as many cells as the heading".to_owned())
            .and_then(|record| columns.read(&record, now));
        match parsed {
            Ok(record) => lines.push(Line { number, record }),
            Err(reason) => wrong.push(format!("line {number}: {reason}")),
        }
    }
    let more = wrong.len().saturating_sub(MAX_REPORTED_ERRORS);
    wrong.truncate(MAX_REPORTED_ERRORS);
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
    /// A table of people who left needs neither this nor the next.
    confirmed: Option<usize>,
    source: Option<usize>,
    /// What was agreed to, and how; a table of another program tells neither.
    consent: Option<usize>,
    consent_form: Option<usize>,
    /// An export of ours tells of those who left, too.
    state: Option<usize>,
    ended: Option<usize>,
}

impl Columns {
    fn of(heading: &StringRecord) -> anyhow::Result<Self> {
        let find = |name: &str| heading.iter().position(|column| column.trim() == name);
        let (confirmed, source, state) = (find("confirmed"), find("source"), find("state"));
        let tells_enough = confirmed.is_some() && source.is_some() || state.is_some();
        let Some(email) = find("email").filter(|_| tells_enough) else {
            bail!(
                "Nothing was imported: the first line must name the columns email, confirmed and source, or email \
                 and state for those who left, separated by commas."
            );
        };
        Ok(Self {
            email,
            confirmed,
            source,
            consent: find("consent"),
            consent_form: find("consent_form"),
            state,
            ended: find("ended"),
        })
    }

    fn read(&self, line: &StringRecord, now: OffsetDateTime) -> Result<ImportRecord, String> {
        let cell = |index: usize| unescape_formula(line.get(index).unwrap_or_default().trim());
        let named = |column: Option<usize>| column.map(cell).unwrap_or_default();
        let state_name = match self.state.map(cell) {
            None => StateName::Confirmed,
            Some(state) => StateName::named(state).ok_or("there is no such state")?,
        };
        if matches!(state_name, StateName::Pending | StateName::Suppressed) {
            return Ok(ImportRecord::Other {
                state: state_name.name(),
            });
        }
        if state_name == StateName::Unsubscribed && cell(self.email).is_empty() {
            return Ok(ImportRecord::Forgotten);
        }
        let email = EmailAddress::parse(cell(self.email)).map_err(|_| "email is no e-mail address")?;
        if state_name == StateName::Unsubscribed {
            let ended = match named(self.ended) {
                "" => now,
                ended => time("ended", ended, now)?,
            };
            return Ok(ImportRecord::Unsubscribe { email, ended });
        }
        let confirmed = time("confirmed", named(self.confirmed), now)?;
        let source = source(named(self.source))?;
        let consent = consent(named(self.consent), named(self.consent_form))?;
        Ok(ImportRecord::Consent {
            email,
            confirmed,
            source,
            consent,
        })
    }
}

/// A time that has been.
fn time(column: &str, cell: &str, now: OffsetDateTime) -> Result<OffsetDateTime, String> {
    match OffsetDateTime::parse(cell, &Rfc3339) {
        Ok(time) if time > now => Err(format!("{column} is yet to come")),
        Ok(time) => Ok(time),
        Err(_) => Err(format!("{column} is no time such as 2026-11-20T12:00:00Z")),
    }
}

fn consent(text: &str, form: &str) -> Result<Option<Consent>, String> {
    let is_line =
        |cell: &str| cell.chars().count() <= MAX_CONSENT_CHARACTERS && !cell.contains(char::is_control);
    if !is_line(text) || !is_line(form) {
        return Err(format!(
            "consent or consent_form is not a line of at most {MAX_CONSENT_CHARACTERS} characters"
        ));
    }
    if text.is_empty() && !form.is_empty() {
        return Err("consent is empty; it says what was agreed to in the way of consent_form".to_owned());
    }
    let (text, form) = (text.to_owned(), form.to_owned());
    Ok((!text.is_empty()).then_some(Consent { text, form }))
}

fn source(cell: &str) -> Result<String, String> {
    if cell.is_empty() {
        return Err("source is empty; it says where the consent was given".to_owned());
    }
    if cell.chars().count() > MAX_SOURCE_CHARACTERS || cell.contains(char::is_control) {
        return Err(format!(
            "source is not a line of at most {MAX_SOURCE_CHARACTERS} characters"
        ));
    }
    Ok(cell.to_owned())
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
            [Line { number: 3, record: ImportRecord::Consent { email, source, confirmed, consent: None } }, Line { number: 5, .. }]
                if email.as_str() == "+zoe@example.org"
                    && source == "Fair, Berlin"
                    && *confirmed == datetime!(2026-11-01 9:00 UTC)
        ));
    }

    #[test]
    fn what_was_agreed_to_comes_along() {
        let table = "email,confirmed,source,consent,consent_form\n\
            zoe@example.org,2026-11-01T10:00:00Z,fair,'=Shall we?,double-opt-in\n";
        let lines = read(table.as_bytes(), NOW).expect("a table");
        assert!(matches!(
            &lines[..],
            [Line { record: ImportRecord::Consent { consent: Some(Consent { text, form }), .. }, .. }]
                if text == "=Shall we?" && form == "double-opt-in"
        ));
        let long = table.replace("double-opt-in", &"x".repeat(1001));
        let without_words = table.replace("'=Shall we?", "");
        for wrong in [long, without_words] {
            assert!(refusal(&wrong).contains("line 2: consent"), "{}", refusal(&wrong));
        }
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
    fn a_wrong_line_of_somebody_who_left_is_told_as_well() {
        let refusal = refusal(
            "email,state,ended\nzoe@example.org,unsubscribed,\nnobody,unsubscribed,\n\
             zoe@example.org,unsubscribed,yesterday\nzoe@example.org,unsubscribed,2027-01-01T00:00:00Z\n\
             zoe@example.org,gone,\nzoe@example.org,confirmed,\n",
        );
        for said in [
            "line 3: email",
            "line 4: ended is no time",
            "line 5: ended is yet",
            "line 6: there is no such state",
            "line 7: confirmed is no time",
        ] {
            assert!(refusal.contains(said), "{said}: {refusal}");
        }
        assert!(
            !refusal.contains("nobody") && !refusal.contains("line 2"),
            "{refusal}"
        );
    }

    #[test]
    fn whoever_left_an_export_without_an_address_is_no_mistake_and_whoever_stayed_is() {
        let table = "email,state,confirmed,source\n,unsubscribed,,\n";
        let lines = read(table.as_bytes(), NOW).expect("a table");
        assert!(matches!(
            &lines[..],
            [Line {
                record: ImportRecord::Forgotten,
                ..
            }]
        ));
        let stayed = "email,state,confirmed,source\n,confirmed,2026-11-01T10:00:00Z,fair\n";
        assert!(refusal(stayed).contains("line 2: email"));
    }

    #[test]
    fn a_table_without_its_columns_is_refused() {
        for table in [
            "",
            "email\nzoe@example.org\n",
            "email;confirmed;source\n",
            "email,confirmed\n",
            "state,ended\n",
        ] {
            assert!(
                refusal(table).contains("columns email, confirmed and source"),
                "{table}"
            );
        }
    }
}
