//! Subscribers as a table: CSV (RFC 4180) that a spreadsheet may open safely.

use std::borrow::Cow;

use ::subscribers::Subscriber;
use csv::{Terminator, WriterBuilder};
use serde::Serialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::Stage;

/// The columns of an export.
const COLUMNS: [&str; 6] = ["email", "state", "requested", "confirmed", "ended", "source"];

/// One subscriber, as machines are told.
#[derive(Serialize)]
pub struct Row<'a> {
    email: &'a str,
    state: &'static str,
    requested: Option<String>,
    confirmed: Option<String>,
    ended: Option<String>,
    source: Option<&'a str>,
}

impl<'a> Row<'a> {
    /// The row of a subscriber.
    pub fn of(subscriber: &'a Subscriber) -> Self {
        let time = |time: OffsetDateTime| time.format(&Rfc3339).ok();
        Self {
            email: subscriber.email.as_str(),
            state: Stage::of(subscriber).name(),
            requested: time(subscriber.requested),
            confirmed: subscriber.consented().and_then(time),
            ended: subscriber.left().and_then(time),
            source: subscriber.source.as_deref(),
        }
    }
}

/// The whole table, with its heading.
pub fn write(subscribers: &[Subscriber]) -> anyhow::Result<Vec<u8>> {
    let mut table = WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    table.write_record(COLUMNS)?;
    for subscriber in subscribers {
        let row = Row::of(subscriber);
        let time = |time: &'_ Option<String>| time.clone().unwrap_or_default();
        table.write_record([
            &*harmless(row.email),
            row.state,
            &time(&row.requested),
            &time(&row.confirmed),
            &time(&row.ended),
            &*harmless(row.source.unwrap_or_default()),
        ])?;
    }
    Ok(table.into_inner()?)
}

/// A cell that a spreadsheet takes for text, whatever a visitor wrote: one that would be a formula gets an apostrophe
/// before it, as does one that begins with an apostrophe, so that [`plain`] can tell them apart.
fn harmless(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(is_formula) || cell.starts_with('\'') {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

/// What [`harmless`] was given.
pub fn plain(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(is_formula) || rest.starts_with('\'') => rest,
        _ => cell,
    }
}

/// What begins a formula, and what spreadsheets drop before they look for one.
fn is_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula_and_each_reads_back() {
        for cell in [
            "=1+1",
            "+tag@example.com",
            "-x",
            "@import",
            "\t=1",
            "'=1",
            "''",
            "/blog",
            "",
        ] {
            let written = harmless(cell);
            assert!(!written.starts_with(is_formula), "{cell}");
            assert_eq!(plain(&written), cell);
        }
        assert_eq!(harmless("asha@example.com"), "asha@example.com");
        assert_eq!(
            plain("'tis@example.com"),
            "'tis@example.com",
            "an apostrophe of one's own"
        );
    }
}
