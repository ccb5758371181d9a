//! HTTP/1.1: silent connections, oversized heads and the drain.

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{sleep, timeout},
};

use crate::http_server::{SILENCE, SOON, Server, read_to_end};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: site\r\n\r\n";

/// Reads the answer and leaves the connection open.
async fn read_answer(stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut answer = Vec::new();
    while !answer.ends_with(b"hello") {
        let read = timeout(SOON, stream.read_buf(&mut answer)).await??;
        anyhow::ensure!(read > 0, "it ended after {} bytes", answer.len());
    }
    Ok(())
}

#[tokio::test]
async fn a_silent_connection_is_closed_before_and_after_a_request() -> anyhow::Result<()> {
    let server = Server::start().await?;
    // `PRI * HT` could still become the HTTP/2 preface.
    for (words, answer) in [(&b""[..], &b""[..]), (b"PRI * HT", b""), (GET, b"hello")] {
        let (read, took) = read_to_end(&mut server.say(words).await?).await?;
        assert!(read.ends_with(answer) && read.is_empty() == answer.is_empty());
        assert!(took >= SILENCE.mul_f32(0.9), "{took:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_request_whose_headers_do_not_end_is_cut_off() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let mut stream = server.say(b"GET / HTTP/1.1\r\nHost: site\r\n").await?;
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
async fn a_head_that_is_too_large_is_refused() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let large = "x".repeat(100_000);
    let large = format!("GET / HTTP/1.1\r\nHost: site\r\nX-Large: {large}\r\n\r\n");
    let mut stream = TcpStream::connect(server.address).await?;
    // The server can refuse before it has read the whole request.
    let _sent = stream.write_all(large.as_bytes()).await;
    let (read, _) = read_to_end(&mut stream).await?;
    let read = String::from_utf8_lossy(&read);
    assert!(read.is_empty() || read.starts_with("HTTP/1.1 431 "), "{read}");
    Ok(())
}

#[tokio::test]
async fn connected_clients_are_answered_at_a_stop_and_no_others() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let address = server.address;
    let mut asked = server.say(GET).await?;
    read_answer(&mut asked).await?;
    // A blocking call: the kernel has connected this client, and the server's runtime does not know it yet.
    let new = std::net::TcpStream::connect(address)?;
    drop(server.running);
    new.set_nonblocking(true)?;
    let mut new = TcpStream::from_std(new)?;
    new.write_all(GET).await?;
    let (read, _) = read_to_end(&mut new).await?;
    assert!(read.ends_with(b"hello"), "{}", String::from_utf8_lossy(&read));
    let (read, _) = read_to_end(&mut asked).await?;
    assert!(read.is_empty());
    assert!(TcpStream::connect(address).await.is_err());
    Ok(())
}
