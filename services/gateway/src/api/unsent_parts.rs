//! Queue of an upload's parts. A failed call can be retried while every part is still in the queue.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use futures_util::stream::{Stream, poll_fn};
use site_proto::careers::v1::ApplyRequest;
use tokio::sync::mpsc;

/// Queued parts per upload, to bound its memory.
const CHANNEL_CAPACITY: usize = 4;

/// Receiver of the parts, for one call at a time.
pub struct UnsentParts {
    parts: Mutex<mpsc::Receiver<ApplyRequest>>,
    started: AtomicBool,
}

impl UnsentParts {
    pub fn channel() -> (mpsc::Sender<ApplyRequest>, Arc<Self>) {
        let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
        let (parts, started) = (Mutex::new(receiver), AtomicBool::default());
        (sender, Arc::new(Self { parts, started }))
    }

    /// Streams all queued and future parts. The stream of the previous call must have ended.
    pub fn stream(self: Arc<Self>) -> impl Stream<Item = ApplyRequest> + Send + 'static {
        poll_fn(move |context| {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            let part = parts.poll_recv(context);
            self.started.fetch_or(part.is_ready(), Ordering::Relaxed);
            part
        })
    }

    /// Whether every part is still in the queue.
    pub fn is_whole(&self) -> bool {
        !self.started.load(Ordering::Relaxed)
    }
}
