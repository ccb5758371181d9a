//! Reads bodies of forms without a file before their handler runs. All requests share a memory budget.

use std::{io, sync::Arc, time::Duration};

use axum::body::{Body, HttpBody};
use futures_util::TryStreamExt;
use http::StatusCode;
use tokio::{
    io::AsyncReadExt,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_util::io::StreamReader;

use crate::{api_error::ApiError, limits::Limit};

/// Largest body: the longest message in the encoding that needs most bytes.
pub const FORM_BYTES: usize = 256 * 1024;
/// Bodies up to this size skip the memory budget. Most are that small. The connection limit bounds their number.
const SMALL_BYTES: usize = 16 * 1024;
const QUEUE_TIMEOUT: Duration = Duration::from_secs(3);

pub struct FormBodies {
    /// Memory budget in bytes for large bodies. A body keeps its share until its request is answered.
    pub budget: Arc<Semaphore>,
    pub max_bytes: usize,
}

impl FormBodies {
    /// Returns the whole body and its share of the memory budget.
    ///
    /// # Errors
    ///
    /// If the memory budget stays used up, or the body is too large or truncated.
    pub async fn read(&self, body: Body) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), ApiError> {
        // A body of unknown length counts as the largest.
        let length = body.size_hint().upper();
        let length = length.and_then(|bytes| usize::try_from(bytes).ok());
        let share = self
            .room(length.unwrap_or(usize::MAX).min(self.max_bytes))
            .await?;
        let mut whole = Vec::new();
        let pieces = StreamReader::new(body.into_data_stream().map_err(io::Error::other));
        let read = pieces
            .take(self.max_bytes as u64 + 1)
            .read_to_end(&mut whole)
            .await;
        // A truncated or wrongly encoded body is a client error.
        read.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))?;
        if whole.len() > self.max_bytes {
            return Err(ApiError::of(StatusCode::PAYLOAD_TOO_LARGE));
        }
        Ok((whole, share))
    }

    async fn room(&self, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, ApiError> {
        if bytes <= SMALL_BYTES {
            return Ok(None);
        }
        let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
        let room = Arc::clone(&self.budget).acquire_many_owned(permits);
        match timeout(QUEUE_TIMEOUT, room).await {
            Ok(Ok(room)) => Ok(Some(room)),
            _ => Err(Limit::Bodies.exceeded()),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures_util::{FutureExt, stream};

    use super::*;

    #[tokio::test]
    async fn stalled_large_bodies_leave_room_for_small_ones() {
        let bodies = FormBodies {
            budget: Arc::new(Semaphore::new(1024 * 1024)),
            max_bytes: FORM_BYTES,
        };
        let unending = || Body::from_stream(stream::pending::<Result<Bytes, axum::Error>>());
        let mut unending: Vec<_> = (0..4).map(|_| Box::pin(bodies.read(unending()))).collect();
        assert!(unending.iter_mut().all(|read| read.now_or_never().is_none()));
        let (small, _held) = bodies.read("a message".into()).await.expect("there is room");
        assert_eq!(small, b"a message");

        let large = vec![b'x'; FORM_BYTES];
        let refused = bodies.read(large.clone().into()).await;
        let refused = refused.map(drop).expect_err("no room");
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(unending);
        assert!(bodies.read(large.into()).await.is_ok());
    }
}
