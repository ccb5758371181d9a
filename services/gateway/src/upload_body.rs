//! The body of an upload: counted as it arrives, a piece at a time, and begun before it has a place.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;

use crate::{
    api_error::ApiError,
    pace::{Pace, Received},
};

/// Body of an upload.
pub struct UploadBody {
    body: Body,
    received: Received,
    /// What was read of it beforehand, in one piece: a list of pieces would take many times as much where each is a byte.
    beginning: Vec<u8>,
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

/// What arrives of an upload, by the pace that it must have.
pub struct Arrivals {
    pace: Pace,
    demand: Demand,
}

impl Arrivals {
    /// Of this body.
    pub fn new(body: &UploadBody, pace: Pace) -> Self {
        let demand = body.demand.clone();
        Self { pace, demand }
    }

    /// What has been read of it.
    pub fn received(&self) -> &Received {
        self.pace.received()
    }

    /// What the parser of the body makes of it.
    ///
    /// # Errors
    ///
    /// If the body does not come at its pace.
    pub async fn parse<T>(&mut self, parsing: impl Future<Output = T>) -> Result<T, ApiError> {
        self.pace.arriving(self.demand.feed(parsing)).await
    }
}

impl UploadBody {
    /// This body; none of it is read.
    pub fn new(body: Body) -> Self {
        Self {
            body,
            received: Received::default(),
            beginning: Vec::new(),
            demand: Demand::default(),
        }
    }

    /// What counts its bytes.
    pub fn received(&self) -> Received {
        self.received.clone()
    }

    /// Reads its beginning, at least so many bytes unless it has fewer.
    ///
    /// # Errors
    ///
    /// If it does not go on.
    pub async fn begin(&mut self, bytes: u64) -> Result<(), axum::Error> {
        while self.received.bytes() < bytes && self.read_on().await?.is_some() {}
        Ok(())
    }

    /// Reads one piece more beforehand, and says how many bytes that were; none at its end.
    ///
    /// # Errors
    ///
    /// If it does not go on.
    pub async fn read_on(&mut self) -> Result<Option<usize>, axum::Error> {
        let Some(frame) = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await else {
            return Ok(None);
        };
        let frame = frame?;
        let bytes = frame.data_ref().map_or(&[][..], AsRef::as_ref);
        self.received.add(bytes.len());
        self.beginning.extend_from_slice(bytes);
        Ok(Some(bytes.len()))
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
        let frame = if self.beginning.is_empty() {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
            if let Some(bytes) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
                self.received.add(bytes.len());
            }
            frame
        } else {
            let beginning = std::mem::take(&mut self.beginning);
            Some(Ok(Frame::data(beginning.into())))
        };
        self.demand.0.store(false, Ordering::Relaxed);
        Poll::Ready(frame)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, stream};
    use http_body_util::BodyExt;

    use super::*;

    fn body_of(pieces: usize) -> UploadBody {
        let pieces = (0..pieces).map(|n| Ok::<_, axum::Error>(vec![u8::try_from(n).unwrap_or(0); 100]));
        UploadBody::new(Body::from_stream(stream::iter(pieces)))
    }

    #[tokio::test]
    async fn what_was_read_beforehand_comes_first_and_is_counted_once() {
        let mut body = body_of(10);
        body.begin(250).await.expect("it goes on");
        let received = body.received();
        assert_eq!(received.bytes(), 300);
        let demand = body.demand.clone();
        let whole = demand.feed(body.collect()).await.expect("it goes on").to_bytes();
        assert_eq!((whole.len(), received.bytes()), (1000, 1000));
        assert!(whole.chunks(100).zip(0..).all(|(piece, n)| piece == [n; 100]));
    }

    #[tokio::test]
    async fn a_body_that_is_shorter_than_its_beginning_ends() {
        let mut body = body_of(2);
        body.begin(1000).await.expect("it goes on");
        let demand = body.demand.clone();
        let whole = demand.feed(body.collect()).await.expect("it goes on");
        assert_eq!(whole.to_bytes().len(), 200);
    }

    #[tokio::test]
    async fn who_asks_for_more_without_need_gets_none() {
        let mut body = body_of(3);
        let demand = body.demand.clone();
        for _ in 0..3 {
            assert!(body.frame().now_or_never().is_none());
            assert!(demand.feed(body.frame()).now_or_never().flatten().is_some());
        }
        assert!(
            demand
                .feed(body.frame())
                .now_or_never()
                .is_some_and(|end| end.is_none())
        );
    }
}
