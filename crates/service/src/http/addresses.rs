//! Connections by address: nobody may hold more than a share of them.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Open connections by address, where their number is limited.
#[derive(Debug, Clone)]
pub(super) struct Addresses {
    limit: Option<NonZeroUsize>,
    open: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl Addresses {
    /// No more than `limit` for each address, or as many as anybody likes.
    pub fn new(limit: Option<NonZeroUsize>) -> Self {
        Self {
            limit,
            open: Arc::default(),
        }
    }

    /// Counts a connection of this address, or says that it has its share already.
    pub fn admit(&self, address: IpAddr) -> Option<Admitted> {
        let address = customer(address);
        let limit = self.limit.map_or(usize::MAX, NonZeroUsize::get);
        let mut open = self.open();
        let count = open.entry(address).or_default();
        if *count >= limit {
            return None;
        }
        *count += 1;
        Some(Admitted {
            addresses: self.clone(),
            address,
        })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open connection; counted until it is dropped.
#[derive(Debug)]
pub(super) struct Admitted {
    addresses: Addresses,
    address: IpAddr,
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.addresses.open();
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// An IPv4 address, or an IPv6 /64: what one customer gets.
fn customer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 3;
    const ADDRESS: [u8; 4] = [203, 0, 113, 9];

    fn addresses() -> Addresses {
        Addresses::new(NonZeroUsize::new(LIMIT))
    }

    #[test]
    fn an_address_has_its_share_and_no_more_until_one_ends() {
        let addresses = addresses();
        let admit = || addresses.admit(ADDRESS.into());
        let mut held: Vec<_> = (0..LIMIT).filter_map(|_| admit()).collect();
        assert_eq!(held.len(), LIMIT);
        assert!(admit().is_none());
        assert!(addresses.admit([203, 0, 113, 10].into()).is_some(), "another one");
        held.pop();
        assert!(admit().is_some());
    }

    #[test]
    fn what_one_customer_has_is_one_address() {
        let addresses = addresses();
        let customer = |host: u16| addresses.admit([0x2001, 0xdb8, 0, 1, 0, 0, 0, host].into());
        let held: Vec<_> = (0..10).filter_map(customer).collect();
        assert_eq!(held.len(), LIMIT);
        let mapped = IpAddr::from([0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7109]);
        let mapped: Vec<_> = (0..10).filter_map(|_| addresses.admit(mapped)).collect();
        assert_eq!(mapped.len(), LIMIT);
        assert!(addresses.admit(ADDRESS.into()).is_none());
    }

    #[test]
    fn an_address_without_connections_is_forgotten() {
        let addresses = addresses();
        drop(addresses.admit(ADDRESS.into()));
        assert!(addresses.open().is_empty());
    }
}
