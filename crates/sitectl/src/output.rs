//! Output of a command: sentences for people, one JSON document for machines.

use std::io::{Write, stdout};

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
