//! The visitor's address behind trusted proxies.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;

/// The header to which each proxy appends the address it was called from.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The address to hold a request against. Each trusted proxy appended one entry, so the
/// entry that the outermost of them wrote is counted from the right; what stands left of
/// it was written by the visitor and proves nothing.
///
/// Where there are fewer entries, or it is no address, nobody who is believed said anything: it is the peer's own.
pub fn visitor_address(headers: &HeaderMap, peer: SocketAddr, trusted_proxies: usize) -> IpAddr {
    told_by_proxies(headers, trusted_proxies)
        .unwrap_or(peer.ip())
        .to_canonical()
}

fn told_by_proxies(headers: &HeaderMap, trusted_proxies: usize) -> Option<IpAddr> {
    // A header that comes several times is one list, and an empty element counts for nothing (RFC 9110, 5.3 and 5.6.1).
    let values = headers.get_all(FORWARDED_FOR).iter();
    let entries: Vec<&[u8]> = values
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|entry| !entry.is_empty())
        .collect();
    let entry = entries.get(entries.len().checked_sub(trusted_proxies)?)?;
    parse(str::from_utf8(entry).ok()?)
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

    fn seen(forwarded: &[&str], trusted_proxies: usize) -> String {
        let lines: Vec<&[u8]> = forwarded.iter().map(|line| line.as_bytes()).collect();
        seen_in(&lines, trusted_proxies)
    }

    fn seen_in(lines: &[&[u8]], trusted_proxies: usize) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            let line = HeaderValue::from_bytes(line).expect("a value of a header");
            headers.append(FORWARDED_FOR, line);
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
    fn with_fewer_entries_than_proxies_it_is_the_peers_own_address() {
        assert_eq!(seen(&["198.51.100.1"], 2), "10.0.0.1");
        assert_eq!(seen(&["198.51.100.1", " , ,"], 2), "10.0.0.1");
    }

    #[test]
    fn a_line_with_bytes_that_are_no_text_is_counted_all_the_same() {
        let lines = [&b"198.51.100.1"[..], b"\xff, 203.0.113.9"];
        assert_eq!(seen_in(&lines, 1), "203.0.113.9");
        assert_eq!(seen_in(&lines, 2), "10.0.0.1");
        assert_eq!(seen_in(&lines, 3), "198.51.100.1");
    }

    #[test]
    fn ports_and_garbage_are_understood() {
        assert_eq!(seen(&["[2001:db8::1]:80"], 1), "2001:db8::1");
        assert_eq!(seen(&["unknown"], 1), "10.0.0.1");
        assert_eq!(seen(&[], 1), "10.0.0.1");
    }
}
