//! PROXY protocol, version 2: connections through a load balancer that tells whose they are.

use std::{net::Ipv4Addr, num::NonZeroUsize, time::Duration};

use bytes::{BufMut, Bytes};
use http::Request;
use site_service::http::{Limits, ProxyProtocolSettings};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    clients::{connect_from, read_to_end, say},
    http_server::{DEADLINES, SOON, Server},
};

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2, and the command.
const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;
/// Families and protocols.
const UNSPEC: u8 = 0x00;
const TCP_OVER_IPV4: u8 = 0x11;
const UDP_OVER_IPV4: u8 = 0x12;
const TCP_OVER_IPV6: u8 = 0x21;
const UNIX_STREAM: u8 = 0x31;
/// 203.0.113.9, 10.0.0.1, and their ports.
const IPV4: &[u8] = b"\xcb\x00\x71\x09\x0a\x00\x00\x01\x13\x88\x01\xbb";
/// An extension that carries nothing (NOOP).
const TLV: &[u8] = b"\x04\x00\x03xyz";
const GET: &[u8] = b"GET /client HTTP/1.1\r\nHost: site\r\nConnection: close\r\n\r\n";
const VISITOR: &str = "203.0.113.9:5000";

fn header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let mut header = SIGNATURE.to_vec();
    header.put_u8(command);
    header.put_u8(family);
    header.put_u16(u16::try_from(rest.len()).expect("it fits"));
    header.put_slice(rest);
    header
}

fn of_visitor(host: u8) -> Vec<u8> {
    let mut addresses = IPV4.to_vec();
    addresses[3] = host;
    header(PROXY, TCP_OVER_IPV4, &addresses)
}

fn ipv6() -> Vec<u8> {
    let mut addresses = vec![0x20, 0x01, 0x0d, 0xb8];
    addresses.resize(32, 1);
    addresses.extend(b"\x13\x88\x01\xbb");
    addresses
}

/// A server behind a load balancer at 127.0.0.1.
async fn behind_proxy(limits: Limits) -> anyhow::Result<Server> {
    let networks = vec!["127.0.0.1/32".parse()?];
    Server::start_behind(ProxyProtocolSettings { networks }, limits).await
}

async fn impatient() -> anyhow::Result<Server> {
    behind_proxy(Limits {
        deadlines: DEADLINES,
        ..Limits::default()
    })
    .await
}

/// The client of whom the server speaks, after these words and a request.
async fn client_after(words: &[u8], server: &Server) -> anyhow::Result<String> {
    let mut stream = say(&[words, GET].concat(), server.address).await?;
    told_client(&mut stream).await
}

async fn told_client(stream: &mut TcpStream) -> anyhow::Result<String> {
    let (answer, _) = read_to_end(stream).await?;
    let answer = String::from_utf8(answer)?;
    anyhow::ensure!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let (_, body) = answer.rsplit_once("\r\n\r\n").unwrap_or_default();
    Ok(body.to_owned())
}

#[tokio::test]
async fn the_address_that_the_proxy_tells_is_the_clients() -> anyhow::Result<()> {
    let server = impatient().await?;
    let with_extensions = [IPV4, &TLV.repeat(100)].concat();
    for (header, visitor) in [
        (header(PROXY, TCP_OVER_IPV4, IPV4), VISITOR),
        (header(PROXY, TCP_OVER_IPV4, &with_extensions), VISITOR),
        (
            header(PROXY, TCP_OVER_IPV6, &ipv6()),
            "[2001:db8:101:101:101:101:101:101]:5000",
        ),
    ] {
        assert_eq!(client_after(&header, &server).await?, visitor);
    }
    Ok(())
}

#[tokio::test]
async fn a_header_may_come_in_pieces() -> anyhow::Result<()> {
    let server = impatient().await?;
    let mut stream = say(&[], server.address).await?;
    stream.set_nodelay(true)?;
    for byte in header(PROXY, TCP_OVER_IPV4, IPV4) {
        stream.write_all(&[byte]).await?;
        sleep(Duration::from_millis(2)).await;
    }
    stream.write_all(GET).await?;
    assert_eq!(told_client(&mut stream).await?, VISITOR);
    Ok(())
}

#[tokio::test]
async fn http_2_may_follow_it() -> anyhow::Result<()> {
    let server = impatient().await?;
    let stream = say(&header(PROXY, TCP_OVER_IPV4, IPV4), server.address).await?;
    let (requests, connection) = h2::client::handshake(stream).await?;
    let _connection = tokio::spawn(connection);
    let request = Request::get("http://site/client").body(())?;
    let (answer, _) = requests.ready().await?.send_request(request, true)?;
    let body = timeout(SOON, answer).await??.into_body().data().await;
    assert_eq!(body.transpose()?, Some(Bytes::from(VISITOR)));
    Ok(())
}

#[tokio::test]
async fn a_connection_of_the_proxys_own_has_the_proxys_address() -> anyhow::Result<()> {
    let server = impatient().await?;
    for health_check in [
        header(LOCAL, UNSPEC, &[]),
        header(LOCAL, UNSPEC, TLV),
        header(LOCAL, TCP_OVER_IPV4, IPV4),
    ] {
        let client = client_after(&health_check, &server).await?;
        assert!(client.starts_with("127.0.0.1:"), "{client}");
    }
    Ok(())
}

#[tokio::test]
async fn who_does_not_begin_with_a_header_that_tells_an_address_is_cut_off() -> anyhow::Result<()> {
    let server = impatient().await?;
    let mut another_version = header(PROXY, TCP_OVER_IPV4, IPV4);
    another_version[SIGNATURE.len()] = 0x11;
    let oversize = [IPV4, &TLV.repeat(1000)].concat();
    for (words, why) in [
        (Vec::new(), "a request alone"),
        (
            b"PROXY TCP4 203.0.113.9 10.0.0.1 5000 443\r\n".to_vec(),
            "version 1",
        ),
        (vec![b'x'; 5000], "garbage"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), "TLS"),
        (another_version, "another version"),
        (header(0x22, TCP_OVER_IPV4, IPV4), "an unknown command"),
        (header(PROXY, 0x41, IPV4), "an unknown family"),
        (header(PROXY, UDP_OVER_IPV4, IPV4), "datagrams"),
        (header(PROXY, UNIX_STREAM, &[b'/'; 216]), "a UNIX socket"),
        (header(PROXY, UNSPEC, &[]), "no address"),
        (header(PROXY, TCP_OVER_IPV4, &IPV4[..8]), "half an address"),
        (header(PROXY, TCP_OVER_IPV6, IPV4), "too little for its family"),
        (header(PROXY, TCP_OVER_IPV4, &oversize), "extensions without end"),
    ] {
        let mut stream = say(&[], server.address).await?;
        // It may be cut off before all is sent.
        let _sent = stream.write_all(&[&words, GET].concat()).await;
        let (answer, _) = read_to_end(&mut stream).await?;
        assert!(answer.is_empty(), "{why}: {}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(client_after(&of_visitor(9), &server).await?, VISITOR);
    Ok(())
}

#[tokio::test]
async fn a_header_that_does_not_end_in_time_is_cut_off() -> anyhow::Result<()> {
    let server = impatient().await?;
    let whole = header(PROXY, TCP_OVER_IPV4, IPV4);
    for truncated in [&whole[..0], &whole[..7], &whole[..16], &whole[..20]] {
        let (answer, took) = read_to_end(&mut say(truncated, server.address).await?).await?;
        assert!(answer.is_empty());
        assert!(took >= DEADLINES.head.mul_f32(0.9), "{took:?}");
    }
    let mut slow = say(&[], server.address).await?;
    let (mut reading, mut writing) = slow.split();
    let dawdling = async {
        for byte in header(PROXY, TCP_OVER_IPV4, &[IPV4, &TLV.repeat(100)].concat()) {
            if writing.write_all(&[byte]).await.is_err() {
                break;
            }
            sleep(DEADLINES.head / 10).await;
        }
        std::future::pending::<()>().await;
    };
    let mut read = Vec::new();
    tokio::select! {
        ended = timeout(SOON, reading.read_to_end(&mut read)) => drop(ended?),
        () = dawdling => {}
    }
    assert!(read.is_empty());
    Ok(())
}

#[tokio::test]
async fn who_is_no_proxy_is_cut_off_whatever_it_says() -> anyhow::Result<()> {
    let server = impatient().await?;
    let mut stream = connect_from(Ipv4Addr::new(127, 0, 0, 2), server.address).await?;
    // It may be cut off before all is sent.
    let _sent = stream.write_all(&[&of_visitor(9), GET].concat()).await;
    let (answer, _) = read_to_end(&mut stream).await?;
    assert!(answer.is_empty());
    Ok(())
}

#[tokio::test]
async fn each_visitor_behind_the_proxy_has_a_share_of_the_connections() -> anyhow::Result<()> {
    let server = behind_proxy(Limits {
        per_address: NonZeroUsize::new(1),
        ..Limits::default()
    })
    .await?;
    let mut held = say(&of_visitor(9), server.address).await?;
    held.write_all(b"GET / HTTP/1.1\r\nHost: site\r\n\r\n").await?;
    let read = timeout(SOON, held.read(&mut [0; 64])).await??;
    assert!(read > 0, "it is answered, so it counts");
    assert!(client_after(&of_visitor(9), &server).await.is_err());
    assert_eq!(client_after(&of_visitor(10), &server).await?, "203.0.113.10:5000");
    Ok(())
}

#[tokio::test]
async fn without_the_setting_a_header_is_no_request() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    let mut stream = say(&[], server.address).await?;
    let _sent = stream.write_all(&[&of_visitor(9), GET].concat()).await;
    let (answer, _) = read_to_end(&mut stream).await?;
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 "),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    Ok(())
}
