//! HTTP/1.1: connections that stand still, and those that are too many.

use std::{net::Ipv4Addr, num::NonZeroUsize, time::Duration};

use site_service::http::Limits;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    clients::{connect_from, read_to_end, say},
    http_server::{DEADLINES, LARGE_BYTES, SOON, Server},
};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: site\r\n\r\n";
const GET_LARGE: &[u8] = b"GET /large HTTP/1.1\r\nHost: site\r\nConnection: close\r\n\r\n";

/// The first answer of a connection that stays open.
async fn answer(stream: &mut TcpStream) -> anyhow::Result<String> {
    let mut answer = String::new();
    let mut buffer = [0; 1024];
    while !answer.ends_with("hello") {
        let read = timeout(SOON, stream.read(&mut buffer)).await??;
        anyhow::ensure!(read > 0, "it ended after: {answer}");
        answer.push_str(std::str::from_utf8(&buffer[..read])?);
    }
    Ok(answer)
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    // Of the second it could still become HTTP/2.
    for words in [&b""[..], b"PRI * HT"] {
        let (read, took) = read_to_end(&mut say(words, server.address).await?).await?;
        assert!(read.is_empty());
        assert!(took >= DEADLINES.head.mul_f32(0.9), "{took:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_request_whose_headers_do_not_end_is_cut_off() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    let mut stream = say(b"GET / HTTP/1.1\r\nHost: site\r\n", server.address).await?;
    let (mut reading, mut writing) = stream.split();
    let dawdling = async {
        while writing.write_all(b"X-Slow: 1\r\n").await.is_ok() {
            sleep(DEADLINES.head / 10).await;
        }
    };
    let mut read = Vec::new();
    let ended = async { timeout(SOON, reading.read_to_end(&mut read)).await };
    tokio::select! {
        ended = ended => drop(ended?),
        () = dawdling => {}
    }
    Ok(())
}

#[tokio::test]
async fn a_connection_on_which_nothing_more_is_asked_is_closed() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    let mut stream = say(GET, server.address).await?;
    answer(&mut stream).await?;
    let (read, took) = read_to_end(&mut stream).await?;
    assert!(read.is_empty());
    assert!(took >= DEADLINES.head.mul_f32(0.9), "{took:?}");
    Ok(())
}

#[tokio::test]
async fn a_reader_who_takes_nothing_is_cut_off() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    let mut stream = say(GET_LARGE, server.address).await?;
    sleep(3 * DEADLINES.write).await;
    let (read, _) = read_to_end(&mut stream).await?;
    assert!(read.starts_with(b"HTTP/1.1 200 OK"));
    assert!(read.len() < LARGE_BYTES, "{}", read.len());
    Ok(())
}

#[tokio::test]
async fn a_slow_reader_gets_the_whole_answer() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    let mut stream = say(GET_LARGE, server.address).await?;
    let mut buffer = vec![0; LARGE_BYTES / 64];
    let mut received = 0;
    loop {
        let read = timeout(SOON, stream.read(&mut buffer)).await??;
        if read == 0 {
            break;
        }
        if received / buffer.len() < (received + read) / buffer.len() {
            // Three times as long as a reader may stand still.
            sleep(3 * DEADLINES.write / 64).await;
        }
        received += read;
    }
    assert!(received > LARGE_BYTES, "{received}");
    Ok(())
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() -> anyhow::Result<()> {
    let server = Server::impatient().await?;
    let large = format!(
        "GET / HTTP/1.1\r\nHost: site\r\nX-Large: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    let mut stream = connect_from(Ipv4Addr::LOCALHOST, server.address).await?;
    // It may be refused before it is sent.
    let _sent = stream.write_all(large.as_bytes()).await;
    let (read, _) = read_to_end(&mut stream).await?;
    assert!(
        read.is_empty() || read.starts_with(b"HTTP/1.1 431 "),
        "{}",
        String::from_utf8_lossy(&read)
    );
    Ok(())
}

#[tokio::test]
async fn one_address_has_its_share_of_the_connections_and_another_is_served() -> anyhow::Result<()> {
    const SHARE: usize = 3;
    const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
    let limits = Limits {
        per_address: NonZeroUsize::new(SHARE),
        ..Limits::default()
    };
    let server = Server::start(limits).await?;
    let mut held = Vec::new();
    for _ in 0..SHARE {
        let mut stream = say(GET, server.address).await?;
        answer(&mut stream).await?;
        held.push(stream);
    }
    let mut refused = connect_from(Ipv4Addr::LOCALHOST, server.address).await?;
    let (read, _) = read_to_end(&mut refused).await?;
    assert!(read.is_empty(), "{read:?}");

    let mut other = connect_from(OTHER, server.address).await?;
    other.write_all(GET).await?;
    answer(&mut other).await?;

    held.pop();
    let again = async || {
        let mut stream = say(GET, server.address).await?;
        answer(&mut stream).await
    };
    // The server may not have seen yet that it was closed.
    while again().await.is_err() {
        sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}
