//! Progress of long work, for whoever waits at a terminal: a line on stderr now and then. A job's log gets none. And stdout, whose
//! reader may be gone.

use std::{
    error::Error,
    fmt,
    io::{self, ErrorKind, IsTerminal as _, Write},
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use site_broker::{Messages, StreamReader};

const INTERVAL: Duration = Duration::from_secs(3);

/// Progress of work that has many parts.
pub struct Progress {
    what: String,
    total: Option<u64>,
    done: u64,
    /// When the last line was written; `None` where nobody sees one.
    told: Option<Instant>,
}

impl Progress {
    /// Begins work; how much of it there is, where that is known.
    pub fn new(what: impl Into<String>, total: Option<u64>) -> Self {
        Self {
            what: what.into(),
            total,
            done: 0,
            told: io::stderr().is_terminal().then(Instant::now),
        }
    }

    /// Counts what is done.
    pub fn inc(&mut self, more: u64) {
        if let Some(line) = self.inc_at(Instant::now(), more) {
            eprintln!("{line}");
        }
    }

    fn inc_at(&mut self, now: Instant, more: u64) -> Option<String> {
        self.done += more;
        if now - self.told? < INTERVAL {
            return None;
        }
        self.told = Some(now);
        let total = self.total.map(|total| format!(" of {total}")).unwrap_or_default();
        Some(format!("{}: {}{total}", self.what, self.done))
    }
}

/// Reads a stream to its end with progress. The end is as far as it was when the reader was opened.
pub fn read<'a>(messages: Messages<'a>, reader: &StreamReader) -> Messages<'a> {
    let info = reader.stream().cached_info();
    let what = format!("messages of stream {}", info.config.name);
    let mut progress = Progress::new(what, Some(info.state.messages));
    messages.inspect_ok(move |_| progress.inc(1)).boxed()
}

/// Stdout, which tells that its reader is gone.
pub struct Stdout(io::Stdout);

/// What a command writes to.
pub fn stdout() -> Stdout {
    Stdout(io::stdout())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
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
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>());
    causes.any(|error| error.get_ref().is_some_and(|inner| inner.is::<ReaderGone>()))
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn long_work_says_how_far_it_is_at_a_terminal_now_and_then() {
        let begun = Instant::now();
        let mut progress = Progress {
            told: Some(begun),
            ..Progress::new("objects", Some(10))
        };
        assert_eq!(progress.inc_at(begun + INTERVAL / 2, 1), None);
        let line = progress.inc_at(begun + INTERVAL, 2);
        assert_eq!(line.as_deref(), Some("objects: 3 of 10"));
        assert_eq!(progress.inc_at(begun + INTERVAL, 1), None);
        let mut in_a_job = Progress {
            told: None,
            ..progress
        };
        assert_eq!(in_a_job.inc_at(begun + 9 * INTERVAL, 1), None);
    }

    #[test]
    fn a_reader_who_is_gone_is_told_from_a_server_whose_connection_broke() {
        let broken = || io::Error::from(ErrorKind::BrokenPipe);
        let to_broker: anyhow::Error = broken().into();
        assert!(!is_reader_gone(&to_broker));
        assert!(!is_reader_gone(&of_stdout(ErrorKind::StorageFull.into()).into()));
        let by_lines = Err::<(), _>(of_stdout(broken())).context("not all was written");
        assert!(is_reader_gone(&by_lines.expect_err("no reader")));
    }
}
