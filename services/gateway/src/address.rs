//! The visitor's address behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

/// The header to which each proxy appends the address it was called from.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address to hold a request against. Each trusted proxy appended one entry, so the
/// entry that the outermost of them wrote is counted from the right; what stands left of
/// it was written by the visitor and proves nothing.
pub fn visitor_address(headers: &HeaderMap, peer: SocketAddr, trusted_proxies: usize) -> IpAddr {
    let entries: Vec<&str> = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let written_by_outermost = match trusted_proxies {
        0 => None,
        n => entries
            .len()
            .checked_sub(n)
            .or((!entries.is_empty()).then_some(0)),
    };
    written_by_outermost
        .and_then(|index| entries.get(index))
        .and_then(|entry| parse(entry))
        .unwrap_or(peer.ip())
        .to_canonical()
}

/// An entry may carry a port.
fn parse(entry: &str) -> Option<IpAddr> {
    let address = entry.parse().ok();
    address.or_else(|| entry.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn seen(forwarded: &[&'static str], trusted_proxies: usize) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        let peer = SocketAddr::from(([10, 0, 0, 1], 4711));
        visitor_address(&headers, peer, trusted_proxies).to_string()
    }

    #[test]
    fn without_trusted_proxies_the_header_means_nothing() {
        assert_eq!(seen(&["203.0.113.9"], 0), "10.0.0.1");
    }

    #[test]
    fn a_forged_entry_left_of_the_proxies_own_means_nothing() {
        assert_eq!(seen(&["198.51.100.1, 203.0.113.9"], 1), "203.0.113.9");
        assert_eq!(seen(&["198.51.100.1", "203.0.113.9, 10.0.0.2"], 2), "203.0.113.9");
    }

    #[test]
    fn ports_and_garbage_are_understood() {
        assert_eq!(seen(&["[2001:db8::1]:80"], 1), "2001:db8::1");
        assert_eq!(seen(&["unknown"], 1), "10.0.0.1");
        assert_eq!(seen(&[], 1), "10.0.0.1");
    }
}
