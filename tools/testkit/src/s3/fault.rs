//! What an S3 server can do wrong, and bodies on their way through it.

use std::time::Duration;

use futures_util::{Stream, stream};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame};
use s3s::Body;
use tokio::{sync::watch, time::timeout};
use tokio_util::sync::CancellationToken;

/// What an S3 server does wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum S3Fault {
    /// Nothing.
    #[default]
    None,
    /// What is asked is done, and nobody hears of it while this lasts.
    HoldAnswers,
    /// Contents come and go at this many bytes a second.
    Slow(u32),
    /// The connection ends once so many bytes of an upload have come.
    CutUploadAfter(usize),
    /// An upload is stored, and answered with 500.
    FailAfterStoring,
    /// Everything is answered with 503, and nothing is done.
    Unavailable,
}

impl S3Fault {
    /// How long so many bytes take.
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

/// The fault that holds now, and the connection that it may cut.
#[derive(Clone)]
pub(super) struct Impediment {
    pub(super) fault: watch::Receiver<S3Fault>,
    pub(super) cut: CancellationToken,
}

impl Impediment {
    pub(super) fn fault(&self) -> S3Fault {
        *self.fault.borrow()
    }

    /// Waits until answers are given. The sender is gone where nobody is left to answer.
    pub(super) async fn answers_are_given(&mut self) {
        let _released = self.fault.wait_for(|fault| *fault != S3Fault::HoldAnswers).await;
    }

    /// Waits as long as these bytes take, or until the fault is another.
    async fn transfer(&mut self, bytes: usize) {
        let fault = self.fault();
        if let Some(time) = fault.time_for(bytes) {
            let _changed = timeout(time, self.fault.wait_for(|now| *now != fault)).await;
        }
    }

    /// A body that a client sends.
    pub(super) fn upload(self, body: Body) -> Body {
        Body::http_body_unsync(StreamBody::new(self.frames(body, Direction::Up)))
    }

    /// A body that a client gets.
    pub(super) fn download(self, body: Body) -> Body {
        Body::http_body_unsync(StreamBody::new(self.frames(body, Direction::Down)))
    }

    fn frames(
        self,
        body: Body,
        direction: Direction,
    ) -> impl Stream<Item = Result<Frame<Bytes>, s3s::StdError>> {
        stream::unfold(
            (self, body, 0),
            move |(mut impediment, mut body, before)| async move {
                let frame = body.frame().await?;
                let bytes = frame
                    .as_ref()
                    .ok()
                    .and_then(Frame::data_ref)
                    .map_or(0, Bytes::len);
                impediment.transfer(bytes).await;
                if direction == Direction::Up && impediment.fault().cuts_after(before + bytes) {
                    impediment.cut.cancel();
                    // Nothing is answered: the connection goes down with whoever reads this.
                    std::future::pending::<()>().await;
                }
                Some((frame, (impediment, body, before + bytes)))
            },
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}
