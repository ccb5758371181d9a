//! Progress of long work, for whoever waits at a terminal: a line on stderr, which is gone when the work is done. Where stderr is no
//! terminal, as in a job, nothing is written.

use std::{
    io::{self, IsTerminal as _, Write},
    sync::LazyLock,
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use resumes::ResumeStore;
use site_broker::{Messages, StreamReader};

const COUNTED: &str = "{msg}: {pos} of {len}, {eta} left";
const BYTES: &str = "{msg}: {bytes} of {total_bytes}, {eta} left";

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
        self.beside_progress(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.beside_progress(Write::flush)
    }
}
