//! Output of a command: sentences and tables for people, one JSON document for machines.

use std::{
    borrow::Cow,
    io::{self, BufWriter, ErrorKind, Write},
};

use csv::{Terminator, Writer, WriterBuilder};
use serde::Serialize;
use serde_json::Value;
use tabwriter::TabWriter;
use visitor::invisible::is_invisible;

/// How many rows have their columns aligned with each other: as many are held.
const ROWS_AT_ONCE: usize = 500;
/// What stands in an empty cell.
const NOTHING: &str = "-";

/// Where a command writes to. A reader who has seen enough, as `head` has, ends no command: what is left is dropped.
pub struct Stdout(io::Stdout);

/// What a command writes to.
pub fn stdout() -> BufWriter<Stdout> {
    BufWriter::new(Stdout(io::stdout()))
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Prints the document where JSON is asked for, else the lines.
///
/// # Errors
///
/// If the disk behind stdout is full.
pub fn print_output(
    json: bool,
    document: &Value,
    lines: impl IntoIterator<Item = String>,
) -> anyhow::Result<()> {
    let mut out = stdout();
    if json {
        writeln!(out, "{document}")?;
    } else {
        for line in lines {
            writeln!(out, "{}", printable(&line))?;
        }
    }
    Ok(out.flush()?)
}

/// A column of a table: its heading, and the name of what stands in it in the document of a row.
pub type Column = (&'static str, &'static str);

/// A table, as lines to print; no line where it has no row.
///
/// # Errors
///
/// If it cannot be written.
pub fn table(columns: &[Column], rows: &[Value]) -> anyhow::Result<Vec<String>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let mut written = Vec::new();
    let headings = columns.iter().map(|(heading, _)| (*heading).to_owned());
    let mut list = ListOutput::table(&mut written, headings.collect());
    for row in rows {
        list.item(row, || cells(columns, row))?;
    }
    list.end("")?;
    Ok(String::from_utf8(written)?.lines().map(str::to_owned).collect())
}

/// What stands in these columns of a row.
pub fn cells(columns: &[Column], row: &Value) -> Vec<String> {
    let cell = |name: &str| match &row[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    columns.iter().map(|(_, name)| cell(name)).collect()
}

/// A list of any length, which is printed as it is read: a table, CSV, or one JSON document with an array of the items.
pub struct ListOutput<W: Write = BufWriter<Stdout>> {
    form: Form<W>,
    items: usize,
}

enum Form<W: Write> {
    /// Rows under these headings.
    Table(TabWriter<W>, Vec<String>),
    Csv(Box<Writer<W>>),
    /// The array, by its name.
    Array(W, &'static str),
}

impl ListOutput {
    /// Prints to stdout; nothing before there is an item, so that a command that fails at once has said nothing.
    pub fn to_stdout<H: Into<String>>(
        json: bool,
        array: &'static str,
        headings: impl IntoIterator<Item = H>,
    ) -> Self {
        if json {
            return Self::of(Form::Array(stdout(), array));
        }
        Self::table(stdout(), headings.into_iter().map(Into::into).collect())
    }

    /// Prints CSV (RFC 4180) to stdout, which a spreadsheet may open safely; for machines the same array as the list.
    ///
    /// # Errors
    ///
    /// If the disk behind stdout is full.
    pub fn export_to_stdout(json: bool, array: &'static str, headings: &[&str]) -> anyhow::Result<Self> {
        if json {
            return Ok(Self::to_stdout(json, array, [""; 0]));
        }
        let mut csv = WriterBuilder::new();
        let mut csv = csv.terminator(Terminator::CRLF).from_writer(stdout());
        csv.write_record(headings).map_err(io::Error::from)?;
        Ok(Self::of(Form::Csv(Box::new(csv))))
    }
}

impl<W: Write> ListOutput<W> {
    fn of(form: Form<W>) -> Self {
        Self { form, items: 0 }
    }

    fn table(out: W, headings: Vec<String>) -> Self {
        Self::of(Form::Table(TabWriter::new(out), headings))
    }

    /// Prints one item: the document, or what stands under the headings.
    ///
    /// # Errors
    ///
    /// If the disk behind stdout is full.
    pub fn item(
        &mut self,
        document: &impl Serialize,
        cells: impl FnOnce() -> Vec<String>,
    ) -> anyhow::Result<()> {
        self.items += 1;
        match &mut self.form {
            Form::Table(out, headings) => {
                if self.items == 1 {
                    writeln!(out, "{}", row(headings))?;
                }
                writeln!(out, "{}", row(&cells()))?;
                if self.items.is_multiple_of(ROWS_AT_ONCE) {
                    out.flush()?;
                }
            }
            Form::Csv(csv) => {
                let cells = cells();
                let cells = cells.iter().map(|cell| escape_formula(cell).into_owned());
                csv.write_record(cells).map_err(io::Error::from)?;
            }
            Form::Array(out, array) => {
                if self.items == 1 {
                    write!(out, r#"{{"{array}":["#)?;
                } else {
                    write!(out, ",")?;
                }
                serde_json::to_writer(out, document).map_err(io::Error::from)?;
            }
        }
        Ok(())
    }

    /// Ends the list; where it is empty, with this line.
    ///
    /// # Errors
    ///
    /// If the disk behind stdout is full.
    pub fn end(self, line_if_empty: &str) -> anyhow::Result<()> {
        let is_empty = self.items == 0;
        let mut out = match self.form {
            Form::Table(mut out, _) => {
                if is_empty {
                    writeln!(out, "{line_if_empty}")?;
                }
                out.flush()?;
                let out = out.into_inner();
                out.map_err(|error| anyhow::anyhow!("{}", error.error()))?
            }
            Form::Csv(mut csv) => return Ok(csv.flush()?),
            Form::Array(mut out, array) => {
                if is_empty {
                    write!(out, r#"{{"{array}":["#)?;
                }
                writeln!(out, "]}}")?;
                out
            }
        };
        Ok(out.flush()?)
    }
}

/// Cells as one row.
fn row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    cells.join("\t")
}

/// What stands in a cell: one line, which does not end it.
fn cell(text: &str) -> String {
    let text = printable(text).replace(['\n', '\t'], " ");
    if text.is_empty() { NOTHING.to_owned() } else { text }
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

/// Other people's words as a terminal may show them: they neither steer it nor turn round what stands beside them.
pub fn printable(text: &str) -> String {
    let is_told = |c: &char| !is_invisible(*c);
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        _ if c.is_control() => ' ',
        _ => c,
    };
    text.chars().filter(is_told).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn printed(json: bool, items: &[[&str; 2]]) -> anyhow::Result<String> {
        let mut out = Vec::new();
        let headings = vec!["NAME".to_owned(), "WAITING".to_owned()];
        let mut list = if json {
            ListOutput::of(Form::Array(&mut out, "items"))
        } else {
            ListOutput::table(&mut out, headings)
        };
        for item in items {
            list.item(item, || item.map(str::to_owned).to_vec())?;
        }
        list.end("There are none.")?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn a_list_of_any_length_is_a_table_for_people_and_one_document_for_machines() -> anyhow::Result<()> {
        let items = [["crm", "1"], ["a longer one", "12"]];
        assert_eq!(
            printed(false, &items)?,
            "NAME          WAITING\ncrm           1\na longer one  12\n"
        );
        assert_eq!(printed(false, &[])?, "There are none.\n");
        assert_eq!(
            printed(true, &items)?,
            "{\"items\":[[\"crm\",\"1\"],[\"a longer one\",\"12\"]]}\n"
        );
        assert_eq!(printed(true, &items[..1])?, "{\"items\":[[\"crm\",\"1\"]]}\n");
        assert_eq!(printed(true, &[])?, "{\"items\":[]}\n");
        Ok(())
    }

    #[test]
    fn nothing_that_somebody_is_called_moves_another_column_or_steers_the_terminal() -> anyhow::Result<()> {
        let hostile = ["\u{202e}oaR\u{1b}[31m\ta\r\nb\u{9b}2J\u{2028}", ""];
        assert_eq!(
            printed(false, &[hostile, ["田中", "1"]])?,
            "NAME              WAITING\noaR [31m a  b 2J  -\n田中              1\n",
            "wide characters take two columns"
        );
        Ok(())
    }

    #[test]
    fn rows_are_written_before_the_last_is_read_under_one_line_of_headings() -> anyhow::Result<()> {
        let mut written = Vec::new();
        let mut list = ListOutput::table(&mut written, vec!["NUMBER".to_owned()]);
        for number in 0..ROWS_AT_ONCE {
            list.item(&(), || vec![number.to_string()])?;
        }
        // What is not flushed is lost with it.
        drop(list);
        assert_eq!(String::from_utf8(written)?.lines().count(), 1 + ROWS_AT_ONCE);
        let rows = [json!({ "a": 1, "b": null, "c": 3 })];
        let columns = [("A", "a"), ("B", "b")];
        assert_eq!(super::table(&columns, &rows)?, ["A   B", "1   -"]);
        assert!(super::table(&columns, &[])?.is_empty());
        Ok(())
    }

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
