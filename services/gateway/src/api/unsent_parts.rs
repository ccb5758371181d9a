//! The parts of an upload that wait to be sent: a call that ended before it took one of them can be made again.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use futures_util::stream::{Stream, poll_fn};
use site_proto::careers::v1::ApplyRequest;
use tokio::sync::mpsc;

/// Capacity of the bounded channel of parts (backpressure). Small: this is what bounds the memory.
const CHANNEL_CAPACITY: usize = 4;

/// The receiving end of an upload's parts, for one call after the other.
pub struct UnsentParts {
    parts: Mutex<mpsc::Receiver<ApplyRequest>>,
    begun: AtomicBool,
}

impl UnsentParts {
    /// A channel of parts.
    pub fn channel() -> (mpsc::Sender<ApplyRequest>, Arc<Self>) {
        let (sender, receiver) = mpsc::channel(CHANNEL_CAPACITY);
        let (parts, begun) = (Mutex::new(receiver), AtomicBool::default());
        (sender, Arc::new(Self { parts, begun }))
    }

    /// The parts that wait and will come, as the body of one call. The call before it must have ended.
    pub fn stream(self: Arc<Self>) -> impl Stream<Item = ApplyRequest> + Send + 'static {
        poll_fn(move |context| {
            let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
            let part = parts.poll_recv(context);
            self.begun.fetch_or(part.is_ready(), Ordering::Relaxed);
            part
        })
    }

    /// Whether no call has taken a part yet.
    pub fn is_whole(&self) -> bool {
        !self.begun.load(Ordering::Relaxed)
    }
}
