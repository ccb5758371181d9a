//! Output of a command: sentences and tables for people, one JSON document for machines.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Value;
use tabwriter::TabWriter;
use visitor::invisible::is_invisible;

use crate::progress::{Stdout, is_reader_gone, stdout};

/// How many rows have their columns aligned with each other: as many are held.
const ROWS_AT_ONCE: usize = 500;
/// What stands in an empty cell.
const NOTHING: &str = "-";

/// Prints the document where JSON is asked for, else the lines. That nobody reads them any more changes nothing of how the command
/// ends.
///
/// # Errors
///
/// If the disk behind stdout is full.
pub fn print_output(
    json: bool,
    document: &Value,
    lines: impl IntoIterator<Item = String>,
) -> anyhow::Result<()> {
    match print_whole(json, document, lines) {
        Err(error) if is_reader_gone(&error) => Ok(()),
        printed => printed,
    }
}

fn print_whole(json: bool, document: &Value, lines: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(stdout());
    if json {
        writeln!(out, "{document}")?;
    } else {
        for line in lines {
            writeln!(out, "{}", printable(&line))?;
        }
    }
    Ok(out.flush()?)
}

/// A table, as lines to print; no line where it has no row.
///
/// # Errors
///
/// If it cannot be written.
pub fn table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    let mut table = Table::new(&mut written, headings.map(str::to_owned).to_vec());
    for row in rows {
        table.row(&row)?;
    }
    table.end()?;
    Ok(String::from_utf8(written)?.lines().map(str::to_owned).collect())
}

/// A list of any length, which is printed as it is read: a table, or one JSON document with an array of the items.
pub struct ListOutput<W: Write = BufWriter<Stdout>> {
    form: Form<W>,
    is_empty: bool,
}

enum Form<W: Write> {
    Table(Table<W>),
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
        let headings = headings.into_iter().map(Into::into).collect();
        Self::to(BufWriter::new(stdout()), json, array, headings)
    }
}

impl<W: Write> ListOutput<W> {
    fn to(out: W, json: bool, array: &'static str, headings: Vec<String>) -> Self {
        let form = if json {
            Form::Array(out, array)
        } else {
            Form::Table(Table::new(out, headings))
        };
        Self { form, is_empty: true }
    }

    /// Prints one item: the document, or what stands under the headings.
    ///
    /// # Errors
    ///
    /// If nobody reads stdout any more, or the disk behind it is full.
    pub fn item(
        &mut self,
        document: &impl Serialize,
        cells: impl FnOnce() -> Vec<String>,
    ) -> anyhow::Result<()> {
        match &mut self.form {
            Form::Table(table) => table.row(&cells())?,
            Form::Array(out, array) => {
                if self.is_empty {
                    write!(out, r#"{{"{array}":["#)?;
                } else {
                    write!(out, ",")?;
                }
                serde_json::to_writer(out, document).map_err(io::Error::from)?;
            }
        }
        self.is_empty = false;
        Ok(())
    }

    /// Ends the list; where it is empty, with this line.
    ///
    /// # Errors
    ///
    /// If nobody reads stdout any more, or the disk behind it is full.
    pub fn end(self, line_if_empty: &str) -> anyhow::Result<()> {
        let mut out = match self.form {
            Form::Table(table) => {
                let mut out = table.end()?;
                if self.is_empty {
                    writeln!(out, "{line_if_empty}")?;
                }
                out
            }
            Form::Array(mut out, array) if self.is_empty => {
                writeln!(out, r#"{{"{array}":[]}}"#)?;
                out
            }
            Form::Array(mut out, _) => {
                writeln!(out, "]}}")?;
                out
            }
        };
        Ok(out.flush()?)
    }
}

/// Rows under headings, which stand above the first.
struct Table<W: Write> {
    out: TabWriter<W>,
    headings: Option<Vec<String>>,
    rows: usize,
}

impl<W: Write> Table<W> {
    fn new(out: W, headings: Vec<String>) -> Self {
        Self {
            out: TabWriter::new(out),
            headings: Some(headings),
            rows: 0,
        }
    }

    fn row(&mut self, cells: &[String]) -> anyhow::Result<()> {
        if let Some(headings) = self.headings.take() {
            self.write(&headings)?;
        }
        self.write(cells)?;
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_AT_ONCE) {
            self.out.flush()?;
        }
        Ok(())
    }

    fn write(&mut self, cells: &[String]) -> anyhow::Result<()> {
        let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
        Ok(writeln!(self.out, "{}", cells.join("\t"))?)
    }

    fn end(mut self) -> anyhow::Result<W> {
        self.out.flush()?;
        let out = self.out.into_inner();
        out.map_err(|error| anyhow::anyhow!("{}", error.error()))
    }
}

/// What stands in a cell: one line, which does not end it.
fn cell(text: &str) -> String {
    let text = printable(text).replace(['\n', '\t'], " ");
    if text.is_empty() { NOTHING.to_owned() } else { text }
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
    use super::*;

    fn printed(json: bool, items: &[[&str; 2]]) -> anyhow::Result<String> {
        let mut out = Vec::new();
        let headings = vec!["NAME".to_owned(), "WAITING".to_owned()];
        let mut list = ListOutput::to(&mut out, json, "items", headings);
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
        let mut table = Table::new(&mut written, vec!["NUMBER".to_owned()]);
        for number in 0..ROWS_AT_ONCE {
            table.row(&[number.to_string()])?;
        }
        // What is not flushed is lost with it.
        drop(table);
        assert_eq!(String::from_utf8(written)?.lines().count(), 1 + ROWS_AT_ONCE);
        assert_eq!(
            super::table(["A", "B"], [["1".to_owned(), "2".to_owned()]])?,
            ["A   B", "1   2"]
        );
        assert!(super::table::<2>(["A", "B"], [])?.is_empty());
        Ok(())
    }
}
