//! Log lines: each event of `tracing` as one flat JSON object on stdout, written by a thread of its own.
//!
//! Nobody who logs waits for stdout, unless for a warning: where it is read too slowly, lines below `WARN` are dropped, counted, and
//! spoken of in the log once it is read again. Graver ones wait for room.

use std::{
    fmt::Debug,
    io::{self, Write},
    iter,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use serde::Serialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{Layer, layer::Context};

use crate::trace;

/// How many lines may wait to be written, and of those below `WARN` how many bytes, with what stdout is about to take: a server's
/// words may be long.
const QUEUED_LINES: usize = 4096;
const QUEUED_BYTES: usize = 4 * 1024 * 1024;
/// What the thread keeps for its next batch.
const BATCH_BYTES: usize = 64 * 1024;
/// What is logged within such a time is written at once, instead of waking the thread for each line.
const GATHERING_TIME: Duration = Duration::from_millis(10);
/// How long the end waits for lines that stdout does not take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Room for a usual line.
const LINE_BYTES: usize = 512;

enum Queued {
    Line(Vec<u8>),
    /// All before it is written once this is dropped.
    Flush(SyncSender<()>),
}

/// Layer that writes a line for each event. All its clones write to the same.
#[derive(Clone)]
pub struct LogLines {
    queue: SyncSender<Queued>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl Counts {
    fn drop_lines(&self, lines: u64) {
        self.dropped.fetch_add(lines, Ordering::Relaxed);
    }
}

impl LogLines {
    /// Lines that are written there.
    ///
    /// # Errors
    ///
    /// If the system has no thread for it.
    pub fn to(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, queued) = sync_channel(QUEUED_LINES);
        let counts = Arc::<Counts>::default();
        let lines = Self {
            queue,
            counts: Arc::clone(&counts),
        };
        thread::Builder::new()
            .name("log-lines".to_owned())
            .spawn(move || write_queued(&queued, &counts, out))?;
        Ok(lines)
    }

    /// How many lines were dropped.
    pub fn dropped(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }

    /// Waits until all that was logged is written, or stdout has not taken it for a second.
    pub fn flush(&self) {
        let deadline = Instant::now() + FLUSH_TIMEOUT;
        let (done, flushed) = sync_channel(0);
        let mut flush = Queued::Flush(done);
        while let Err(TrySendError::Full(unsent)) = self.queue.try_send(flush) {
            if Instant::now() > deadline {
                return;
            }
            flush = unsent;
            thread::park_timeout(GATHERING_TIME);
        }
        // The other side never sends: it is dropped.
        let _dropped = flushed.recv_timeout(FLUSH_TIMEOUT);
    }

    fn queue(&self, level: Level, line: Vec<u8>) {
        let bytes = line.len();
        let before = self.counts.queued_bytes.fetch_add(bytes, Ordering::Relaxed);
        let line = Queued::Line(line);
        let is_queued = if level <= Level::WARN {
            self.queue.send(line).is_ok()
        } else {
            before + bytes <= QUEUED_BYTES && self.queue.try_send(line).is_ok()
        };
        if !is_queued {
            self.counts.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.counts.drop_lines(1);
        }
    }
}

impl<S: Subscriber> Layer<S> for LogLines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        if let Ok(line) = line(event) {
            self.queue(*event.metadata().level(), line);
        }
    }
}

/// What fails cannot be written down as JSON, of which we log none.
fn line(event: &Event<'_>) -> serde_json::Result<Vec<u8>> {
    let metadata = event.metadata();
    line_of(*metadata.level(), metadata.target(), |fields| {
        event.record(fields);
        trace::with_log_fields(|name, value| {
            if metadata.fields().field(name).is_none() {
                fields.add(name, value);
            }
        });
    })
}

/// Says that lines are missing, to whoever reads the log and no metrics.
fn line_of_dropped(lines: u64) -> serde_json::Result<Vec<u8>> {
    line_of(Level::WARN, module_path!(), |fields| {
        fields.add("message", "lines were dropped, as the log did not take them");
        fields.add("lines", lines);
    })
}

fn line_of(level: Level, target: &str, add: impl FnOnce(&mut Fields<'_>)) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(LINE_BYTES);
    line.extend_from_slice(b"{\"timestamp\":\"");
    // A line without its time is still a line.
    let _bytes = OffsetDateTime::now_utc().format_into(&mut line, &Rfc3339);
    line.push(b'"');
    let mut fields = Fields {
        line: &mut line,
        failed: Ok(()),
    };
    fields.add("level", level.as_str());
    fields.add("target", target);
    add(&mut fields);
    fields.failed?;
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// The fields of a line after its first.
struct Fields<'a> {
    line: &'a mut Vec<u8>,
    failed: serde_json::Result<()>,
}

impl Fields<'_> {
    /// Adds one. Names are those of our code, in which nothing has to be escaped.
    fn add(&mut self, name: &str, value: impl Serialize) {
        self.line.extend_from_slice(b",\"");
        self.line.extend_from_slice(name.as_bytes());
        self.line.extend_from_slice(b"\":");
        if let Err(error) = serde_json::to_writer(&mut *self.line, &value) {
            self.failed = Err(error);
        }
    }
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field.name(), format_args!("{value:?}"));
    }
}

/// Writes what is queued until nobody can queue any more. What stdout refuses is lost, and counted.
fn write_queued(queued: &Receiver<Queued>, counts: &Counts, mut out: impl Write) {
    let (mut batch, mut told) = (Vec::new(), 0);
    while let Ok(first) = queued.recv() {
        thread::park_timeout(GATHERING_TIME);
        let (mut lines, mut bytes, mut flushed) = (0, 0, Vec::new());
        for queued in iter::once(first).chain(queued.try_iter().take(QUEUED_LINES)) {
            match queued {
                Queued::Line(line) => {
                    batch.extend_from_slice(&line);
                    lines += 1;
                    bytes += line.len();
                }
                Queued::Flush(done) => flushed.push(done),
            }
        }
        let dropped = counts.dropped.load(Ordering::Relaxed);
        if dropped > told {
            batch.extend(line_of_dropped(dropped - told).unwrap_or_default());
        }
        let written = out.write_all(&batch).and_then(|()| out.flush());
        counts.queued_bytes.fetch_sub(bytes, Ordering::Relaxed);
        batch.clear();
        batch.shrink_to(BATCH_BYTES);
        if written.is_ok() {
            told = dropped;
        } else {
            counts.drop_lines(lines);
            // The last of them may have got no further than its middle.
            batch.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex, PoisonError};

    use opentelemetry::KeyValue;
    use serde_json::{Value, json};
    use tracing::{info, warn};
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::trace::{LogFields, Span};

    /// What was written, once it is read.
    #[derive(Clone, Default)]
    struct Pipe(Arc<(Mutex<PipeState>, Condvar)>);

    #[derive(Default)]
    struct PipeState {
        written: Vec<u8>,
        is_read: bool,
    }

    impl Pipe {
        fn read(&self) {
            let (state, is_read) = &*self.0;
            state.lock().unwrap_or_else(PoisonError::into_inner).is_read = true;
            is_read.notify_all();
        }

        fn text(&self) -> String {
            let state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
            String::from_utf8(state.written.clone()).expect("text")
        }

        fn lines(&self) -> Vec<Value> {
            self.text().lines().map(value).collect()
        }
    }

    fn value(line: &str) -> Value {
        serde_json::from_str(line).expect("JSON")
    }

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (state, is_read) = &*self.0;
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let mut state = is_read
                .wait_while(state, |state| !state.is_read)
                .unwrap_or_else(PoisonError::into_inner);
            state.written.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_is_flat_and_carries_what_its_request_is_known_by() {
        let pipe = Pipe::default();
        pipe.read();
        let lines = LogLines::to(pipe.clone()).expect("a thread");
        let subscriber = tracing_subscriber::registry().with(lines.clone());
        tracing::subscriber::with_default(subscriber, || {
            let fields = [
                KeyValue::new("request_id", "visit-0001"),
                KeyValue::new("attempt", 2),
            ];
            let _within = Span::ids(LogFields::from(fields.to_vec())).enter();
            info!(duration_ms = 1.5, http.route = "/api/contact", "answered");
            warn!(attempt = 7, "its own word counts");
        });
        lines.flush();
        let written = pipe.lines();
        assert_eq!(written[0]["duration_ms"], 1.5);
        assert_eq!(written[0]["http.route"], "/api/contact");
        assert_eq!(written[0]["message"], "answered");
        assert_eq!(written[0]["level"], "INFO");
        assert_eq!(written[0]["request_id"], "visit-0001");
        assert_eq!(written[0]["attempt"], 2);
        assert_eq!(written[1]["attempt"], 7);
        assert_eq!(lines.dropped(), 0);
    }

    #[test]
    fn long_lines_that_nobody_reads_do_not_fill_the_memory() {
        let lines = LogLines::to(Pipe::default()).expect("a thread");
        let long = vec![b'a'; QUEUED_BYTES / 10];
        for _ in 0..100 {
            lines.queue(Level::INFO, long.clone());
            thread::park_timeout(GATHERING_TIME / 5);
        }
        assert_eq!(lines.dropped(), 100 - 10);
    }

    #[test]
    fn what_stdout_refuses_is_counted_and_what_comes_after_it_is_a_line_of_its_own() {
        /// Breaks off in the middle of its first line.
        struct Breaking(Pipe, usize);

        impl Write for Breaking {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 += 1;
                match self.1 {
                    1 => self.0.write(&bytes[..3]),
                    2 => Err(io::Error::other("the disk is full")),
                    _ => self.0.write(bytes),
                }
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let pipe = Pipe::default();
        pipe.read();
        let lines = LogLines::to(Breaking(pipe.clone(), 0)).expect("a thread");
        lines.queue(Level::INFO, b"{\"n\":1}\n".to_vec());
        lines.flush();
        assert_eq!(lines.dropped(), 1);
        lines.queue(Level::INFO, b"{\"n\":2}\n".to_vec());
        lines.flush();
        let text = pipe.text();
        let whole = text.strip_prefix("{\"n\n").expect("what was begun");
        let [second, told] = whole
            .lines()
            .map(value)
            .collect::<Vec<_>>()
            .try_into()
            .expect("two lines");
        assert_eq!((&second["n"], &told["lines"]), (&json!(2), &json!(1)));
    }

    #[test]
    fn where_nobody_reads_what_is_no_warning_is_dropped_and_told_of_and_a_warning_waits() {
        const LINES: usize = QUEUED_LINES + 100;
        let pipe = Pipe::default();
        let lines = LogLines::to(pipe.clone()).expect("a thread");
        // At the second time the thread has taken what it takes at once, and is held up by the pipe.
        for _ in 0..2 {
            for _ in 0..LINES {
                lines.queue(Level::INFO, b"{\"level\":\"INFO\"}\n".to_vec());
            }
            thread::park_timeout(10 * GATHERING_TIME);
        }
        let dropped = lines.dropped();
        assert!((1..2 * LINES as u64).contains(&dropped), "{dropped}");
        let warning = {
            let lines = lines.clone();
            thread::spawn(move || lines.queue(Level::WARN, b"{\"level\":\"WARN\"}\n".to_vec()))
        };
        thread::park_timeout(3 * GATHERING_TIME);
        assert!(!warning.is_finished(), "it was dropped");
        pipe.read();
        warning.join().expect("it is queued");
        lines.flush();
        let written = pipe.lines();
        let told: Vec<u64> = written.iter().filter_map(|line| line["lines"].as_u64()).collect();
        assert_eq!(told.iter().sum::<u64>(), dropped);
        let warnings = written.iter().filter(|line| line["level"] == "WARN");
        assert_eq!(warnings.count(), told.len() + 1);
        assert_eq!(
            (written.len() - told.len()) as u64 + dropped,
            (2 * LINES + 1) as u64
        );
        assert_eq!(lines.dropped(), dropped);
    }
}
