//! Addresses that attackers and visitors come from.

use std::net::Ipv4Addr;

/// The nth of the addresses of this machine (RFC 1122, 3.2.1.3) that begin so.
pub fn address(second: u8, number: usize) -> Ipv4Addr {
    let [high, low] = u16::try_from(number % usize::from(u16::MAX))
        .unwrap_or_default()
        .to_be_bytes();
    Ipv4Addr::new(127, second, high, low)
}
