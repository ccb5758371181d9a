//! Output of a command: sentences and tables for people, one JSON document for machines.

use std::io::{self, BufWriter, ErrorKind, Write};

use csv::{Terminator, Writer, WriterBuilder};
use serde::Serialize;
use serde_json::Value;
use tabwriter::TabWriter;
use visitor::invisible::is_invisible;

const EMPTY_CELL: &str = "-";

/// Stdout that ignores a closed pipe, such as that of `head`.
pub struct Stdout(io::Stdout);

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

/// Prints the document as JSON, or the lines.
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

/// Heading of a column, and its field in a row's document.
pub type Column = (&'static str, &'static str);

/// Lines of a table, or `line_if_empty`.
///
/// # Errors
///
/// If a cell cannot be formatted.
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

pub fn cells(columns: &[Column], row: &Value) -> Vec<String> {
    let cell = |name: &str| match &row[name] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    columns.iter().map(|(_, name)| cell(name)).collect()
}

/// Output of a list as a table, CSV or a JSON array. CSV and JSON are printed item by item.
pub struct ListOutput<W: Write = BufWriter<Stdout>> {
    form: Form<W>,
    items: usize,
}

enum Form<W: Write> {
    /// Table with its headings.
    Table(TabWriter<W>, Vec<String>),
    Csv(Box<Writer<W>>),
    /// JSON array, and the text before its next item.
    Array(W, String),
}

impl ListOutput {
    /// Prints a table or JSON to stdout. A command that fails before its first item prints nothing.
    pub fn to_stdout(json: bool, array: &str, headings: impl IntoIterator<Item = String>) -> Self {
        if json {
            return Self::array(stdout(), array);
        }
        Self::table(stdout(), headings.into_iter().collect())
    }

    /// Prints CSV (RFC 4180), safe in a spreadsheet, or JSON to stdout.
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

    /// Prints an item: its document, or its cells.
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

    /// Ends the list. An empty table prints `line_if_empty`.
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

fn row(cells: &[String]) -> String {
    let cells = cells.iter().map(|text| match &*printable(text) {
        "" => EMPTY_CELL.to_owned(),
        text => text.replace(['\n', '\t'], " "),
    });
    cells.collect::<Vec<_>>().join("\t")
}

/// Escapes a formula (CSV injection) with an apostrophe, and an apostrophe with another one.
pub fn escape_formula(mut cell: String) -> String {
    if cell.starts_with(begins_formula) {
        cell.insert(0, '\'');
    }
    cell
}

pub fn unescape_formula(cell: &str) -> &str {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(begins_formula) => rest,
        _ => cell,
    }
}

/// First characters that need the escape: of formulas, the escape itself, and those that spreadsheets drop.
fn begins_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '\'')
}

/// Text without control and invisible characters, which could steer a terminal or reverse its line.
pub fn printable(text: &str) -> String {
    let is_visible = |c: &char| !is_invisible(*c);
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        _ if c.is_control() => ' ',
        _ => c,
    };
    text.chars().filter(is_visible).map(shown).collect()
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
    fn a_list_prints_as_a_table_or_json() -> anyhow::Result<()> {
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
