//! Parser of the table to import.

use ::subscribers::{Consent, Subscriber};
use anyhow::ensure;
use csv::{ReaderBuilder, StringRecord, Trim};
use serde::Deserialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::output::unescape_formula;

const MAX_REPORTED_ERRORS: usize = 10;

pub struct Line {
    /// Number of its row in a spreadsheet.
    pub number: u64,
    pub record: ImportRecord,
}

pub enum ImportRecord {
    Consent(EmailAddress, Box<Subscriber>),
    Unsubscribe {
        email: EmailAddress,
        ended: OffsetDateTime,
    },
    /// The line changes nothing, for this reason.
    LeftAlone(String),
}

/// # Errors
///
/// If the heading lacks a column, or lines are invalid: the error names the first of them.
pub fn read(table: &[u8], now: OffsetDateTime) -> anyhow::Result<Vec<Line>> {
    let mut reader = ReaderBuilder::new().trim(Trim::Headers).from_reader(table);
    let heading = reader.headers()?.clone();
    let has = |name: &str| heading.iter().any(|column| column == name);
    ensure!(
        has("email") && (has("state") || has("confirmed") && has("source")),
        "Nothing was imported: the first line must name the columns email, confirmed and source, or email and state for \
         unsubscribed people, separated by commas."
    );
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for (number, record) in (2..).zip(reader.records()) {
        let cells = record.and_then(|record| Cells::of(&record, &heading));
        let parsed = cells
            .map_err(|_| "it is not CSV with as many cells as the heading".to_owned())
            .and_then(|cells| cells.parse(now));
        match parsed {
            Ok(record) => lines.push(Line { number, record }),
            Err(reason) => wrong.push(format!("line {number}: {reason}")),
        }
    }
    let all = wrong.len();
    wrong.truncate(MAX_REPORTED_ERRORS);
    ensure!(
        all == 0,
        "Nothing was imported, because {all} lines are wrong: {}.",
        wrong.join("; ")
    );
    Ok(lines)
}

/// Cells of a line. Tables of other programs lack some columns.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Cells {
    email: String,
    state: String,
    confirmed: String,
    ended: String,
    source: String,
    consent: String,
    consent_form: String,
}

impl Cells {
    fn of(record: &StringRecord, heading: &StringRecord) -> csv::Result<Self> {
        let cells = record.iter().map(|cell| unescape_formula(cell.trim()));
        cells.collect::<StringRecord>().deserialize(Some(heading))
    }

    fn parse(self, now: OffsetDateTime) -> Result<ImportRecord, String> {
        let email = EmailAddress::parse(&self.email).map_err(|_| "email is not an e-mail address".to_owned());
        match &*self.state {
            "unsubscribed" if !self.email.is_empty() => {
                let ended = match &*self.ended {
                    "" => now,
                    ended => time("ended", ended, now)?,
                };
                let email = email?;
                Ok(ImportRecord::Unsubscribe { email, ended })
            }
            // Our export omits the address of people who left.
            state @ ("pending" | "suppressed" | "unsubscribed") => {
                Ok(ImportRecord::LeftAlone(format!("the table says {state}")))
            }
            "" | "confirmed" => self.consent(email?, now),
            _ => Err("there is no such state".to_owned()),
        }
    }

    fn consent(self, email: EmailAddress, now: OffsetDateTime) -> Result<ImportRecord, String> {
        let confirmed = time("confirmed", &self.confirmed, now)?;
        if self.source.is_empty() {
            return Err("source is empty; it says where the consent was given".to_owned());
        }
        let mut subscriber =
            Subscriber::imported(email.clone(), Some(self.source), confirmed, Uuid::new_v4());
        if !self.consent.is_empty() {
            let (text, form) = (self.consent, self.consent_form);
            subscriber = subscriber.with_consent(Consent { text, form }, confirmed);
        }
        Ok(ImportRecord::Consent(email, Box::new(subscriber)))
    }
}

/// Parses a time, which must be in the past.
fn time(column: &str, cell: &str, now: OffsetDateTime) -> Result<OffsetDateTime, String> {
    match OffsetDateTime::parse(cell, &Rfc3339) {
        Ok(time) if time > now => Err(format!("{column} is in the future")),
        Ok(time) => Ok(time),
        Err(_) => Err(format!("{column} is not a time such as 2026-11-20T12:00:00Z")),
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
    fn a_table_is_read_as_spreadsheets_write_it() -> anyhow::Result<()> {
        let table = "\u{feff}source,name,email,confirmed,consent,consent_form\r\n\r\n\
            \"Fair, Berlin\",\"Zoë\r\nMüller\",'+zoe@example.org,2026-11-01T10:00:00+01:00,'=Shall we?,double-opt-in\r\n\
            Fair,Asha,asha@example.com,2026-11-01T10:00:00Z,,\r\n";
        let lines = read(table.as_bytes(), NOW)?;
        assert!(lines.iter().map(|line| line.number).eq([2, 3]));
        let [ImportRecord::Consent(email, zoe), ImportRecord::Consent(_, asha)] =
            [&lines[0].record, &lines[1].record]
        else {
            anyhow::bail!("two consents");
        };
        assert_eq!(email.as_str(), "+zoe@example.org");
        assert_eq!(zoe.source.as_deref(), Some("Fair, Berlin"));
        assert_eq!(zoe.consented_at(), Some(datetime!(2026-11-01 9:00 UTC)));
        let (text, form) = ("=Shall we?".to_owned(), "double-opt-in".to_owned());
        assert_eq!(zoe.consent, Some(Consent { text, form }));
        assert_eq!(asha.consent, None);

        // The export omits the address of people who left.
        let left = read(b"email,state,confirmed,source\n,unsubscribed,,\n", NOW)?;
        assert!(matches!(left[0].record, ImportRecord::LeftAlone(_)));
        Ok(())
    }

    const WRONG: [(&str, &[&str]); 3] = [
        (
            "email,confirmed,source\nzoe@example.org,2026-11-01T10:00:00Z,fair\n\
             nobody,2026-11-01T10:00:00Z,fair\nzoe@example.org,yesterday,fair\n\
             zoe@example.org,2027-01-01T00:00:00Z,fair\nzoe@example.org,2026-11-01T10:00:00Z,\nzoe@example.org\n",
            &[
                "line 3: email",
                "line 4: confirmed is not a time",
                "line 5: confirmed is in the future",
                "line 6: source",
                "line 7: it is not CSV",
            ],
        ),
        (
            "email,state,ended\nzoe@example.org,unsubscribed,\nnobody,unsubscribed,\n\
             zoe@example.org,unsubscribed,yesterday\nzoe@example.org,unsubscribed,2027-01-01T00:00:00Z\n\
             zoe@example.org,gone,\nzoe@example.org,confirmed,\n",
            &[
                "line 3: email",
                "line 4: ended is not a time",
                "line 5: ended is in the future",
                "line 6: there is no such state",
                "line 7: confirmed is not a time",
            ],
        ),
        (
            "email,state,confirmed,source\nzoe@example.org,pending,,\n,confirmed,2026-11-01T10:00:00Z,fair\n",
            &["line 3: email"],
        ),
    ];

    #[test]
    fn wrong_lines_are_named_by_number_without_their_content() {
        for (table, parts) in WRONG {
            let refusal = refusal(table);
            assert!(parts.iter().all(|part| refusal.contains(part)), "{refusal}");
            assert!(
                !refusal.contains("nobody") && !refusal.contains("line 2"),
                "{refusal}"
            );
        }
        for heading in [
            "",
            "email",
            "email;confirmed;source",
            "email,confirmed",
            "state,ended",
        ] {
            let refusal = refusal(&format!("{heading}\n"));
            assert!(
                refusal.contains("columns email, confirmed and source"),
                "{heading}"
            );
        }
    }
}
