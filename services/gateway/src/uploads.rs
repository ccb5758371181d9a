//! Limit of concurrent uploads: each needs a place, and a slow one loses it while others wait (docs/decisions/0003).

use std::{
    cmp::Reverse,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use opentelemetry::metrics::UpDownCounter;
use site_service::{
    drain::CancellationToken,
    metrics::{self, CounterGuard},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};

use crate::{address::network, api_error::ApiError, limits::Limit};

/// Places per gateway. The spool of a careers pod has room for the uploads of six gateways.
pub const UPLOADS_AT_ONCE: usize = 10;
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval at which a waiting upload tries to take a place from another one.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// Time that an upload keeps its place while a sender with one place less waits.
const FAIR_TIME: Duration = Duration::from_secs(20);

/// Places of all uploads. A free place goes to the upload that has waited longest.
pub struct Uploads {
    free: Arc<Semaphore>,
    active: Mutex<Vec<Weak<Upload>>>,
    waiting_metric: UpDownCounter<i64>,
}

/// Upload with a place. It frees the place when it is dropped, or loses it to another upload.
pub struct Upload {
    sender: Sender,
    started: Instant,
    bytes: AtomicUsize,
    place: Mutex<Option<OwnedSemaphorePermit>>,
    /// Cancelled when another upload takes the place.
    pub lost: CancellationToken,
}

#[derive(Clone, Copy)]
struct Sender {
    /// IPv4 address or IPv6 /64: the visitor's network.
    address: IpAddr,
    /// IPv4 /24 or IPv6 /48: addresses that one sender easily obtains.
    network: IpAddr,
}

impl Uploads {
    pub fn new(at_once: usize) -> Self {
        Self {
            free: Arc::new(Semaphore::new(at_once)),
            active: Mutex::default(),
            waiting_metric: metrics::meter()
                .i64_up_down_counter("site.uploads.waiting")
                .with_unit("{upload}")
                .with_description("Uploads waiting for a place")
                .build(),
        }
    }

    /// # Errors
    ///
    /// If no place becomes free in time.
    pub async fn begin(&self, address: IpAddr) -> Result<Arc<Upload>, ApiError> {
        let _waiting = CounterGuard::new(&self.waiting_metric);
        let sender = Sender::of(address);
        let place = timeout(QUEUE_TIMEOUT, self.place(sender)).await;
        let place = place.map_err(|_| Limit::Uploads.exceeded())?;
        let upload = Arc::new(Upload::new(sender, place));
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        active.retain(|upload| upload.strong_count() > 0);
        active.push(Arc::downgrade(&upload));
        Ok(upload)
    }

    async fn place(&self, sender: Sender) -> Option<OwnedSemaphorePermit> {
        let mut free = pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            if let Ok(place) = timeout(LOOK_INTERVAL, &mut free).await {
                return place.ok();
            }
            let place = self.take_place(sender);
            if place.is_some() {
                return place;
            }
        }
    }

    /// Takes a place from the sender with the most places, whose upload with the fewest received bytes loses it.
    ///
    /// Places count by network, or by address if both senders share a network. A sender with two more places than
    /// `waiting` loses one at once. A sender with one more loses it after [`FAIR_TIME`].
    fn take_place(&self, waiting: Sender) -> Option<OwnedSemaphorePermit> {
        let active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        let uploads = active.iter().filter_map(Weak::upgrade);
        let active: Vec<Arc<Upload>> = uploads.filter(|upload| !upload.lost.is_cancelled()).collect();
        let places = |sender: Sender| {
            let of_network = active
                .iter()
                .filter(|other| other.sender.network == sender.network);
            let of_address = active
                .iter()
                .filter(|other| other.sender.address == sender.address);
            (of_network.count(), of_address.count())
        };
        let may_lose = |upload: &&Arc<Upload>| {
            let (theirs, own) = (places(upload.sender), places(waiting));
            let (more, fewer) = if upload.sender.network == waiting.network {
                (theirs.1, own.1)
            } else {
                (theirs.0, own.0)
            };
            more >= fewer + 2 || more > fewer && upload.started.elapsed() > FAIR_TIME
        };
        let losers = active.iter().filter(may_lose);
        let loser = losers.max_by_key(|upload| (places(upload.sender), Reverse(upload.bytes())))?;
        loser.lost.cancel();
        let mut place = loser.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.take()
    }
}

impl Upload {
    fn new(sender: Sender, place: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            sender,
            started: Instant::now(),
            bytes: AtomicUsize::default(),
            place: Mutex::new(place),
            lost: CancellationToken::new(),
        }
    }

    pub fn arrived(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Sender {
    fn of(address: IpAddr) -> Self {
        Self {
            address: network(address),
            network: match address.to_canonical() {
                IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() >> 8 << 8).into(),
                IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 80 << 80).into(),
            },
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Upload that no other upload can take the place of.
    pub fn lone() -> Arc<Upload> {
        Arc::new(Upload::new(Sender::of(IpAddr::from([203, 0, 113, 1])), None))
    }

    async fn begin(uploads: &Uploads, net: u8, host: u8, bytes: usize) -> Arc<Upload> {
        let begun = uploads.begin(IpAddr::from([203, 0, net, host])).await;
        let upload = begun.expect("a place");
        upload.arrived(bytes);
        upload
    }

    fn is_lost(upload: &Upload) -> bool {
        upload.lost.is_cancelled()
    }

    #[tokio::test(start_paused = true)]
    async fn the_busiest_network_loses_its_slowest_upload() {
        let uploads = Uploads::new(3);
        let slow = begin(&uploads, 1, 1, 400_000).await;
        let quick = begin(&uploads, 1, 2, 900_000).await;
        let lone = begin(&uploads, 2, 1, 1_000).await;
        let _other = timeout(SECOND, begin(&uploads, 3, 1, 0)).await.expect("at once");
        assert!(is_lost(&slow) && !is_lost(&quick) && !is_lost(&lone));
    }

    #[tokio::test(start_paused = true)]
    async fn the_busiest_address_loses_its_slowest_upload() {
        let uploads = Uploads::new(2);
        let slow = begin(&uploads, 1, 1, 400_000).await;
        let quick = begin(&uploads, 1, 1, 900_000).await;
        let same = uploads.begin(IpAddr::from([203, 0, 1, 1])).await;
        assert!(same.is_err() && !is_lost(&slow));
        let _neighbour = timeout(SECOND, begin(&uploads, 1, 2, 0)).await.expect("at once");
        assert!(is_lost(&slow) && !is_lost(&quick));
    }

    #[tokio::test(start_paused = true)]
    async fn the_slowest_upload_is_evicted_after_the_fair_time() {
        let uploads = Uploads::new(2);
        let slow = begin(&uploads, 1, 1, 1_000).await;
        let quick = begin(&uploads, 2, 1, 900_000).await;
        let begun = Instant::now();
        let _waits = begin(&uploads, 3, 1, 0).await;
        assert!(begun.elapsed() > FAIR_TIME && begun.elapsed() < QUEUE_TIMEOUT);
        assert!(is_lost(&slow) && !is_lost(&quick));
    }

    #[test]
    fn a_network_is_an_ipv4_24_or_ipv6_48() {
        for (address, expected) in [
            ("203.0.113.9", "203.0.113.0"),
            ("::ffff:203.0.113.9", "203.0.113.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::"),
        ] {
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(Sender::of(address).network.to_string(), expected);
        }
    }
}
