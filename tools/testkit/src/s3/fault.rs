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

    /// Does to a part of a body what the fault says: so many bytes passed before it, and so many now.
    async fn impede(&mut self, before: usize, now: usize, is_upload: bool) {
        let fault = self.fault();
        match fault {
            S3Fault::Slow(per_second) => {
                let time = Duration::from_secs(1).mul_f64((now - before) as f64 / f64::from(per_second));
                let _changed = timeout(time, self.fault.wait_for(|now| *now != fault)).await;
            }
            S3Fault::CutUploadAfter(limit) if is_upload && now >= limit => {
                self.cut.cancel();
                // The connection ends, and with it the reader of this body.
                std::future::pending::<()>().await;
            }
            _ => {}
        }
    }

    /// A body on its way through the server; `is_upload` if the client sends it.
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
