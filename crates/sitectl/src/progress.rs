//! Progress of long work, for whoever waits at a terminal: a line on stderr, which is gone when the work is done. Where stderr is no
//! terminal, as in a job, nothing is written.

use indicatif::{ProgressBar, ProgressStyle};

const COUNTED: &str = "{msg}: {pos} of {len}, {eta} left";
const BYTES: &str = "{msg}: {bytes} of {total_bytes}, {eta} left";

/// Begins to tell of work that has as many parts.
///
/// # Errors
///
/// If the line cannot be made.
pub fn counted(what: impl Into<String>, parts: u64) -> anyhow::Result<ProgressBar> {
    begin(COUNTED, what.into(), parts)
}

/// Begins to tell of work that goes through as many bytes.
///
/// # Errors
///
/// If the line cannot be made.
pub fn bytes(what: impl Into<String>, bytes: u64) -> anyhow::Result<ProgressBar> {
    begin(BYTES, what.into(), bytes)
}

fn begin(template: &str, what: String, end: u64) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template(template)?;
    Ok(ProgressBar::new(end).with_style(style).with_message(what))
}
