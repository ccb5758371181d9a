//! Faults of the S3 server.

use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use s3s::Body;
use tokio::{sync::watch, time::timeout};
use tokio_util::sync::CancellationToken;

/// Fault of the S3 server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum S3Fault {
    /// No fault.
    #[default]
    None,
    /// Requests are executed, but not answered until the fault is over.
    HoldAnswers,
    /// Each body passes at this many bytes a second.
    Slow(u32),
    /// Uploads are cut after this many bytes.
    CutUploadAfter(usize),
    /// Uploads are stored, but answered with 500.
    FailAfterStoring,
    /// Requests are answered with 503 and not executed.
    Unavailable,
}

#[derive(Clone)]
pub(super) struct Impediment {
    pub(super) fault: watch::Receiver<S3Fault>,
    pub(super) cut: CancellationToken,
}

impl Impediment {
    pub(super) fn fault(&self) -> S3Fault {
        *self.fault.borrow()
    }

    /// Waits until answers are no longer held, or the server is dropped.
    pub(super) async fn answers_are_given(&mut self) {
        let _released = self.fault.wait_for(|fault| *fault != S3Fault::HoldAnswers).await;
    }

    /// `before` and `now` are the bytes passed before and after this chunk.
    async fn impede(&mut self, before: usize, now: usize, is_upload: bool) {
        let fault = self.fault();
        match fault {
            S3Fault::Slow(per_second) => {
                let time = Duration::from_secs(1).mul_f64((now - before) as f64 / f64::from(per_second));
                let _changed = timeout(time, self.fault.wait_for(|now| *now != fault)).await;
            }
            S3Fault::CutUploadAfter(limit) if is_upload && now >= limit => {
                self.cut.cancel();
                // Cancelling the connection drops this future.
                std::future::pending::<()>().await;
            }
            _ => {}
        }
    }

    pub(super) fn body(self, body: Body, is_upload: bool) -> Body {
        let frames = stream::unfold(
            (self, body, 0),
            move |(mut impediment, mut body, before)| async move {
                let frame = body.frame().await?;
                let data = frame.as_ref().ok().and_then(Frame::data_ref);
                let now = before + data.map_or(0, Bytes::len);
                impediment.impede(before, now, is_upload).await;
                Some((frame, (impediment, body, now)))
            },
        );
        Body::http_body_unsync(StreamBody::new(frames))
    }
}
