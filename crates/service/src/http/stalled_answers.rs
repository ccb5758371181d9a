//! Stalled answers over HTTP/2: a stream whose client takes nothing of its answer is reset, and the others go on.
//!
//! A client that grants a stream no window does not hold up the socket, so that no deadline of the socket sees it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::{
    body::{Frame, SizeHint},
    rt::Executor,
};
use tokio::{task_local, time::sleep};

use super::activity::InFlight;

task_local! {
    /// The answer of the stream that this task serves.
    static PROGRESS: Arc<Progress>;
}

/// How much of its answer a client has taken.
#[derive(Debug, Default)]
struct Progress {
    frames: AtomicUsize,
    /// Not while the answer waits for us: for its handler, or the disk.
    waits_for_client: AtomicBool,
}

impl Progress {
    fn note(&self, is_frame: bool) {
        self.frames.fetch_add(usize::from(is_frame), Ordering::Relaxed);
        self.waits_for_client.store(is_frame, Ordering::Relaxed);
    }

    fn waiting_at(&self) -> Option<usize> {
        let waits = self.waits_for_client.load(Ordering::Relaxed);
        waits.then(|| self.frames.load(Ordering::Relaxed))
    }

    /// Waits until the client has taken nothing for so long, or up to twice.
    async fn stalls(&self, limit: Duration) {
        loop {
            let before = self.waiting_at();
            sleep(limit).await;
            if before.is_some() && before == self.waiting_at() {
                return;
            }
        }
    }
}

/// Spawns the streams of HTTP/2 connections, each until its answer is sent or stalls.
#[derive(Debug, Clone)]
pub(super) struct StreamExecutor {
    pub limit: Duration,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let limit = self.limit;
        let progress = Arc::<Progress>::default();
        tokio::spawn(async move {
            tokio::select! {
                _ = PROGRESS.scope(Arc::clone(&progress), stream) => {}
                // What is dropped here is reset (RFC 9113, 8.1).
                () = progress.stalls(limit) => tracing::debug!("a client takes nothing of its answer"),
            }
        });
    }
}

/// An answer's body, whose request is in flight until it is sent.
pub(super) struct Answer {
    body: Body,
    progress: Option<Arc<Progress>>,
    _in_flight: InFlight,
}

impl Answer {
    /// The answer of the stream that the current task serves, or over HTTP/1.1 of the connection.
    pub fn new(body: Body, in_flight: InFlight) -> Self {
        Self {
            body,
            progress: PROGRESS.try_with(Arc::clone).ok(),
            _in_flight: in_flight,
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Some(progress) = &self.progress {
            progress.note(frame.is_ready());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
