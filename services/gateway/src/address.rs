//! The visitor's address behind trusted proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use clap::ValueEnum;
use http::{HeaderMap, HeaderName, header};

use crate::forwarded;

/// The header to which each proxy appends the address that it was called from.
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header in which the proxies in front of us tell by whom they were called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ForwardedHeader {
    /// What most proxies write: addresses, divided by commas
    XForwardedFor,
    /// The standard's (RFC 7239)
    Forwarded,
}

/// The proxies in front of us that are believed about the visitor's address.
#[derive(Debug, Clone, Copy)]
pub struct TrustedProxies {
    pub count: usize,
    pub header: ForwardedHeader,
}

/// The address to hold a request against, among its extensions.
#[derive(Debug, Clone, Copy)]
pub struct VisitorAddress(pub IpAddr);

impl TrustedProxies {
    /// The address to hold a request against. Each trusted proxy appended one entry, so the entry that the outermost of them wrote
    /// is counted from the right; what stands left of it was written by the visitor and proves nothing.
    ///
    /// Where there are fewer entries, or it is no address, nobody who is believed said anything, and it is the peer's own.
    pub fn visitor_address(self, headers: &HeaderMap, peer: SocketAddr) -> IpAddr {
        let told = match self.header {
            ForwardedHeader::XForwardedFor => self.of_x_forwarded_for(headers),
            ForwardedHeader::Forwarded => self.of_forwarded(headers),
        };
        told.unwrap_or(peer.ip()).to_canonical()
    }

    fn of_x_forwarded_for(self, headers: &HeaderMap) -> Option<IpAddr> {
        // A header that comes several times is one list, and an empty element counts for nothing (RFC 9110, 5.3 and 5.6.1).
        let values = headers.get_all(X_FORWARDED_FOR).iter();
        let entries = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
        let entries: Vec<&[u8]> = entries
            .map(<[u8]>::trim_ascii)
            .filter(|entry| !entry.is_empty())
            .collect();
        let entry = entries.get(entries.len().checked_sub(self.count)?)?;
        parse(str::from_utf8(entry).ok()?)
    }

    fn of_forwarded(self, headers: &HeaderMap) -> Option<IpAddr> {
        let values = headers.get_all(header::FORWARDED).iter();
        let list = values
            .map(|value| value.as_bytes())
            .collect::<Vec<_>>()
            .join(&b',');
        let nodes = forwarded::nodes(&list)?;
        let node = nodes.get(nodes.len().checked_sub(self.count)?)?;
        parse(node.as_deref()?)
    }
}

/// An address may stand in brackets and carry a port, or a name in its place (RFC 7239, 6).
fn parse(entry: &str) -> Option<IpAddr> {
    if let Ok(address) = entry.parse() {
        return Some(address);
    }
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) if !entry.ends_with(']') => (host, port),
        _ => (entry, "0"),
    };
    if port.parse::<u16>().is_err() && !port.starts_with('_') {
        return None;
    }
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(v6) => v6.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => host.parse().ok().filter(IpAddr::is_ipv4),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const PEER: &str = "10.0.0.1";

    fn peer() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 4711))
    }

    fn seen_in(header: ForwardedHeader, lines: &[&[u8]], count: usize) -> String {
        let name = match header {
            ForwardedHeader::XForwardedFor => X_FORWARDED_FOR,
            ForwardedHeader::Forwarded => header::FORWARDED,
        };
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(&name, HeaderValue::from_bytes(line).expect("a value of a header"));
        }
        let proxies = TrustedProxies { count, header };
        proxies.visitor_address(&headers, peer()).to_string()
    }

    fn seen(lines: &[&str], count: usize) -> String {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        seen_in(ForwardedHeader::XForwardedFor, &lines, count)
    }

    #[test]
    fn without_trusted_proxies_the_header_means_nothing() {
        assert_eq!(seen(&["203.0.113.9"], 0), PEER);
    }

    #[test]
    fn a_forged_entry_left_of_the_proxies_own_means_nothing() {
        assert_eq!(seen(&["198.51.100.1, 203.0.113.9"], 1), "203.0.113.9");
        assert_eq!(seen(&["198.51.100.1", "203.0.113.9, 10.0.0.2"], 2), "203.0.113.9");
    }

    #[test]
    fn with_fewer_entries_than_proxies_it_is_the_peers_own_address() {
        assert_eq!(seen(&[], 1), PEER);
        assert_eq!(seen(&["198.51.100.1"], 2), PEER);
        assert_eq!(seen(&["198.51.100.1", " , ,"], 2), PEER);
    }

    #[test]
    fn an_entry_that_is_no_address_is_nobodys() {
        for entry in [
            "unknown",
            "_hidden",
            "203.0.113.9 203.0.113.10",
            "203.0.113.9:http",
            "[203.0.113.9]",
        ] {
            assert_eq!(seen(&["198.51.100.1", entry], 1), PEER, "{entry}");
        }
    }

    #[test]
    fn a_line_with_bytes_that_are_no_text_is_counted_all_the_same() {
        let lines = [&b"198.51.100.1"[..], b"\xff, 203.0.113.9"];
        let of = |count| seen_in(ForwardedHeader::XForwardedFor, &lines, count);
        assert_eq!(of(1), "203.0.113.9");
        assert_eq!(of(2), PEER);
        assert_eq!(of(3), "198.51.100.1");
    }

    #[test]
    fn ports_and_brackets_are_understood() {
        for (entry, address) in [
            ("203.0.113.9:80", "203.0.113.9"),
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:_port", "2001:db8::1"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
        ] {
            assert_eq!(seen(&[entry], 1), address, "{entry}");
        }
    }

    #[test]
    fn the_standards_header_is_believed_where_the_setting_says_so_and_then_alone() {
        let forwarded = |list: &str, count| seen_in(ForwardedHeader::Forwarded, &[list.as_bytes()], count);
        assert_eq!(
            forwarded("for=198.51.100.1, for=203.0.113.9;proto=https", 1),
            "203.0.113.9"
        );
        assert_eq!(
            forwarded("for=\"[2001:db8::1]:80\", for=10.0.0.2", 2),
            "2001:db8::1"
        );
        for silent in ["for=_hidden", "proto=https", "for=\"203.0.113.9", ""] {
            assert_eq!(forwarded(silent, 1), PEER, "{silent}");
        }
        let mut headers = HeaderMap::new();
        headers.append(X_FORWARDED_FOR, HeaderValue::from_static("198.51.100.1"));
        let header = ForwardedHeader::Forwarded;
        let proxies = TrustedProxies { count: 1, header };
        assert_eq!(proxies.visitor_address(&headers, peer()).to_string(), PEER);
    }

    /// What a visitor may write: anything that a header can hold, and what comes close to what proxies write.
    fn visitors_lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
        let bytes = proptest::collection::vec(prop_oneof![32..=126_u8, 128..=255_u8, Just(b'\t')], 0..60);
        let close = "((for=|host=|x=)?[\"\\\\]?(6\\.6\\.6\\.6|\\[::6\\])?[,;\"\\\\ ]?){0,6}";
        let line = prop_oneof![bytes, close.prop_map(String::into_bytes)];
        proptest::collection::vec(line, 0..4)
    }

    /// What an honest proxy appends: to the last line, or as a line of its own.
    fn append(lines: &mut Vec<Vec<u8>>, entry: &str, joins: bool) {
        match lines.last_mut().filter(|_| joins) {
            Some(line) => line.extend([b", ", entry.as_bytes()].concat()),
            None => lines.push(entry.into()),
        }
    }

    fn seen_of(header: ForwardedHeader, lines: &[Vec<u8>], count: usize) -> String {
        let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
        seen_in(header, &lines, count)
    }

    /// The address of the visitor and of each proxy but the innermost, which is the peer.
    fn callers() -> impl Strategy<Value = Vec<(IpAddr, bool)>> {
        proptest::collection::vec(any::<(IpAddr, bool)>(), 1..4)
    }

    proptest! {
        #[test]
        fn behind_honest_proxies_nobody_chooses_an_address(mut lines in visitors_lines(), callers in callers()) {
            for (caller, joins) in &callers {
                append(&mut lines, &caller.to_string(), *joins);
            }
            let visitor = callers[0].0.to_canonical().to_string();
            let seen = seen_of(ForwardedHeader::XForwardedFor, &lines, callers.len());
            prop_assert_eq!(seen, visitor);
        }

        #[test]
        fn nor_by_the_standards_header(mut lines in visitors_lines(), callers in callers(), host in "[ -~]{0,20}") {
            let host = host.replace('\\', "\\\\").replace('"', "\\\"");
            for (caller, joins) in &callers {
                let node = SocketAddr::new(*caller, 80);
                append(&mut lines, &format!("for=\"{node}\";host=\"{host}\";proto=https"), *joins);
            }
            let visitor = callers[0].0.to_canonical().to_string();
            let seen = seen_of(ForwardedHeader::Forwarded, &lines, callers.len());
            prop_assert!(seen == visitor || seen == PEER, "{}", seen);
        }

        #[test]
        fn with_fewer_entries_than_proxies_nobody_is_believed(lines in visitors_lines()) {
            for header in [ForwardedHeader::XForwardedFor, ForwardedHeader::Forwarded] {
                prop_assert_eq!(seen_of(header, &lines, 1000), PEER);
            }
        }
    }
}
