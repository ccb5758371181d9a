//! HTTP/1.1: silent connections, oversized heads and the drain.

use std::net::Ipv4Addr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::{
    clients::{connect_from, read_to_end, say},
    http_server::{SILENCE, SOON, Server},
};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: site\r\n\r\n";

/// Reads the answer and leaves the connection open.
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
    let server = Server::start().await?;
    // The second could still become the HTTP/2 preface.
    for words in [&b""[..], b"PRI * HT"] {
        let (read, took) = read_to_end(&mut say(words, server.address).await?).await?;
        assert!(read.is_empty());
        assert!(took >= SILENCE.mul_f32(0.9), "{took:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_request_whose_headers_do_not_end_is_cut_off() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let mut stream = say(b"GET / HTTP/1.1\r\nHost: site\r\n", server.address).await?;
    let (mut reading, mut writing) = stream.split();
    let dawdling = async {
        while writing.write_all(b"X-Slow: 1\r\n").await.is_ok() {
            sleep(SILENCE / 10).await;
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
    let server = Server::start().await?;
    let mut stream = say(GET, server.address).await?;
    answer(&mut stream).await?;
    let (read, took) = read_to_end(&mut stream).await?;
    assert!(read.is_empty());
    assert!(took >= SILENCE.mul_f32(0.9), "{took:?}");
    Ok(())
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let large = format!(
        "GET / HTTP/1.1\r\nHost: site\r\nX-Large: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    let mut stream = connect_from(Ipv4Addr::LOCALHOST, server.address).await?;
    // The server may refuse before all is sent.
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
async fn who_has_connected_by_a_stop_is_answered_and_then_nobody() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let address = server.address;
    let mut asked = say(GET, address).await?;
    answer(&mut asked).await?;
    let mut new = connect_from(Ipv4Addr::LOCALHOST, address).await?;
    drop(server.running);
    new.write_all(GET).await?;
    let (read, _) = read_to_end(&mut new).await?;
    assert!(read.ends_with(b"hello"), "{}", String::from_utf8_lossy(&read));
    let (read, _) = read_to_end(&mut asked).await?;
    assert!(read.is_empty());
    assert!(connect_from(Ipv4Addr::LOCALHOST, address).await.is_err());
    Ok(())
}
