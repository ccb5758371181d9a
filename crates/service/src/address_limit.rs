//! How limits by address count visitors.

use std::net::{IpAddr, Ipv6Addr};

/// A visitor's network: an IPv4 address, or a customer's /64 of IPv6.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_with_many_addresses_or_spellings_is_one_visitor() {
        let host = |host: u16| network(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, host]));
        assert_eq!(host(1), host(2));
        let other = IpAddr::from([0x2001, 0xdb8, 0, 2, 0, 0, 0, 1]);
        assert_ne!(host(1), network(other));
        let mapped = IpAddr::from([0, 0, 0, 0, 0, 0xffff, 0xcb00, 0x7109]);
        assert_eq!(network(mapped), IpAddr::from([203, 0, 113, 9]));
    }
}
