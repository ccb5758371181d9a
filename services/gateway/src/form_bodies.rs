//! Bodies of forms without a file: read whole before anything else looks at them, and bounded over all requests together.

use std::{net::IpAddr, num::NonZeroU32, sync::Arc, time::Duration};

use axum::body::{Body, HttpBody};
use http::StatusCode;
use http_body_util::BodyExt;
use site_service::address_limit::{AddressLimit, AddressPermit};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    api_error::ApiError,
    limits::Limit,
    pace::{LeastRate, Pace, Received, Waiting},
};

/// The largest body of a form without a file: the longest message in the widest encoding, and some.
pub const FORM_BYTES: usize = 256 * 1024;
/// The largest body that is a small one: nearly all that people write.
const SMALL_BYTES: usize = 16 * 1024;
/// One of so many bytes is kept for small bodies, so that large ones on slow lines do not hold up all.
const SMALL_SHARE: usize = 4;
/// How many bodies of one address hold bytes at once: people behind one address send few at the same moment, each for milliseconds.
const MAX_OF_ADDRESS: usize = 16;
/// How long a body may wait for others to be done with.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(3);
/// The least rate. What people write is one packet, or a few.
const LEAST_RATE: LeastRate = LeastRate(NonZeroU32::new(8_000).expect("not zero"));

/// How many bytes of bodies may be held at once. A body holds its own from before it is read until its request is answered.
#[derive(Clone)]
pub struct BodyBudget {
    small: Share,
    large: Share,
    per_address: AddressLimit,
}

/// A part of it.
#[derive(Clone)]
struct Share {
    bytes: Arc<Semaphore>,
    waiting: Waiting,
}

/// The limits of one route's bodies.
pub struct FormBodies {
    budget: BodyBudget,
    /// The largest body that the route takes.
    max_bytes: usize,
}

impl BodyBudget {
    /// A budget of so many bytes.
    pub fn new(bytes: usize) -> Self {
        let small = (bytes / SMALL_SHARE).max(SMALL_BYTES);
        Self {
            small: Share::new(small),
            large: Share::new(bytes.saturating_sub(small).max(FORM_BYTES)),
            per_address: AddressLimit::new(MAX_OF_ADDRESS),
        }
    }

    /// Bodies of one route, each of so many bytes at most.
    pub fn of(&self, max_bytes: usize) -> FormBodies {
        FormBodies {
            budget: self.clone(),
            max_bytes,
        }
    }

    /// Waits until one body more of this address may be read.
    async fn turn(&self, address: IpAddr) -> Result<AddressPermit, ApiError> {
        let of_address = timeout(QUEUE_TIMEOUT, self.per_address.acquire(address)).await;
        of_address.map_err(|_| Limit::BodiesPerAddress.exceeded())
    }

    fn share(&self, bytes: usize) -> &Share {
        if bytes <= SMALL_BYTES {
            &self.small
        } else {
            &self.large
        }
    }
}

impl Share {
    fn new(bytes: usize) -> Self {
        Self {
            bytes: Arc::new(Semaphore::new(bytes)),
            waiting: Waiting::default(),
        }
    }

    async fn take(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let _waits = self.waiting.begin();
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let taken = timeout(QUEUE_TIMEOUT, Arc::clone(&self.bytes).acquire_many_owned(bytes)).await;
        taken
            .ok()
            .and_then(Result::ok)
            .ok_or_else(|| Limit::Bodies.exceeded())
    }
}

/// What a body holds until its request is answered.
pub struct HeldBytes {
    _of_address: AddressPermit,
    _of_all: OwnedSemaphorePermit,
}

impl FormBodies {
    /// The body of a request from this address, once it is whole.
    ///
    /// # Errors
    ///
    /// If there is no room for it, it is too large, too slow, or breaks off.
    pub async fn read(&self, address: IpAddr, body: Body) -> Result<(Vec<u8>, HeldBytes), ApiError> {
        let of_address = self.budget.turn(address).await?;
        let (body, of_all) = self.read_within_budget(body).await?;
        let held = HeldBytes {
            _of_address: of_address,
            _of_all: of_all,
        };
        Ok((body, held))
    }

    async fn read_within_budget(&self, body: Body) -> Result<(Vec<u8>, OwnedSemaphorePermit), ApiError> {
        // What tells no length may be as large as any.
        let told = body
            .size_hint()
            .upper()
            .and_then(|bytes| usize::try_from(bytes).ok());
        let most = told.map_or(self.max_bytes, |bytes| bytes.min(self.max_bytes));
        let share = self.budget.share(most);
        let held = share.take(most).await?;
        let received = Received::default();
        let mut pace = Pace::new(LEAST_RATE, received.clone(), share.waiting.clone());
        let whole = pace.arriving(self.collect(body, &received)).await??;
        Ok((whole, held))
    }

    /// The whole body in one piece: a list of pieces would take many times as much where each is a byte.
    async fn collect(&self, mut body: Body, received: &Received) -> Result<Vec<u8>, ApiError> {
        let mut whole = Vec::new();
        while let Some(frame) = body.frame().await {
            // A body that breaks off, or is not coded as it says, is its sender's to mend.
            let frame = frame.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))?;
            let Some(bytes) = frame.data_ref() else {
                continue;
            };
            received.add(bytes.len());
            if whole.len() + bytes.len() > self.max_bytes {
                return Err(ApiError::of(StatusCode::PAYLOAD_TOO_LARGE));
            }
            whole.extend_from_slice(bytes);
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures_util::{FutureExt, stream};

    use super::*;

    fn bodies() -> FormBodies {
        BodyBudget::new(1024 * 1024).of(FORM_BYTES)
    }

    fn unending() -> Body {
        Body::from_stream(stream::pending::<Result<Bytes, axum::Error>>())
    }

    #[tokio::test]
    async fn large_bodies_that_do_not_arrive_leave_room_for_small_ones() {
        let bodies = bodies();
        let mut unending: Vec<_> = (0..3)
            .map(|_| Box::pin(bodies.read_within_budget(unending())))
            .collect();
        assert!(unending.iter_mut().all(|read| read.now_or_never().is_none()));
        let (small, _held) = bodies
            .read_within_budget("a message".into())
            .await
            .expect("there is room");
        assert_eq!(small, b"a message");

        let large = vec![b'x'; FORM_BYTES];
        let refused = bodies
            .read_within_budget(large.clone().into())
            .await
            .map(drop)
            .expect_err("no room");
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(unending);
        assert!(bodies.read_within_budget(large.into()).await.is_ok());
    }

    #[tokio::test]
    async fn an_address_is_told_that_it_has_its_share_and_no_other_one_is() {
        let budget = bodies().budget;
        let [crowd, neighbour] = [9, 10].map(|last| IpAddr::from([203, 0, 113, last]));
        let mut turns = Vec::new();
        for _ in 0..MAX_OF_ADDRESS {
            turns.push(budget.turn(crowd).await.expect("it has fewer"));
        }
        let (refused, let_in) = tokio::join!(budget.turn(crowd), budget.turn(neighbour));
        let refused = refused.map(drop).expect_err("it has its share");
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(let_in.is_ok());
        turns.pop();
        assert!(budget.turn(crowd).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_holds_its_bytes_as_long_as_its_request_takes() {
        let bodies = bodies();
        let free = || bodies.budget.small.bytes.available_permits();
        let all = free();
        let (_, held) = bodies
            .read_within_budget("a message".into())
            .await
            .expect("there is room");
        assert_eq!(free(), all - "a message".len());
        drop(held);
        assert_eq!(free(), all);
    }

    #[tokio::test]
    async fn what_is_too_large_is_told_so_and_what_breaks_off_is_its_senders() {
        let bodies = bodies();
        let status = async |body: Body| {
            let refused = bodies.read_within_budget(body).await.map(drop);
            refused.expect_err("it is not whole").status()
        };
        assert_eq!(
            status(vec![b'x'; FORM_BYTES + 1].into()).await,
            StatusCode::PAYLOAD_TOO_LARGE
        );
        let broken = stream::iter([Ok(Bytes::from("{")), Err(std::io::Error::other("the line broke"))]);
        assert_eq!(status(Body::from_stream(broken)).await, StatusCode::BAD_REQUEST);
    }
}
