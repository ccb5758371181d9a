//! What a visitor writes into the headers in which proxies tell his address.

use std::net::{IpAddr, SocketAddr};

use bolero::check;
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::address::{ForwardedHeader, TrustedProxies};

const ITERATIONS: usize = 1000;
const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PEER: [u8; 4] = [10, 0, 0, 1];
/// Whom honest proxies were called by: the visitor first.
const CALLERS: [&str; 3] = ["203.0.113.9", "2001:db8::1", "10.0.0.2"];

/// The header's lines: those of the visitor, and what so many honest proxies append, to the last line or as one of their own.
fn lines(visitors: &[u8], entries: &[String], joins: bool) -> Vec<Vec<u8>> {
    let is_sent = |line: &&[u8]| HeaderValue::from_bytes(line).is_ok();
    let lines = visitors.split(|byte| *byte == b'\n').filter(is_sent);
    let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    for entry in entries {
        match lines.last_mut().filter(|_| joins) {
            Some(line) => line.extend([b", ", entry.as_bytes()].concat()),
            None => lines.push(entry.clone().into()),
        }
    }
    lines
}

fn seen(header: ForwardedHeader, lines: &[Vec<u8>], count: usize) -> IpAddr {
    let name = match header {
        ForwardedHeader::XForwardedFor => X_FORWARDED_FOR,
        ForwardedHeader::Forwarded => header::FORWARDED,
    };
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(&name, HeaderValue::from_bytes(line).expect("it was looked at"));
    }
    TrustedProxies { count, header }.visitor_address(&headers, SocketAddr::from((PEER, 4711)))
}

#[test]
fn whatever_a_visitor_writes_the_address_he_is_held_against_is_none_of_his_choice() {
    check!(name = "addresses")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let (&[choice], visitors) = input.split_first_chunk().unwrap_or((&[0], input));
            let (count, joins) = (usize::from(choice % 4), choice & 4 == 0);
            let visitor: IpAddr = CALLERS[0].parse().expect("an address");
            let peer = IpAddr::from(PEER);
            let told = if count == 0 { peer } else { visitor };

            let entries: Vec<String> = CALLERS.into_iter().take(count).map(str::to_owned).collect();
            let x_forwarded_for = lines(visitors, &entries, joins);
            let header = ForwardedHeader::XForwardedFor;
            assert_eq!(seen(header, &x_forwarded_for, count), told);
            assert_eq!(
                seen(header, &x_forwarded_for, 1 << 20),
                peer,
                "with fewer entries"
            );

            let callers = CALLERS
                .into_iter()
                .take(count)
                .filter_map(|caller| caller.parse().ok());
            let entries: Vec<String> = callers
                .map(|caller| format!("for=\"{}\";proto=https", SocketAddr::new(caller, 80)))
                .collect();
            let forwarded = lines(visitors, &entries, joins);
            let header = ForwardedHeader::Forwarded;
            let seen_so = seen(header, &forwarded, count);
            assert!(seen_so == told || seen_so == peer, "{seen_so}");
            assert_eq!(seen(header, &forwarded, 1 << 20), peer, "with fewer entries");
        });
}
