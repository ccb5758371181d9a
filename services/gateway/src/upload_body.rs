//! The body of an upload: counted as it arrives, and given to its parser a piece at a time.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use tokio::{sync::Notify, time::Instant};

/// How an upload comes. Only the time counts in which its visitor is waited for, not a slow service's.
#[derive(Debug, Default)]
pub struct Progress {
    counted: Mutex<Counted>,
    begun: Notify,
}

#[derive(Debug, Default)]
struct Counted {
    bytes: u64,
    waited: Duration,
    waits_since: Option<Instant>,
    is_whole: bool,
}

impl Progress {
    /// Waits until something arrives.
    pub async fn begun(&self) {
        self.begun.notified().await;
    }

    /// How much has arrived.
    pub fn bytes(&self) -> u64 {
        self.counted().bytes
    }

    /// Whether all has arrived.
    pub fn is_whole(&self) -> bool {
        self.counted().is_whole
    }

    /// How long its visitor was waited for.
    pub fn waited(&self) -> Duration {
        let counted = self.counted();
        counted.waited
            + counted
                .waits_since
                .map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Bytes a second.
    pub fn rate(&self) -> f64 {
        self.bytes() as f64 / self.waited().as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// The visitor is waited for.
    pub(crate) fn waits(&self) {
        self.counted().waits_since.get_or_insert_with(Instant::now);
    }

    /// So much came.
    pub(crate) fn came(&self, bytes: usize) {
        let mut counted = self.counted();
        let since = counted.waits_since.take();
        counted.waited += since.map_or(Duration::ZERO, |since| since.elapsed());
        counted.bytes += bytes as u64;
        self.begun.notify_one();
    }

    /// All has arrived.
    pub fn end(&self) {
        self.counted().is_whole = true;
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Body of an upload.
pub struct UploadBody {
    body: Body,
    progress: Arc<Progress>,
    demand: Demand,
}

/// Whether the parser of a body cannot go on with what it holds.
#[derive(Clone, Default)]
struct Demand(Arc<AtomicBool>);

impl Demand {
    /// Runs the parser, and lets it have one piece of the body more each time it cannot go on.
    async fn feed<T>(&self, parsing: impl Future<Output = T>) -> T {
        let mut parsing = pin!(parsing);
        poll_fn(|context| {
            if let Poll::Ready(parsed) = parsing.as_mut().poll(context) {
                return Poll::Ready(parsed);
            }
            if self.0.swap(true, Ordering::Relaxed) {
                return Poll::Pending;
            }
            let parsed = parsing.as_mut().poll(context);
            if parsed.is_pending() && !self.0.load(Ordering::Relaxed) {
                // It took the piece, and others have their turn before the next one.
                context.waker().wake_by_ref();
            }
            parsed
        })
        .await
    }
}

/// What arrives of an upload.
pub struct Arrivals {
    progress: Arc<Progress>,
    demand: Demand,
}

impl Arrivals {
    /// How much has been read of it.
    pub fn bytes(&self) -> u64 {
        self.progress.bytes()
    }

    /// What the parser of the body makes of it.
    pub async fn parse<T>(&self, parsing: impl Future<Output = T>) -> T {
        self.demand.feed(parsing).await
    }
}

impl UploadBody {
    /// This body, of which none is read, and what arrives of it.
    pub fn new(body: Body, progress: Arc<Progress>) -> (Self, Arrivals) {
        let demand = Demand::default();
        let arrivals = Arrivals {
            progress: Arc::clone(&progress),
            demand: demand.clone(),
        };
        let body = Self {
            body,
            progress,
            demand,
        };
        (body, arrivals)
    }
}

impl HttpBody for UploadBody {
    type Data = Bytes;
    type Error = axum::Error;

    /// The parser of multipart bodies reads on whenever it is asked for anything, also for what it holds already: so it is given a
    /// piece where it cannot go on without, or many small parts would have it hold much of what comes behind them.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.demand.0.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_pending() {
            self.progress.waits();
        }
        let frame = ready!(polled);
        let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        self.progress.came(bytes.map_or(0, Bytes::len));
        self.demand.0.store(false, Ordering::Relaxed);
        Poll::Ready(frame)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, stream};
    use http_body_util::BodyExt;
    use tokio::time::sleep;

    use super::*;

    fn body_of(pieces: usize) -> (UploadBody, Arrivals) {
        let pieces = (0..pieces).map(|_| Ok::<_, axum::Error>(vec![0; 100]));
        UploadBody::new(Body::from_stream(stream::iter(pieces)), Arc::default())
    }

    #[tokio::test]
    async fn who_asks_for_more_without_need_gets_none() {
        let (mut body, arrivals) = body_of(3);
        for _ in 0..3 {
            assert!(body.frame().now_or_never().is_none());
            assert!(arrivals.parse(body.frame()).now_or_never().flatten().is_some());
        }
        assert!(
            arrivals
                .parse(body.frame())
                .now_or_never()
                .is_some_and(|end| end.is_none())
        );
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_nothing_is_read_does_not_count() {
        const SECOND: Duration = Duration::from_secs(1);
        let pieces = stream::unfold(0, |sent| async move {
            sleep(SECOND).await;
            (sent < 3).then_some((Ok::<_, axum::Error>(vec![0; 1000]), sent + 1))
        });
        let (mut body, arrivals) = UploadBody::new(Body::from_stream(pieces), Arc::default());
        let progress = Arc::clone(&arrivals.progress);
        while let Some(piece) = arrivals.parse(body.frame()).await {
            piece.expect("a piece");
            // A service that takes its time.
            sleep(60 * SECOND).await;
        }
        assert_eq!((progress.bytes(), progress.waited()), (3000, 4 * SECOND));
    }
}
