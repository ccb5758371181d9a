//! Progress of long work, for whoever waits at a terminal: a line on stderr, which is gone when the work is done. Where stderr is no
//! terminal, as in a job, nothing is written.

use std::{
    error::Error,
    fmt,
    io::{self, ErrorKind, IsTerminal as _, Write},
    sync::LazyLock,
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use resumes::ResumeStore;
use site_broker::{Messages, StreamReader};

const COUNTED: &str = "{msg}: {pos} of {len}, {eta} left";
const BYTES: &str = "{msg}: {bytes} of {total_bytes}, {eta} left";
const COMPRESSED: &str = "{msg}, compressed: {bytes}; uncompressed it is {total_bytes}";
const SECONDS: &str = "{msg}: {pos} of at most {len} s";

/// What is being read: what is written meanwhile comes above it.
static READING: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

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

/// Begins to tell of work that goes through what was compressed of as many bytes: how much that is shows only at its end.
///
/// # Errors
///
/// If the line cannot be made.
pub fn compressed(what: impl Into<String>, uncompressed: u64) -> anyhow::Result<ProgressBar> {
    begin(COMPRESSED, what.into(), uncompressed)
}

/// Begins to tell of waiting that takes as many seconds at the most.
///
/// # Errors
///
/// If the line cannot be made.
pub fn seconds(what: impl Into<String>, at_most: u64) -> anyhow::Result<ProgressBar> {
    begin(SECONDS, what.into(), at_most)
}

/// Begins to tell of work that goes through the objects of a bucket, which are counted where somebody sees it.
///
/// # Errors
///
/// If the line cannot be made, or the bucket cannot be listed.
pub async fn objects(store: &ResumeStore) -> anyhow::Result<ProgressBar> {
    let progress = counted("objects", 0)?;
    if !progress.is_hidden() {
        let mut keys = store.keys();
        while let Some(page) = keys.next().await? {
            progress.inc_length(page.len() as u64);
        }
    }
    Ok(progress)
}

/// Tells of reading a stream to its end, which is as far as it was when the reader was opened.
pub fn read<'a>(messages: Messages<'a>, reader: &StreamReader) -> Messages<'a> {
    let info = reader.stream().cached_info();
    match counted(format!("stream {}", info.config.name), info.state.messages) {
        Ok(progress) => {
            let progress = READING.add(progress);
            messages.inspect_ok(move |_| progress.inc(1)).boxed()
        }
        // No reason not to read.
        Err(_) => messages,
    }
}

fn begin(template: &str, what: String, end: u64) -> anyhow::Result<ProgressBar> {
    let style = ProgressStyle::with_template(template)?;
    Ok(ProgressBar::new(end).with_style(style).with_message(what))
}

/// Stdout, which may be the terminal that progress is shown at.
pub struct Stdout {
    out: io::Stdout,
    is_terminal: bool,
}

/// What a command writes to.
pub fn stdout() -> Stdout {
    let out = io::stdout();
    Stdout {
        is_terminal: out.is_terminal(),
        out,
    }
}

impl Stdout {
    /// A line of progress is drawn anew for each write beside it, which a file has many of.
    fn beside_progress<T>(&mut self, write: impl FnOnce(&mut io::Stdout) -> T) -> T {
        if self.is_terminal {
            READING.suspend(|| write(&mut self.out))
        } else {
            write(&mut self.out)
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.beside_progress(|out| out.write(bytes)).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.beside_progress(Write::flush).map_err(of_stdout)
    }
}

/// Whoever read stdout has seen enough, as `head` has after its lines.
#[derive(Debug)]
struct ReaderGone;

impl fmt::Display for ReaderGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads stdout any more")
    }
}

impl Error for ReaderGone {}

/// Tells a reader who is gone from a server whose connection broke, which is an [`ErrorKind::BrokenPipe`], too.
fn of_stdout(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::BrokenPipe {
        io::Error::new(ErrorKind::BrokenPipe, ReaderGone)
    } else {
        error
    }
}

/// Whether a command ended because nobody reads what it writes to stdout any more, which is no fault.
pub fn is_reader_gone(error: &anyhow::Error) -> bool {
    let is_reader_gone = |error: &io::Error| error.get_ref().is_some_and(|inner| inner.is::<ReaderGone>());
    error.chain().filter_map(io_error).any(is_reader_gone)
}

/// That of a CSV table is in none's chain of sources.
fn io_error<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let of_table = || match cause.downcast_ref::<csv::Error>()?.kind() {
        csv::ErrorKind::Io(error) => Some(error),
        _ => None,
    };
    cause.downcast_ref().or_else(of_table)
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn a_reader_who_is_gone_is_told_from_a_server_whose_connection_broke() {
        let broken = || io::Error::from(ErrorKind::BrokenPipe);
        let to_broker: anyhow::Error = broken().into();
        assert!(!is_reader_gone(&to_broker));
        assert!(!is_reader_gone(&of_stdout(ErrorKind::StorageFull.into()).into()));
        let by_lines = Err::<(), _>(of_stdout(broken())).context("not all was written");
        let by_table = csv::Error::from(of_stdout(broken()));
        for error in [by_lines.expect_err("no reader"), by_table.into()] {
            assert!(is_reader_gone(&error), "{error:?}");
        }
    }
}
