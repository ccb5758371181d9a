//! Visitor's address: the peer of the connection, or what the proxy in front of us reports.

use std::net::{IpAddr, SocketAddr};

use clap::ValueEnum;
use http::HeaderMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AddressSource {
    /// The connection: visitors come without a proxy
    Connection,
    /// The last entry, which the proxy appends, whatever the visitor wrote before it
    XForwardedFor,
    /// The header as nginx and others set it: the proxy must replace a visitor's own
    XRealIp,
    /// The header as Envoy sets it, which knows how many proxies are before it
    XEnvoyExternalAddress,
}

/// Address that limits apply to, in the request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct VisitorAddress(pub IpAddr);

impl AddressSource {
    /// Falls back to the peer's address.
    pub fn visitor_address(self, headers: &HeaderMap, peer: SocketAddr) -> IpAddr {
        let told = match self {
            Self::Connection => None,
            Self::XForwardedFor => client_ip::rightmost_x_forwarded_for(headers).ok(),
            Self::XRealIp => client_ip::x_real_ip(headers).ok(),
            Self::XEnvoyExternalAddress => client_ip::x_envoy_external_address(headers).ok(),
        };
        told.unwrap_or(peer.ip()).to_canonical()
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    const PEER: &str = "10.0.0.1";

    fn seen(source: AddressSource, name: &'static str, lines: &[Vec<u8>]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            let value = HeaderValue::from_bytes(line).expect("a value of a header");
            headers.append(HeaderName::from_static(name), value);
        }
        let peer = SocketAddr::from(([10, 0, 0, 1], 4711));
        source.visitor_address(&headers, peer).to_string()
    }

    fn forwarded(lines: &[&str]) -> String {
        let lines: Vec<_> = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        seen(AddressSource::XForwardedFor, "x-forwarded-for", &lines)
    }

    #[test]
    fn a_header_that_the_setting_does_not_name_means_nothing() {
        let line = [b"203.0.113.9".to_vec()];
        for name in [
            "x-forwarded-for",
            "x-real-ip",
            "x-envoy-external-address",
            "forwarded",
        ] {
            assert_eq!(seen(AddressSource::Connection, name, &line), PEER, "{name}");
        }
        assert_eq!(seen(AddressSource::XRealIp, "x-forwarded-for", &line), PEER);
        assert_eq!(seen(AddressSource::XForwardedFor, "x-real-ip", &line), PEER);
    }

    #[test]
    fn the_proxys_word_is_taken_and_a_forged_entry_before_it_is_not() {
        assert_eq!(forwarded(&["198.51.100.1, 203.0.113.9"]), "203.0.113.9");
        assert_eq!(forwarded(&["198.51.100.1", "2001:db8::1"]), "2001:db8::1");
        assert_eq!(forwarded(&["::ffff:203.0.113.9"]), "203.0.113.9");
        let line = [b"203.0.113.9".to_vec()];
        for (source, name) in [
            (AddressSource::XRealIp, "x-real-ip"),
            (AddressSource::XEnvoyExternalAddress, "x-envoy-external-address"),
        ] {
            assert_eq!(seen(source, name, &line), "203.0.113.9");
            let twice = [b"198.51.100.1".to_vec(), line[0].clone()];
            assert_eq!(seen(source, name, &twice), PEER, "the proxy did not replace it");
        }
    }

    #[test]
    fn an_entry_that_is_no_address_is_nobodys() {
        for entry in ["", "unknown", "203.0.113.9 203.0.113.10", "198.51.100.1,"] {
            assert_eq!(forwarded(&[entry]), PEER, "{entry}");
        }
    }

    /// Arbitrary header values, and imitations of a proxy's.
    fn visitors_lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let bytes = proptest::collection::vec(prop_oneof![32..=126_u8, 128..=255_u8, Just(b'\t')], 0..60);
        let close = "([\"\\\\]?(6\\.6\\.6\\.6|\\[::6\\])?[,;\"\\\\ ]?){0,6}";
        let line = prop_oneof![bytes, close.prop_map(String::into_bytes)];
        proptest::collection::vec(line, 0..4)
    }

    proptest! {
        #[test]
        fn behind_a_proxy_nobody_chooses_an_address(
            mut lines in visitors_lines(),
            visitor in any::<IpAddr>(),
            joins in any::<bool>(),
        ) {
            let entry = visitor.to_string();
            match lines.last_mut().filter(|_| joins) {
                Some(line) => line.extend([b", ", entry.as_bytes()].concat()),
                None => lines.push(entry.into()),
            }
            let seen = seen(AddressSource::XForwardedFor, "x-forwarded-for", &lines);
            // Invalid bytes make the proxy's entry in the same line unreadable.
            prop_assert!(seen == visitor.to_canonical().to_string() || seen == PEER, "{}", seen);
        }
    }
}
