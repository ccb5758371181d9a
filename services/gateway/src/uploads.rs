//! Places for uploads: how many are read at once, who comes next, and who loses a place while others wait (docs/decisions/0003).

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use opentelemetry::metrics::UpDownCounter;
use site_service::{
    address_limit::{self, AddressLimit, AddressPermit},
    drain::CancellationToken,
    metrics::{self, CounterGuard},
};
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use crate::{api_error::ApiError, limits::Limit, settings::Settings, upload_body::Progress};

/// How many uploads may wait for a place. None of them is read.
const MAX_WAITING: usize = 256;
/// How long to wait for a place, or for other uploads of the same address.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);
/// How often an upload that waits looks for one that may lose its place.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// How long an upload's visitor was waited for before it is slow. A line that is merely bad stands still for as long.
const SLOW_AFTER: Duration = Duration::from_secs(2);
/// An upload must come by the least rate once more for each so long that its visitor was waited for.
const ASKED_MORE_AFTER: Duration = Duration::from_secs(5);

/// Limits of uploads: how many are read at the same time, how many of them of one address, and how long they may take.
pub struct Uploads {
    places: Arc<Mutex<Places>>,
    per_address: AddressLimit,
    pub timeout: Duration,
    waiting_metric: UpDownCounter<i64>,
    active_metric: UpDownCounter<i64>,
}

/// An upload that waits for a place or has one.
struct Upload {
    sender: Sender,
    progress: Arc<Progress>,
    granted: Notify,
    lost: CancellationToken,
}

/// Whose an upload is.
#[derive(Clone, Copy)]
struct Sender {
    /// What the limit of each address counts.
    address: IpAddr,
    /// A /24 of IPv4 or a /48 of IPv6, which are what one gets by the asking.
    network: IpAddr,
}

/// Who has a place, and who waits, first come first.
struct Places {
    at_once: usize,
    least_rate: NonZeroU32,
    held: Vec<Arc<Upload>>,
    waiting: Vec<Arc<Upload>>,
}

/// A place in the queue, and then among those that are read.
struct Queued {
    places: Arc<Mutex<Places>>,
    upload: Arc<Upload>,
}

/// A place, held while an upload is read and stored.
pub struct Place<'a> {
    queued: Queued,
    _of_address: AddressPermit,
    _active: CounterGuard<'a>,
}

impl Uploads {
    /// The limits of the settings.
    pub fn new(settings: &Settings) -> Self {
        let meter = metrics::meter();
        let limit = meter
            .u64_gauge("site.uploads.limit")
            .with_unit("{upload}")
            .with_description("Uploads that may be read at once")
            .build();
        limit.record(settings.uploads_at_once as u64, &[]);
        let count = |name, description| {
            let counter = meter.i64_up_down_counter(name).with_unit("{upload}");
            counter.with_description(description).build()
        };
        Self {
            places: Arc::new(Mutex::new(Places::new(
                settings.uploads_at_once,
                settings.upload_least_rate,
            ))),
            per_address: AddressLimit::new(settings.uploads_per_address.get()),
            timeout: settings.upload_timeout,
            waiting_metric: count("site.uploads.waiting", "Uploads that wait for their turn"),
            active_metric: count("site.uploads.active", "Uploads that are being read"),
        }
    }

    /// Waits for a place.
    ///
    /// # Errors
    ///
    /// If that takes too long, or too many wait.
    pub async fn place(&self, address: IpAddr) -> Result<Place<'_>, ApiError> {
        let of_address = timeout(QUEUE_TIMEOUT, self.per_address.acquire(address)).await;
        let of_address = of_address.map_err(|_| Limit::UploadsPerAddress.exceeded())?;
        let _waiting = CounterGuard::new(&self.waiting_metric, &[]);
        let queued = Queued::begin(&self.places, Sender::of(address));
        let queued = queued.ok_or_else(|| Limit::Uploads.exceeded())?;
        let granted = timeout(QUEUE_TIMEOUT, queued.granted()).await;
        if granted != Ok(true) {
            return Err(Limit::Uploads.exceeded());
        }
        Ok(Place {
            queued,
            _of_address: of_address,
            _active: CounterGuard::new(&self.active_metric, &[]),
        })
    }
}

impl Place<'_> {
    /// What counts how the upload comes.
    pub fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.queued.upload.progress)
    }

    /// Waits until the place goes to another upload.
    pub async fn lost(&self) {
        self.queued.upload.lost.cancelled().await;
    }
}

impl Queued {
    /// The last place of the queue; none where that is full of other networks.
    fn begin(places: &Arc<Mutex<Places>>, sender: Sender) -> Option<Self> {
        let upload = Arc::new(Upload {
            sender,
            progress: Arc::default(),
            granted: Notify::new(),
            lost: CancellationToken::new(),
        });
        let mut locked = lock(places);
        locked.wait(Arc::clone(&upload))?;
        locked.grant();
        drop(locked);
        let places = Arc::clone(places);
        Some(Self { places, upload })
    }

    /// Whether a place is granted, or the queue has no room any more.
    async fn granted(&self) -> bool {
        loop {
            lock(&self.places).make_room_for(&self.upload);
            tokio::select! {
                biased;
                () = self.upload.granted.notified() => return true,
                () = self.upload.lost.cancelled() => return false,
                () = sleep(LOOK_INTERVAL) => {}
            }
        }
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        let mut places = lock(&self.places);
        let is_another = |upload: &Arc<Upload>| !Arc::ptr_eq(upload, &self.upload);
        places.waiting.retain(is_another);
        places.held.retain(is_another);
        places.grant();
    }
}

impl Places {
    fn new(at_once: usize, least_rate: NonZeroU32) -> Self {
        Self {
            at_once,
            least_rate,
            held: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Lets one more wait. Of a full queue the network that fills it loses its last, or the newcomer is of that.
    fn wait(&mut self, upload: Arc<Upload>) -> Option<()> {
        if self.waiting.len() >= MAX_WAITING {
            let crowd = self.waiting.iter().map(|waits| waits.sender);
            let crowd = crowd.max_by_key(|sender| of_network(sender, &self.waiting))?;
            if of_network(&crowd, &self.waiting) <= of_network(&upload.sender, &self.waiting) + 1 {
                return None;
            }
            let is_of_crowd = |waits: &Arc<Upload>| waits.sender.network == crowd.network;
            let last = self.waiting.iter().rposition(is_of_crowd)?;
            self.waiting.remove(last).lost.cancel();
        }
        self.waiting.push(upload);
        Some(())
    }

    /// Gives what is free to those whose networks, and then addresses, hold the least.
    fn grant(&mut self) {
        while self.held.len() < self.at_once {
            let next = (0..self.waiting.len()).min_by_key(|at| self.turn(*at));
            let Some(next) = next else {
                return;
            };
            let upload = self.waiting.remove(next);
            upload.granted.notify_one();
            self.held.push(upload);
        }
    }

    /// What says when this one of those that wait has its turn: whoever has the least comes first.
    fn turn(&self, waiting: usize) -> (usize, usize, usize) {
        let sender = &self.waiting[waiting].sender;
        (
            of_network(sender, &self.held),
            of_address(sender, &self.held),
            waiting,
        )
    }

    /// Takes a place from others for an upload that waits, unless one comes free for it.
    fn make_room_for(&self, upload: &Upload) {
        let is_it = |waits: &Arc<Upload>| std::ptr::eq::<Upload>(&**waits, upload);
        let Some(at) = self.waiting.iter().position(is_it) else {
            return;
        };
        let (losing, kept): (Vec<_>, Vec<_>) = self
            .held
            .iter()
            .cloned()
            .partition(|held| held.lost.is_cancelled());
        let turns = (0..self.waiting.len()).map(|other| self.turn(other));
        if losing.len() > turns.filter(|turn| *turn < self.turn(at)).count() {
            return;
        }
        let own = of_network(&upload.sender, &kept);
        let most = kept.iter().map(|held| of_network(&held.sender, &kept)).max();
        let rank = |held: &Arc<Upload>| {
            let holds = of_network(&held.sender, &kept);
            let is_of_its_network = held.sender.network == upload.sender.network;
            let has_more = if is_of_its_network {
                of_address(&held.sender, &kept) >= of_address(&upload.sender, &kept) + 2
            } else {
                Some(holds) == most && holds >= own + 2
            };
            let is_behind = (is_of_its_network || holds > own) && held.is_slow(self.least_rate);
            // One that only begins has sent nothing, and is not slow.
            let begins = held.progress.waited() < SLOW_AFTER;
            let may_lose = (has_more || is_behind) && !held.progress.is_whole();
            may_lose.then(|| (!has_more, begins, held.progress.rate()))
        };
        let ranked = kept.iter().filter_map(|held| Some((rank(held)?, held)));
        let slowest = ranked.min_by(|(one, _), (other, _)| {
            (one.0, one.1)
                .cmp(&(other.0, other.1))
                .then(one.2.total_cmp(&other.2))
        });
        if let Some((_, slowest)) = slowest {
            slowest.lost.cancel();
        }
    }
}

impl Upload {
    /// Whether it comes by less than it must: the longer it takes, the more that is.
    fn is_slow(&self, least_rate: NonZeroU32) -> bool {
        let waited = self.progress.waited();
        let asked = f64::from(least_rate.get()) * (1.0 + waited.div_duration_f64(ASKED_MORE_AFTER));
        waited >= SLOW_AFTER && self.progress.rate() < asked
    }
}

impl Sender {
    fn of(address: IpAddr) -> Self {
        Self {
            address: address_limit::network(address),
            network: match address.to_canonical() {
                IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() >> 8 << 8).into(),
                IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 80 << 80).into(),
            },
        }
    }
}

/// How many of these are of the sender's network.
fn of_network(sender: &Sender, uploads: &[Arc<Upload>]) -> usize {
    let networks = uploads.iter().map(|upload| upload.sender.network);
    networks.filter(|network| *network == sender.network).count()
}

/// How many of these are of the sender's address.
fn of_address(sender: &Sender, uploads: &[Arc<Upload>]) -> usize {
    let addresses = uploads.iter().map(|upload| upload.sender.address);
    addresses.filter(|address| *address == sender.address).count()
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
        Arc::new(Mutex::new(Places::new(at_once, LEAST_RATE)))
    }

    /// An upload of the host in this network.
    fn begin(places: &Arc<Mutex<Places>>, net: u8, host: u8) -> Queued {
        let address = IpAddr::from([203, 0, net, host]);
        Queued::begin(places, Sender::of(address)).expect("there is room to wait")
    }

    impl Queued {
        fn has_place(&self) -> bool {
            let places = lock(&self.places);
            places.held.iter().any(|held| Arc::ptr_eq(held, &self.upload))
        }

        fn is_lost(&self) -> bool {
            self.upload.lost.is_cancelled()
        }

        fn look(&self) {
            lock(&self.places).make_room_for(&self.upload);
        }
    }

    /// Each of these has so many bytes more after so long.
    async fn come(seconds: u32, uploads: &[(&Queued, usize)]) {
        for (queued, _) in uploads {
            queued.upload.progress.waits();
        }
        advance(seconds * SECOND).await;
        for (queued, bytes) in uploads {
            queued.upload.progress.came(*bytes);
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
        other.look();
        assert!(slow.is_lost() && !quick.is_lost() && !lone.is_lost());
        drop(slow);
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
        drop(slow);
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
            upload.upload.progress.end();
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
        assert!(Queued::begin(&places, Sender::of(IpAddr::from([203, 0, 1, 9]))).is_none());
        let other = begin(&places, 2, 1);
        assert_eq!(lock(&places).waiting.len(), MAX_WAITING);
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
            assert_eq!(Sender::of(address).network.to_string(), expected);
        }
    }
}
