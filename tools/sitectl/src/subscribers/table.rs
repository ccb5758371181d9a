//! Subscribers as a table: CSV (RFC 4180) that a spreadsheet may open safely.

use std::{borrow::Cow, io::Write};

use ::subscribers::Subscriber;
use csv::{Terminator, Writer, WriterBuilder};
use serde::Serialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use visitor::links::UnsubscribeLinks;

/// The columns of an export that tells how each can unsubscribe.
pub const COLUMNS_WITH_LINKS: &[&str] = &[
    "email",
    "state",
    "requested",
    "confirmed",
    "ended",
    "source",
    "consent",
    "consent_form",
    "unsubscribe",
    "one_click",
];
/// The columns of an export that does not.
pub const COLUMNS: &[&str] = COLUMNS_WITH_LINKS.split_at(COLUMNS_WITH_LINKS.len() - 2).0;

/// One subscriber, as machines are told.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// None of whoever left: see [`Subscriber::forgotten`].
    email: Option<String>,
    state: String,
    requested: Option<String>,
    confirmed: Option<String>,
    ended: Option<String>,
    source: Option<String>,
    /// The words that were agreed to, where they are known.
    consent: Option<String>,
    /// How the address was shown to be the person's.
    consent_form: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsubscribe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_click: Option<String>,
}

impl Row {
    /// The row of a subscriber.
    pub fn of(subscriber: &Subscriber, unsubscribe_links: Option<UnsubscribeLinks>) -> Self {
        let time = |time: OffsetDateTime| time.format(&Rfc3339).ok();
        let consent = subscriber
            .consent
            .clone()
            .map(|consent| (consent.text, consent.form));
        let (consent, consent_form) = consent.unzip();
        let (unsubscribe, one_click) = unsubscribe_links.map(|ways| (ways.page, ways.one_click)).unzip();
        Self {
            email: subscriber.email.as_ref().map(|email| email.as_str().to_owned()),
            state: subscriber.state_name().to_owned(),
            requested: time(subscriber.requested),
            confirmed: subscriber.consented_at().and_then(time),
            ended: subscriber.unsubscribed_at().and_then(time),
            source: subscriber.source.clone(),
            consent,
            consent_form,
            unsubscribe,
            one_click,
        }
    }

    /// What stands under each of [`COLUMNS_WITH_LINKS`].
    fn cells(&self) -> [Cow<'_, str>; 10] {
        let plain = |cell: &'_ Option<String>| Cow::Owned(cell.clone().unwrap_or_default());
        let safe = |cell: &'_ Option<String>| {
            Cow::Owned(escape_formula(cell.as_deref().unwrap_or_default()).into_owned())
        };
        [
            safe(&self.email),
            escape_formula(&self.state),
            plain(&self.requested),
            plain(&self.confirmed),
            plain(&self.ended),
            safe(&self.source),
            safe(&self.consent),
            safe(&self.consent_form),
            plain(&self.unsubscribe),
            plain(&self.one_click),
        ]
    }
}

/// A table that is written row by row.
pub struct Table<W: Write> {
    writer: Writer<W>,
    columns: usize,
}

impl<W: Write> Table<W> {
    /// Writes the heading, of no more columns than a row has cells.
    ///
    /// # Errors
    ///
    /// If nobody takes it.
    pub fn begin(out: W, columns: &[&str]) -> anyhow::Result<Self> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        writer.write_record(columns)?;
        Ok(Self {
            writer,
            columns: columns.len(),
        })
    }

    /// Writes a row.
    ///
    /// # Errors
    ///
    /// If nobody takes it.
    pub fn write(&mut self, row: &Row) -> anyhow::Result<()> {
        let cells = row.cells();
        let cells = cells.iter().take(self.columns).map(|cell| &**cell);
        Ok(self.writer.write_record(cells)?)
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// If nobody takes what is left.
    pub fn end(mut self) -> anyhow::Result<()> {
        Ok(self.writer.flush()?)
    }
}

/// Escapes a cell against CSV (formula) injection: one that would be a formula gets an apostrophe before it, as does one
/// that begins with an apostrophe, so that [`unescape_formula`] can tell them apart.
pub fn escape_formula(cell: &str) -> Cow<'_, str> {
    if cell.starts_with(is_formula) || cell.starts_with('\'') {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

/// What [`escape_formula`] was given.
pub fn unescape_formula(cell: &str) -> &str {
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
            let written = escape_formula(cell);
            assert!(!written.starts_with(is_formula), "{cell}");
            assert_eq!(unescape_formula(&written), cell);
        }
        assert_eq!(escape_formula("asha@example.com"), "asha@example.com");
        assert_eq!(
            unescape_formula("'tis@example.com"),
            "'tis@example.com",
            "an apostrophe of one's own"
        );
    }
}
