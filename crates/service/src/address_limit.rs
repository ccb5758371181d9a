//! Limit of how much one visitor may have under way at once.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many an address may have at once; more of it wait in the order in which they came, and for none of another address.
#[derive(Clone)]
pub struct AddressLimit {
    at_once: usize,
    networks: Arc<Mutex<HashMap<IpAddr, Network>>>,
}

/// One that an address has under way.
pub struct AddressPermit {
    // In this order: the permit goes back to a network that is still known.
    _permit: Option<OwnedSemaphorePermit>,
    _known: Known,
}

/// A network that has something under way, or waiting.
struct Network {
    users: usize,
    permits: Arc<Semaphore>,
}

/// Keeps a network known as long as it has something: what is known is bounded by the connections.
struct Known {
    network: IpAddr,
    limit: AddressLimit,
}

impl AddressLimit {
    /// So many at once.
    pub fn new(at_once: usize) -> Self {
        Self {
            // A semaphore of more would panic.
            at_once: at_once.min(Semaphore::MAX_PERMITS),
            networks: Arc::default(),
        }
    }

    /// Waits until this address has fewer than the limit under way.
    pub async fn acquire(&self, address: IpAddr) -> AddressPermit {
        let (known, permits) = self.known(network(address));
        let permit = permits.acquire_owned().await;
        AddressPermit {
            // It is never closed.
            _permit: permit.ok(),
            _known: known,
        }
    }

    /// One more of this address, if it has fewer than the limit under way.
    pub fn try_acquire(&self, address: IpAddr) -> Option<AddressPermit> {
        let (known, permits) = self.known(network(address));
        let permit = permits.try_acquire_owned().ok()?;
        Some(AddressPermit {
            _permit: Some(permit),
            _known: known,
        })
    }

    fn known(&self, network: IpAddr) -> (Known, Arc<Semaphore>) {
        let mut networks = self.networks();
        let entry = networks.entry(network).or_insert_with(|| Network {
            users: 0,
            permits: Arc::new(Semaphore::new(self.at_once)),
        });
        entry.users += 1;
        let limit = self.clone();
        (Known { network, limit }, Arc::clone(&entry.permits))
    }

    fn networks(&self) -> MutexGuard<'_, HashMap<IpAddr, Network>> {
        self.networks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        let mut networks = self.limit.networks();
        let Some(entry) = networks.get_mut(&self.network) else {
            return;
        };
        entry.users -= 1;
        if entry.users == 0 {
            networks.remove(&self.network);
        }
    }
}

/// What a limit counts as one visitor: an address of IPv4, or the /64 of IPv6 that one customer gets.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9));

    #[tokio::test]
    async fn the_third_of_an_address_waits_for_one_of_its_own_and_for_no_others() {
        let limit = AddressLimit::new(2);
        let first = limit.acquire(ADDRESS).await;
        let _second = limit.acquire(ADDRESS).await;
        let mut third = Box::pin(limit.acquire(ADDRESS));
        let mut fourth = Box::pin(limit.acquire(ADDRESS));
        assert!((&mut third).now_or_never().is_none());
        assert!((&mut fourth).now_or_never().is_none());
        assert!(
            limit
                .acquire(IpAddr::from([203, 0, 113, 10]))
                .now_or_never()
                .is_some()
        );
        drop(first);
        assert!(
            (&mut fourth).now_or_never().is_none(),
            "the third was there before"
        );
        assert!(third.now_or_never().is_some());
    }

    #[tokio::test]
    async fn what_has_nothing_under_way_is_forgotten() {
        let limit = AddressLimit::new(1);
        let permit = limit.acquire(ADDRESS).await;
        let mut waiting = Box::pin(limit.acquire(ADDRESS));
        assert!((&mut waiting).now_or_never().is_none());
        drop(permit);
        let permit = waiting.await;
        assert!(!limit.networks().is_empty());
        drop(permit);
        let given_up = {
            let _permit = limit.acquire(ADDRESS).await;
            limit.acquire(ADDRESS).now_or_never().is_none()
        };
        assert!(given_up && limit.networks().is_empty());
    }

    #[tokio::test]
    async fn one_customer_with_many_ipv6_addresses_has_one_limit() {
        let limit = AddressLimit::new(1);
        let host = |host: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, host]);
        let _permit = limit.acquire(host(1)).await;
        assert!(limit.acquire(host(2)).now_or_never().is_none());
    }

    #[test]
    fn who_does_not_wait_has_the_limit_and_no_more_until_one_ends_however_the_address_is_written() {
        let limit = AddressLimit::new(3);
        let mapped = IpAddr::from([0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7109]);
        let mut held: Vec<_> = [ADDRESS, mapped, ADDRESS, mapped, ADDRESS]
            .into_iter()
            .filter_map(|address| limit.try_acquire(address))
            .collect();
        assert_eq!(held.len(), 3);
        assert!(
            limit.try_acquire(IpAddr::from([203, 0, 113, 10])).is_some(),
            "another one"
        );
        held.pop();
        assert!(limit.try_acquire(mapped).is_some());
        drop(held);
        assert!(limit.networks().is_empty(), "who has none is forgotten");
    }
}
