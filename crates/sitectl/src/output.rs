//! Output of a command: sentences for people, one JSON document for machines.

use std::io::{BufWriter, Stdout, Write, stdout};

use serde::Serialize;
use serde_json::Value;

/// Prints the document where JSON is asked for, else the lines.
///
/// # Errors
///
/// If nobody reads stdout any more, or the disk behind it is full.
pub fn print_output(
    json: bool,
    document: &Value,
    lines: impl IntoIterator<Item = String>,
) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    if json {
        writeln!(out, "{document}")?;
    } else {
        for line in lines {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// A list of any length, which is printed as it is read: a line for each item, or one JSON document with an array of them.
pub struct ListOutput<W: Write = BufWriter<Stdout>> {
    out: W,
    /// The array's name, where JSON is asked for.
    array: Option<&'static str>,
    is_empty: bool,
}

impl ListOutput {
    /// Prints to stdout; nothing before there is an item, so that a command that fails at once has said nothing.
    pub fn to_stdout(json: bool, array: &'static str) -> Self {
        Self::to(BufWriter::new(stdout()), json, array)
    }
}

impl<W: Write> ListOutput<W> {
    fn to(out: W, json: bool, array: &'static str) -> Self {
        Self {
            out,
            array: json.then_some(array),
            is_empty: true,
        }
    }

    /// Prints one item.
    ///
    /// # Errors
    ///
    /// If nobody reads stdout any more, or the disk behind it is full.
    pub fn item(&mut self, document: &impl Serialize, line: impl FnOnce() -> String) -> anyhow::Result<()> {
        match self.array {
            Some(array) if self.is_empty => write!(self.out, r#"{{"{array}":["#)?,
            Some(_) => write!(self.out, ",")?,
            None => writeln!(self.out, "{}", line())?,
        }
        if self.array.is_some() {
            serde_json::to_writer(&mut self.out, document)?;
        }
        self.is_empty = false;
        Ok(())
    }

    /// Ends the list; where it is empty, with this line.
    ///
    /// # Errors
    ///
    /// If nobody reads stdout any more, or the disk behind it is full.
    pub fn end(mut self, line_if_empty: &str) -> anyhow::Result<()> {
        match self.array {
            Some(array) if self.is_empty => writeln!(self.out, r#"{{"{array}":[]}}"#)?,
            Some(_) => writeln!(self.out, "]}}")?,
            None if self.is_empty => writeln!(self.out, "{line_if_empty}")?,
            None => {}
        }
        Ok(self.out.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: bool, items: &[&str]) -> anyhow::Result<String> {
        let mut out = Vec::new();
        let mut list = ListOutput::to(&mut out, json, "items");
        for item in items {
            list.item(item, || (*item).to_owned())?;
        }
        list.end("There are none.")?;
        Ok(String::from_utf8(out)?)
    }

    #[test]
    fn a_list_of_any_length_is_lines_for_people_and_one_document_for_machines() -> anyhow::Result<()> {
        assert_eq!(printed(false, &["a", "b"])?, "a\nb\n");
        assert_eq!(printed(false, &[])?, "There are none.\n");
        assert_eq!(printed(true, &["a", "b"])?, "{\"items\":[\"a\",\"b\"]}\n");
        assert_eq!(printed(true, &["a"])?, "{\"items\":[\"a\"]}\n");
        assert_eq!(printed(true, &[])?, "{\"items\":[]}\n");
        Ok(())
    }
}
