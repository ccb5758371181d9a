//! Places for uploads: how many are read at once, who comes next, and who loses a place while others wait (docs/decisions/0003).

use std::{
    cmp::Reverse,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use opentelemetry::metrics::UpDownCounter;
use site_service::{
    address_limit,
    drain::CancellationToken,
    metrics::{self, CounterGuard},
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, timeout},
};

use crate::{api_error::ApiError, limits::Limit, settings::Settings};

/// How many uploads may wait for a place. None of them is read.
const MAX_WAITING: usize = 256;
/// How long to wait for a place.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);
/// How often an upload that waits looks for one that may lose its place.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// How long no upload counts as slow. A line that is merely bad stands still for as long.
const SLOW_AFTER: Duration = Duration::from_secs(2);
/// An upload must come by the least rate once more for each so long that it has its place.
const ASKED_MORE_AFTER: Duration = Duration::from_secs(5);

/// Limits of uploads: how many are read at the same time, and how long they may take.
pub struct Uploads {
    places: Arc<Mutex<Places>>,
    pub timeout: Duration,
    waiting_metric: UpDownCounter<i64>,
}

/// An upload that waits for a place or has one.
pub struct Upload {
    /// An address of IPv4, or a /64 of IPv6.
    address: IpAddr,
    /// A /24 of IPv4, or a /48 of IPv6: the addresses that one sender easily gets.
    network: IpAddr,
    /// Since when it has a place.
    begun: OnceLock<Instant>,
    granted: Notify,
    lost: CancellationToken,
    begins: Notify,
    bytes: AtomicU64,
    is_whole: AtomicBool,
}

/// A place in the queue, and then a place, held while an upload is read and stored.
pub struct Place {
    places: Arc<Mutex<Places>>,
    pub upload: Arc<Upload>,
}

/// The uploads that have places, and those that wait, first come first.
struct Places {
    at_once: usize,
    least_rate: NonZeroU32,
    uploads: Vec<Arc<Upload>>,
}

impl Uploads {
    /// The limits of the settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            places: Arc::new(Mutex::new(Places {
                at_once: settings.uploads_at_once,
                least_rate: settings.upload_least_rate,
                uploads: Vec::new(),
            })),
            timeout: settings.upload_timeout,
            waiting_metric: metrics::meter()
                .i64_up_down_counter("site.uploads.waiting")
                .with_unit("{upload}")
                .with_description("Uploads that wait for a place")
                .build(),
        }
    }

    /// Waits for a place.
    ///
    /// # Errors
    ///
    /// If that takes too long, or too many wait.
    pub async fn place(&self, address: IpAddr) -> Result<Place, ApiError> {
        let _waiting = CounterGuard::new(&self.waiting_metric, &[]);
        let place = Place::queued(&self.places, Upload::of(address));
        match timeout(QUEUE_TIMEOUT, place.granted()).await {
            Ok(true) => Ok(place),
            _ => Err(Limit::Uploads.exceeded()),
        }
    }
}

impl Place {
    fn queued(places: &Arc<Mutex<Places>>, upload: Upload) -> Self {
        let upload = Arc::new(upload);
        lock(places).wait(Arc::clone(&upload));
        Self {
            places: Arc::clone(places),
            upload,
        }
    }

    /// Whether it is granted, or the queue has no room any more.
    async fn granted(&self) -> bool {
        loop {
            lock(&self.places).make_room_for(&self.upload);
            tokio::select! {
                biased;
                () = self.upload.granted.notified() => return true,
                () = self.lost() => return false,
                () = sleep(LOOK_INTERVAL) => {}
            }
        }
    }

    /// Waits until it goes to another upload.
    pub async fn lost(&self) {
        self.upload.lost.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.places).remove(&self.upload);
    }
}

impl Places {
    fn held(&self) -> impl Iterator<Item = &Arc<Upload>> {
        self.uploads.iter().filter(|upload| upload.has_place())
    }

    fn waiting(&self) -> impl Iterator<Item = &Arc<Upload>> {
        self.uploads.iter().filter(|upload| !upload.has_place())
    }

    /// Lets one more wait. Of a full queue the network with the most uploads loses its last.
    fn wait(&mut self, upload: Arc<Upload>) {
        self.uploads.push(upload);
        self.grant();
        if self.waiting().count() > MAX_WAITING {
            let of_network = |upload: &&Arc<Upload>| {
                let network = upload.network;
                self.waiting().filter(|other| other.network == network).count()
            };
            let last = self.waiting().max_by_key(of_network).cloned();
            self.lose(last);
        }
    }

    /// Gives free places to those whose networks, and then addresses, hold the fewest; of equals to the first.
    fn grant(&mut self) {
        while self.held().count() < self.at_once {
            let Some(next) = self.waiting().min_by_key(|upload| self.holdings(upload)) else {
                return;
            };
            next.begun.get_or_init(Instant::now);
            next.granted.notify_one();
        }
    }

    /// How many places the network of an upload holds, and how many its address.
    fn holdings(&self, upload: &Upload) -> (usize, usize) {
        let of_network = self.held().filter(|held| held.network == upload.network);
        let of_address = self.held().filter(|held| held.address == upload.address);
        (of_network.count(), of_address.count())
    }

    /// Takes a place from the upload with the least right to it, if this one waits and has a better right.
    fn make_room_for(&mut self, waiting: &Upload) {
        if !waiting.has_place() {
            let ranked = self
                .held()
                .filter_map(|held| Some((self.rank(held, waiting)?, held)));
            let loser = ranked.max_by_key(|(rank, _)| *rank);
            let loser = loser.map(|(_, held)| Arc::clone(held));
            self.lose(loser);
        }
    }

    /// How soon an upload loses its place to one that waits, if it may. Networks are compared, and within one addresses: whoever
    /// holds two places more loses the slowest, and whoever holds one more loses it only if it is slow.
    fn rank(&self, held: &Upload, waiting: &Upload) -> Option<(bool, (usize, usize), Reverse<u64>)> {
        let [theirs, own] = [held, waiting].map(|upload| self.holdings(upload));
        let (more, fewer) = if held.network == waiting.network {
            (theirs.1, own.1)
        } else {
            (theirs.0, own.0)
        };
        let is_over = more >= fewer + 2;
        let may_lose = is_over || more > fewer && held.is_slow(self.least_rate);
        let is_whole = held.is_whole.load(Ordering::Relaxed);
        (may_lose && !is_whole).then(|| (is_over, theirs, Reverse(held.rate())))
    }

    fn lose(&mut self, upload: Option<Arc<Upload>>) {
        if let Some(upload) = upload {
            upload.lost.cancel();
            self.remove(&upload);
        }
    }

    fn remove(&mut self, upload: &Arc<Upload>) {
        self.uploads.retain(|other| !Arc::ptr_eq(other, upload));
        self.grant();
    }
}

impl Upload {
    /// An upload from this address.
    pub fn of(address: IpAddr) -> Self {
        Self {
            address: address_limit::network(address),
            network: match address.to_canonical() {
                IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() >> 8 << 8).into(),
                IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 80 << 80).into(),
            },
            begun: OnceLock::new(),
            granted: Notify::new(),
            lost: CancellationToken::new(),
            begins: Notify::new(),
            bytes: AtomicU64::default(),
            is_whole: AtomicBool::default(),
        }
    }

    /// Counts bytes that arrived.
    pub fn arrived(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.begins.notify_one();
    }

    /// Waits until something arrives.
    pub async fn begins(&self) {
        self.begins.notified().await;
    }

    /// Everything has arrived: it keeps its place until it is stored.
    pub fn end(&self) {
        self.is_whole.store(true, Ordering::Relaxed);
    }

    /// How much has arrived.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn has_place(&self) -> bool {
        self.begun.get().is_some()
    }

    fn age(&self) -> Duration {
        self.begun.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Bytes a second; the most for an upload that only begins.
    fn rate(&self) -> u64 {
        let age = self.age();
        if age < SLOW_AFTER {
            u64::MAX
        } else {
            (self.bytes() as f64 / age.as_secs_f64()) as u64
        }
    }

    /// Whether it comes by less than it must: the longer it takes, the more that is.
    fn is_slow(&self, least_rate: NonZeroU32) -> bool {
        let asked = f64::from(least_rate.get()) * (1.0 + self.age().div_duration_f64(ASKED_MORE_AFTER));
        (self.rate() as f64) < asked
    }
}

fn lock(places: &Mutex<Places>) -> MutexGuard<'_, Places> {
    places.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LEAST_RATE: NonZeroU32 = NonZeroU32::new(8_000).expect("not zero");

    fn places(at_once: usize) -> Arc<Mutex<Places>> {
        Arc::new(Mutex::new(Places {
            at_once,
            least_rate: LEAST_RATE,
            uploads: Vec::new(),
        }))
    }

    /// An upload of the host in this network.
    fn begin(places: &Arc<Mutex<Places>>, net: u8, host: u8) -> Place {
        Place::queued(places, Upload::of(IpAddr::from([203, 0, net, host])))
    }

    impl Place {
        fn has_place(&self) -> bool {
            self.upload.has_place() && !self.is_lost()
        }

        fn is_lost(&self) -> bool {
            self.upload.lost.is_cancelled()
        }

        fn look(&self) {
            lock(&self.places).make_room_for(&self.upload);
        }
    }

    /// Each of these has so many bytes more after so long.
    async fn come(seconds: u32, uploads: &[(&Place, usize)]) {
        advance(seconds * SECOND).await;
        for (place, bytes) in uploads {
            place.upload.arrived(*bytes);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_network_that_holds_most_places_loses_its_slowest_to_another() {
        let places = places(3);
        let (slow, quick, lone) = (begin(&places, 1, 1), begin(&places, 1, 2), begin(&places, 2, 1));
        come(10, &[(&slow, 400_000), (&quick, 900_000), (&lone, 1_000)]).await;
        let of_the_same = begin(&places, 1, 3);
        of_the_same.look();
        assert!(!slow.is_lost() && !quick.is_lost() && !lone.is_lost());
        let other = begin(&places, 3, 1);
        other.look();
        assert!(slow.is_lost() && !quick.is_lost() && !lone.is_lost());
        assert!(other.has_place() && !of_the_same.has_place());
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_that_holds_more_than_its_neighbour_loses_its_slowest_to_them() {
        let places = places(2);
        let (slow, quick) = (begin(&places, 1, 1), begin(&places, 1, 1));
        come(10, &[(&slow, 400_000), (&quick, 900_000)]).await;
        let (same, neighbour) = (begin(&places, 1, 1), begin(&places, 1, 2));
        same.look();
        assert!(!slow.is_lost());
        neighbour.look();
        assert!(slow.is_lost() && !quick.is_lost());
        assert!(neighbour.has_place() && !same.has_place());
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_keeps_its_place_for_any_time_where_nobody_waits() {
        let places = places(1);
        let lone = begin(&places, 1, 1);
        come(170, &[(&lone, 1_000)]).await;
        lone.look();
        assert!(lone.has_place() && !lone.is_lost());
    }

    #[tokio::test(start_paused = true)]
    async fn where_no_network_holds_more_than_others_only_what_hardly_comes_loses_its_place() {
        let places = places(2);
        let (stopped, coming) = (begin(&places, 1, 1), begin(&places, 2, 1));
        let waits = begin(&places, 3, 1);
        come(1, &[(&stopped, 0), (&coming, 40_000)]).await;
        waits.look();
        assert!(!stopped.is_lost() && !coming.is_lost());
        come(2, &[(&stopped, 0), (&coming, 80_000)]).await;
        waits.look();
        assert!(stopped.is_lost() && !coming.is_lost());
    }

    #[tokio::test(start_paused = true)]
    async fn the_longer_an_upload_takes_the_more_is_asked_of_it_while_others_wait() {
        let places = places(1);
        let slow = begin(&places, 1, 1);
        let waits = begin(&places, 2, 1);
        let mut seconds = 0;
        while !slow.is_lost() {
            come(1, &[(&slow, 40_000)]).await;
            waits.look();
            seconds += 1;
        }
        assert!((15..QUEUE_TIMEOUT.as_secs()).contains(&seconds), "{seconds} s");
    }

    #[tokio::test]
    async fn what_has_arrived_keeps_its_place_however_long_it_is_being_stored() {
        let places = places(2);
        let stored = [begin(&places, 1, 1), begin(&places, 1, 2)];
        for upload in &stored {
            upload.upload.end();
        }
        let waits = begin(&places, 2, 1);
        waits.look();
        assert!(stored.iter().all(|upload| !upload.is_lost()));
    }

    #[tokio::test]
    async fn whoever_holds_least_comes_next_and_of_these_whoever_came_first() {
        let places = places(2);
        let (first, second) = (begin(&places, 1, 1), begin(&places, 1, 2));
        let same = begin(&places, 1, 3);
        let (other, last) = (begin(&places, 2, 1), begin(&places, 3, 1));
        drop(first);
        assert!(other.has_place() && !same.has_place() && !last.has_place());
        drop(second);
        assert!(same.has_place() && !last.has_place());
    }

    #[tokio::test]
    async fn a_queue_that_one_network_fills_has_room_for_another() {
        let places = places(1);
        let _crowd: Vec<_> = (0..=MAX_WAITING).map(|_| begin(&places, 1, 1)).collect();
        assert!(begin(&places, 1, 9).is_lost());
        let other = begin(&places, 2, 1);
        assert_eq!(lock(&places).waiting().count(), MAX_WAITING);
        assert!(!other.is_lost());
    }

    #[test]
    fn a_network_is_what_one_sender_gets_by_the_asking() {
        for (address, expected) in [
            ("203.0.113.9", "203.0.113.0"),
            ("::ffff:203.0.113.9", "203.0.113.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::"),
        ] {
            let address: IpAddr = address.parse().expect("an address");
            assert_eq!(Upload::of(address).network.to_string(), expected);
        }
    }
}
