//! The body of an upload, given to its parser piece by piece.

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use axum::{
    body::{Body, BodyDataStream, Bytes},
    extract::{FromRequest, Multipart, Request, multipart::MultipartError},
};
use futures_util::{FutureExt, StreamExt, stream};
use http::StatusCode;

use crate::{api_error::ApiError, uploads::Upload};

/// The most bytes that the parser may hold before it yields something: of a browser's head of a part, a few hundred.
const MAX_HELD_BYTES: usize = 64 * 1024;

/// What the parser reads next: a piece, or the end.
type Next = Option<Option<Result<Bytes, axum::Error>>>;

/// The pieces of an upload that have not arrived yet.
pub struct Arrivals {
    body: BodyDataStream,
    next: Arc<Mutex<Next>>,
    is_whole: bool,
    upload: Arc<Upload>,
}

impl Arrivals {
    /// The form of this request, of which nothing is read yet, and its pieces.
    ///
    /// # Errors
    ///
    /// If it is no multipart form.
    pub async fn begin(request: Request, upload: Arc<Upload>) -> Result<(Multipart, Self), ApiError> {
        let (parts, body) = request.into_parts();
        let next = Arc::<Mutex<Next>>::default();
        let pieces = Arc::clone(&next);
        let pieces = stream::poll_fn(move |_| lock(&pieces).take().map_or(Poll::Pending, Poll::Ready));
        let form = Multipart::from_request(Request::from_parts(parts, Body::from_stream(pieces)), &()).await;
        let arrivals = Self {
            body: body.into_data_stream(),
            next,
            is_whole: false,
            upload,
        };
        Ok((form.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))?, arrivals))
    }

    /// What the parser yields. It is given a piece only where it cannot go on without one, because it holds all that it can read.
    ///
    /// # Errors
    ///
    /// If the form cannot be read.
    pub async fn parse<T>(
        &mut self,
        parsing: impl Future<Output = Result<T, MultipartError>>,
    ) -> Result<T, ApiError> {
        let mut parsing = pin!(parsing);
        let mut held_bytes = 0;
        loop {
            if let Some(parsed) = parsing.as_mut().now_or_never() {
                return parsed.map_err(unreadable);
            }
            if self.is_whole || held_bytes > MAX_HELD_BYTES {
                return Err(ApiError::of(StatusCode::BAD_REQUEST));
            }
            let piece = self.body.next().await;
            let bytes = piece.as_ref().map(|piece| piece.as_ref().map_or(0, Bytes::len));
            self.is_whole = bytes.is_none();
            held_bytes += bytes.unwrap_or_default();
            self.upload.arrived(bytes.unwrap_or_default());
            *lock(&self.next) = Some(piece);
        }
    }
}

/// A body that breaks off or is framed wrongly is the sender's mistake, whatever the parser calls it.
fn unreadable(error: MultipartError) -> ApiError {
    let status = error.status();
    ApiError::of(if status.is_server_error() {
        StatusCode::BAD_REQUEST
    } else {
        status
    })
}

fn lock(next: &Mutex<Next>) -> MutexGuard<'_, Next> {
    next.lock().unwrap_or_else(PoisonError::into_inner)
}
