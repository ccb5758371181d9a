//! Fuzz target: what stands at the beginning of a connection that a proxy passes on. How it is run: docs/testing.md.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use bolero::check;
use ipnet::IpNet;
use tokio::{
    io::AsyncReadExt,
    runtime::{Builder, Runtime},
};

use super::client_of;

const ITERATIONS: usize = 1000;
const DEADLINE: Duration = Duration::from_secs(10);
const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";
const PREFIX_BYTES: usize = 16;
/// The most that may stand behind the prefix.
const REST_BYTES: usize = 4096;

/// Whom the beginning of a connection from this peer names, and how many bytes of it were read.
fn named(runtime: &Runtime, peer: IpAddr, beginning: &[u8], cut: usize) -> (io::Result<SocketAddr>, usize) {
    let (first, second) = beginning.split_at(cut.min(beginning.len()));
    let mut stream = first.chain(second);
    let proxies = [IpNet::from(PROXY)];
    let peer = SocketAddr::new(peer, 4711);
    let client = runtime.block_on(client_of(&mut stream, peer, &proxies, DEADLINE));
    let (first, second) = stream.into_inner();
    (client, beginning.len() - first.len() - second.len())
}

/// The addresses that these bytes hold by the specification: of the source first, then of the destination, then the ports.
fn source(family: u8, rest: &[u8]) -> Option<SocketAddr> {
    let port = |at: usize| Some(u16::from_be_bytes(rest.get(at..at + 2)?.try_into().ok()?));
    match family {
        0x11 => {
            let address: [u8; 4] = rest.get(..4)?.try_into().ok()?;
            let _whole = rest.get(..12)?;
            Some(SocketAddr::new(Ipv4Addr::from(address).into(), port(8)?))
        }
        0x21 => {
            let address: [u8; 16] = rest.get(..16)?.try_into().ok()?;
            let _whole = rest.get(..36)?;
            Some(SocketAddr::new(Ipv6Addr::from(address).into(), port(32)?))
        }
        _ => None,
    }
}

/// Whom a header names by the specification, and its length; none where it is no header that may be taken.
fn specified(beginning: &[u8], peer: SocketAddr) -> Option<(SocketAddr, usize)> {
    let rest = beginning.strip_prefix(&SIGNATURE)?;
    let &[command, family, high, low] = rest.first_chunk()?;
    let length = usize::from(u16::from_be_bytes([high, low]));
    let rest = rest.get(4..4 + length).filter(|_| length <= REST_BYTES)?;
    let client = match command {
        0x20 => Some(peer),
        0x21 => source(family, rest),
        _ => None,
    };
    Some((client?, PREFIX_BYTES + length))
}

/// A header of version 2 for a TCP connection, with so much behind its addresses.
fn header(client: SocketAddr, more: &[u8]) -> Vec<u8> {
    let mut rest = Vec::new();
    let family = match client.ip() {
        IpAddr::V4(address) => {
            rest.extend([address.octets(), [10, 0, 0, 2]].concat());
            0x11
        }
        IpAddr::V6(address) => {
            rest.extend([address.octets(), [1; 16]].concat());
            0x21
        }
    };
    rest.extend(client.port().to_be_bytes());
    rest.extend([0x01, 0xbb]);
    rest.extend_from_slice(more);
    let length = u16::try_from(rest.len()).expect("it fits").to_be_bytes();
    [&SIGNATURE[..], &[0x21, family], &length, &rest].concat()
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().build().expect("a runtime")
}

/// The first byte says where the beginning is cut in two.
#[test]
fn whatever_a_connection_begins_with_it_names_the_client_that_the_specification_says_or_is_refused() {
    let runtime = runtime();
    check!(name = "proxy-headers")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let (&[cut], beginning) = input.split_first_chunk().unwrap_or((&[0], &[]));
            let cut = usize::from(cut);
            let peer = SocketAddr::new(PROXY, 4711);
            let (client, read) = named(&runtime, PROXY, beginning, cut);
            match (client, specified(beginning, peer)) {
                (Ok(client), Some((specified, length))) => assert_eq!((client, read), (specified, length)),
                (Ok(client), None) => panic!("{client} is taken for a client"),
                // A proxy's own connection may be refused: what it tells of addresses must be known, too.
                (Err(error), Some((client, _))) => assert_eq!(client, peer, "{error}"),
                (Err(_), None) => assert!(read <= PREFIX_BYTES + REST_BYTES),
            }
            let (refused, read) = named(&runtime, Ipv4Addr::LOCALHOST.into(), beginning, cut);
            assert!(
                refused.is_err() && read == 0,
                "whoever is no proxy is listened to"
            );

            let more = &beginning[..beginning.len().min(REST_BYTES - 64)];
            let octets: [u8; 16] = std::array::from_fn(|at| beginning.get(at).copied().unwrap_or_default());
            let [a, b, c, d, ..] = octets;
            for address in [IpAddr::from([a, b, c, d]), IpAddr::from(octets)] {
                let told = SocketAddr::new(address, u16::from_be_bytes([c, d]));
                let honest = header(told, more);
                let (client, read) = named(&runtime, PROXY, &[&honest, more].concat(), cut);
                assert_eq!(client.ok(), Some(told));
                assert_eq!(read, honest.len(), "of what follows the header something is read");
            }
        });
}
