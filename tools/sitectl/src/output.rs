//! Output of a command: sentences and tables for people, one JSON document for machines.

use std::io::{self, BufWriter, ErrorKind, Write};

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

/// A table, as lines to print; where it has no row, this line.
///
/// # Errors
///
/// If it cannot be written.
pub fn table(columns: &[Column], rows: &[Value], line_if_empty: &str) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    let headings = columns.iter().map(|(heading, _)| (*heading).to_owned());
    let mut list = ListOutput::table(&mut written, headings.collect());
    for row in rows {
        list.item(row, || cells(columns, row))?;
    }
    list.end(line_if_empty)?;
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
    /// The array, and what stands before its next item.
    Array(W, String),
}

impl ListOutput {
    /// Prints to stdout; nothing before there is an item, so that a command that fails at once has said nothing.
    pub fn to_stdout(json: bool, array: &str, headings: impl IntoIterator<Item = String>) -> Self {
        if json {
            return Self::array(stdout(), array);
        }
        Self::table(stdout(), headings.into_iter().collect())
    }

    /// Prints CSV (RFC 4180) to stdout, which a spreadsheet may open safely; for machines the same array as the list.
    ///
    /// # Errors
    ///
    /// If the disk behind stdout is full.
    pub fn export_to_stdout(json: bool, array: &str, headings: &[&str]) -> anyhow::Result<Self> {
        if json {
            return Ok(Self::array(stdout(), array));
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

    fn array(out: W, name: &str) -> Self {
        Self::of(Form::Array(out, format!(r#"{{"{name}":["#)))
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
                let cells = cells().into_iter().map(escape_formula);
                csv.write_record(cells).map_err(io::Error::from)?;
            }
            Form::Array(out, before) => {
                write!(out, "{before}")?;
                ",".clone_into(before);
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
            Form::Array(mut out, before) => {
                let before = if is_empty { &*before } else { "" };
                writeln!(out, "{before}]}}")?;
                out
            }
        };
        Ok(out.flush()?)
    }
}

/// Cells as one row; each is one line, which does not end it.
fn row(cells: &[String]) -> String {
    let cells = cells.iter().map(|text| match &*printable(text) {
        "" => NOTHING.to_owned(),
        text => text.replace(['\n', '\t'], " "),
    });
    cells.collect::<Vec<_>>().join("\t")
}

/// Escapes a cell against CSV (formula) injection: one that would be a formula gets an apostrophe before it, as does one
/// that begins with an apostrophe, so that [`unescape_formula`] can tell them apart.
pub fn escape_formula(mut cell: String) -> String {
    if cell.starts_with(is_formula) {
        cell.insert(0, '\'');
    }
    cell
}

/// What [`escape_formula`] was given.
pub fn unescape_formula(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(is_formula) => rest,
        _ => cell,
    }
}

/// What begins a formula, what spreadsheets drop before they look for one, and what escapes it.
fn is_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '\'')
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
            ListOutput::array(&mut out, "items")
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
    fn a_list_is_a_table_for_people_and_one_document_for_machines() -> anyhow::Result<()> {
        let items = [["crm", "1"], ["a longer one", "12"]];
        let table = "NAME          WAITING\ncrm           1\na longer one  12\n";
        assert_eq!(printed(false, &items)?, table);
        assert_eq!(printed(false, &[])?, "There are none.\n");
        assert_eq!(
            printed(true, &items)?,
            "{\"items\":[[\"crm\",\"1\"],[\"a longer one\",\"12\"]]}\n"
        );
        assert_eq!(printed(true, &[])?, "{\"items\":[]}\n");

        // No name moves another column or steers the terminal. Wide characters take two columns.
        let hostile = ["\u{202e}oaR\u{1b}[31m\ta\r\nb\u{9b}2J\u{2028}", ""];
        let table = "NAME              WAITING\noaR [31m a  b 2J  -\n田中              1\n";
        assert_eq!(printed(false, &[hostile, ["田中", "1"]])?, table);

        let rows = [json!({ "a": 1, "b": null, "c": 3 })];
        let columns = [("A", "a"), ("B", "b")];
        assert_eq!(super::table(&columns, &rows, "None.")?, ["A   B", "1   -"]);
        assert_eq!(super::table(&columns, &[], "None.")?, ["None."]);
        Ok(())
    }

    #[test]
    fn rows_are_written_before_the_last_is_read() -> anyhow::Result<()> {
        let mut written = Vec::new();
        let mut list = ListOutput::table(&mut written, vec!["NUMBER".to_owned()]);
        for number in 0..ROWS_AT_ONCE {
            list.item(&(), || vec![number.to_string()])?;
        }
        // Rows that are not flushed are lost with it.
        drop(list);
        assert_eq!(String::from_utf8(written)?.lines().count(), 1 + ROWS_AT_ONCE);
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
            let written = escape_formula(cell.to_owned());
            assert!(!written.starts_with(['=', '+', '-', '@', '\t']), "{cell}");
            assert_eq!(unescape_formula(&written), cell);
        }
        for own in ["asha@example.com", "'tis@example.com"] {
            assert_eq!(unescape_formula(own), own);
        }
        assert_eq!(escape_formula("asha@example.com".to_owned()), "asha@example.com");
    }
}
