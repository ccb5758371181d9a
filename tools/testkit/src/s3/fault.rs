//! Faults of the S3 server, and bodies that they delay or cut.

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
    /// Requests are carried out, and not answered while this lasts.
    HoldAnswers,
    /// Bodies pass at this many bytes a second.
    Slow(u32),
    /// The connection ends after this many bytes of an upload.
    CutUploadAfter(usize),
    /// Uploads are stored, and answered with 500.
    FailAfterStoring,
    /// Every request is answered with 503, and not carried out.
    Unavailable,
}

impl S3Fault {
    /// Time that this many bytes take.
    fn time_for(self, bytes: usize) -> Option<Duration> {
        match self {
            Self::Slow(per_second) => {
                Some(Duration::from_secs(1).mul_f64(bytes as f64 / f64::from(per_second.max(1))))
            }
            _ => None,
        }
    }

    fn cuts_after(self, bytes: usize) -> bool {
        matches!(self, Self::CutUploadAfter(limit) if bytes >= limit)
    }
}

/// The present fault, and the connection that it may cut.
#[derive(Clone)]
pub(super) struct Impediment {
    pub(super) fault: watch::Receiver<S3Fault>,
    pub(super) cut: CancellationToken,
}

impl Impediment {
    pub(super) fn fault(&self) -> S3Fault {
        *self.fault.borrow()
    }

    /// Waits until answers are sent. The sender is dropped with the server.
    pub(super) async fn answers_are_given(&mut self) {
        let _released = self.fault.wait_for(|fault| *fault != S3Fault::HoldAnswers).await;
    }

    /// Waits as long as these bytes take, or until the fault changes.
    async fn transfer(&mut self, bytes: usize) {
        let fault = self.fault();
        if let Some(time) = fault.time_for(bytes) {
            let _changed = timeout(time, self.fault.wait_for(|now| *now != fault)).await;
        }
    }

    /// A body on its way through the server; `is_upload` if the client sends it.
    pub(super) fn body(self, body: Body, is_upload: bool) -> Body {
        let frames = stream::unfold(
            (self, body, 0),
            move |(mut impediment, mut body, before)| async move {
                let frame = body.frame().await?;
                let data = frame.as_ref().ok().and_then(Frame::data_ref);
                let bytes = data.map_or(0, Bytes::len);
                impediment.transfer(bytes).await;
                if is_upload && impediment.fault().cuts_after(before + bytes) {
                    impediment.cut.cancel();
                    // The connection ends, and with it the reader of this body.
                    std::future::pending::<()>().await;
                }
                Some((frame, (impediment, body, before + bytes)))
            },
        );
        Body::http_body_unsync(StreamBody::new(frames))
    }
}
