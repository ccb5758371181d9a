//! Queue of an upload's parts. A call that failed before it received a part can be retried.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use futures_util::stream::{Stream, poll_fn};
use site_proto::careers::v1::ApplyRequest;
use tokio::sync::mpsc;

/// Bounds the memory of an upload.
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

    /// All queued and future parts. The previous call must have ended.
    pub fn stream(self: Arc<Self>) -> impl Stream<Item = ApplyRequest> + Send + 'static {
        poll_fn(move |context| {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            let part = parts.poll_recv(context);
            self.started.fetch_or(part.is_ready(), Ordering::Relaxed);
            part
        })
    }

    /// Whether no call has received a part yet.
    pub fn is_whole(&self) -> bool {
        !self.started.load(Ordering::Relaxed)
    }
}
