//! Visitor's address: the peer of the connection, or the address that our proxy reports in a header.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use clap::ValueEnum;
use http::HeaderMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AddressSource {
    /// The address of the connection, if no proxy is in front of the gateway
    Connection,
    /// The last entry of `X-Forwarded-For`, which the proxy appends; the visitor may have written the other entries
    XForwardedFor,
    /// The header `X-Real-IP`, which nginx sets; the proxy must replace a header that the visitor sends
    XRealIp,
    /// The header `X-Envoy-External-Address`; Envoy sets it, and knows how many proxies are in front of it
    XEnvoyExternalAddress,
}

/// Request extension: the visitor's address, which rate limits count by.
#[derive(Debug, Clone, Copy)]
pub struct VisitorAddress(pub IpAddr);

impl AddressSource {
    /// Returns the peer's address if the header is missing or invalid.
    pub fn visitor_address(self, headers: &HeaderMap, peer: SocketAddr) -> IpAddr {
        let reported = match self {
            Self::Connection => None,
            Self::XForwardedFor => client_ip::rightmost_x_forwarded_for(headers).ok(),
            Self::XRealIp => client_ip::x_real_ip(headers).ok(),
            Self::XEnvoyExternalAddress => client_ip::x_envoy_external_address(headers).ok(),
        };
        reported.unwrap_or(peer.ip()).to_canonical()
    }
}

/// Returns the visitor's network: the IPv4 address itself, or the IPv6 /64, which belongs to one customer.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.into(),
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    const PEER: &str = "10.0.0.1";

    fn seen(source: AddressSource, name: &'static str, lines: &[&'static str]) -> String {
        let name = HeaderName::from_static(name);
        let lines = lines
            .iter()
            .map(|line| (name.clone(), HeaderValue::from_static(line)));
        let peer = SocketAddr::from(([10, 0, 0, 1], 4711));
        source.visitor_address(&lines.collect(), peer).to_string()
    }

    #[test]
    fn a_header_that_the_setting_does_not_name_is_ignored() {
        for (source, name) in [
            (AddressSource::Connection, "x-forwarded-for"),
            (AddressSource::Connection, "x-real-ip"),
            (AddressSource::Connection, "x-envoy-external-address"),
            (AddressSource::Connection, "forwarded"),
            (AddressSource::XRealIp, "x-forwarded-for"),
            (AddressSource::XForwardedFor, "x-real-ip"),
        ] {
            assert_eq!(seen(source, name, &["203.0.113.9"]), PEER, "{source:?} {name}");
        }
    }

    #[test]
    fn only_the_proxys_forwarded_entry_counts() {
        for (lines, expected) in [
            (&["198.51.100.1, 203.0.113.9"][..], "203.0.113.9"),
            (&["198.51.100.1", "2001:db8::1"], "2001:db8::1"),
            (&["::ffff:203.0.113.9"], "203.0.113.9"),
            (&[""], PEER),
            (&["unknown"], PEER),
            (&["203.0.113.9 203.0.113.10"], PEER),
            (&["198.51.100.1,"], PEER),
        ] {
            let seen = seen(AddressSource::XForwardedFor, "x-forwarded-for", lines);
            assert_eq!(seen, expected, "{lines:?}");
        }
        for (source, name) in [
            (AddressSource::XRealIp, "x-real-ip"),
            (AddressSource::XEnvoyExternalAddress, "x-envoy-external-address"),
        ] {
            assert_eq!(seen(source, name, &["203.0.113.9"]), "203.0.113.9");
            let twice = ["198.51.100.1", "203.0.113.9"];
            assert_eq!(seen(source, name, &twice), PEER, "the proxy did not replace it");
        }
    }

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
