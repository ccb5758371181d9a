//! Places for uploads: how many are read at once, of whom, and who comes next (docs/decisions/0003).

use std::{net::IpAddr, time::Duration};

use opentelemetry::metrics::UpDownCounter;
use site_service::{
    address_limit::{AddressLimit, AddressPermit},
    metrics::{self, CounterGuard},
};
use tokio::{
    sync::{AcquireError, Semaphore, SemaphorePermit},
    time::timeout,
};

use crate::{
    api_error::ApiError,
    limits::Limit,
    pace::{LeastRate, Pace, Received, Waiting},
    settings::Settings,
};

/// One of so many places is kept for uploads that are whole: no slow line can hold these up.
const WHOLE_SHARE: usize = 4;
/// How many uploads may have begun that have no place yet. Beyond that, others are not even begun: each holds
/// [`crate::api::careers::MAX_BEGINNING_BYTES`] at most.
const MAX_BEGUN: usize = 256;
/// How long to wait for a place, or for other uploads of the same address.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(30);

/// Limits of uploads: how many are read at the same time, how many of them of one address, how fast they must come, and how long
/// they may take.
pub struct Uploads {
    places: Semaphore,
    places_for_whole: Semaphore,
    begun: Semaphore,
    per_address: AddressLimit,
    least_rate: LeastRate,
    waiting: Waiting,
    pub timeout: Duration,
    waiting_metric: UpDownCounter<i64>,
    active_metric: UpDownCounter<i64>,
}

/// An upload that may begin: it has no place yet.
pub struct Turn<'a> {
    uploads: &'a Uploads,
    of_address: AddressPermit,
    _begun: SemaphorePermit<'a>,
}

/// A place, held while an upload is read and stored.
pub struct Place<'a> {
    _place: SemaphorePermit<'a>,
    _of_address: AddressPermit,
    _active: CounterGuard<'a>,
}

impl Uploads {
    /// The limits of the settings.
    pub fn new(settings: &Settings) -> Self {
        let places = settings.uploads_at_once;
        let meter = metrics::meter();
        let limit = meter
            .u64_gauge("site.uploads.limit")
            .with_unit("{upload}")
            .with_description("Uploads that may be read at once")
            .build();
        limit.record(places as u64, &[]);
        let count = |name, description| {
            let counter = meter.i64_up_down_counter(name).with_unit("{upload}");
            counter.with_description(description).build()
        };
        Self {
            places: Semaphore::new(places - places / WHOLE_SHARE),
            places_for_whole: Semaphore::new(places / WHOLE_SHARE),
            begun: Semaphore::new(MAX_BEGUN),
            per_address: AddressLimit::new(settings.uploads_per_address.get()),
            least_rate: LeastRate(settings.upload_least_rate),
            waiting: Waiting::default(),
            timeout: settings.upload_timeout,
            waiting_metric: count("site.uploads.waiting", "Uploads that wait for their turn"),
            active_metric: count("site.uploads.active", "Uploads that are being read"),
        }
    }

    /// Waits until one upload more of this address may begin.
    ///
    /// # Errors
    ///
    /// If that takes too long.
    pub async fn turn(&self, address: IpAddr) -> Result<Turn<'_>, ApiError> {
        let of_address = timeout(QUEUE_TIMEOUT, self.per_address.acquire(address)).await;
        Ok(Turn {
            uploads: self,
            of_address: of_address.map_err(|_| Limit::UploadsPerAddress.exceeded())?,
            _begun: self.queued(self.begun.acquire()).await?,
        })
    }

    /// The pace at which a body must arrive.
    pub fn pace(&self, received: Received) -> Pace {
        Pace::new(self.least_rate, received, self.waiting.clone())
    }

    /// While somebody waits, uploads that hold a place and do not come lose it sooner.
    async fn queued<T>(&self, acquire: impl Future<Output = Result<T, AcquireError>>) -> Result<T, ApiError> {
        let _waits = self.waiting.begin();
        let acquired = timeout(QUEUE_TIMEOUT, acquire).await;
        acquired
            .ok()
            .and_then(Result::ok)
            .ok_or_else(|| Limit::Uploads.exceeded())
    }
}

impl<'a> Turn<'a> {
    /// Waits for a place, behind whoever was there before, among those kept for whole ones where it is whole.
    ///
    /// # Errors
    ///
    /// If that takes too long.
    pub async fn place(self, is_whole: bool) -> Result<Place<'a>, ApiError> {
        let uploads = self.uploads;
        let _waiting = CounterGuard::new(&uploads.waiting_metric, &[]);
        let place = async {
            tokio::select! {
                biased;
                place = uploads.places.acquire() => place,
                place = uploads.places_for_whole.acquire(), if is_whole => place,
            }
        };
        Ok(Place {
            _place: uploads.queued(place).await?,
            _of_address: self.of_address,
            _active: CounterGuard::new(&uploads.active_metric, &[]),
        })
    }
}
