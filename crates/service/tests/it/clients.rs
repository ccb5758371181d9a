//! Clients on a bare TCP connection.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use crate::http_server::SOON;

/// Small, so that the server notices a client that reads nothing.
const RECEIVE_BUFFER_BYTES: u32 = 16 * 1024;

pub async fn connect_from(from: Ipv4Addr, to: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    socket.bind((from, 0).into())?;
    Ok(socket.connect(to).await?)
}

pub async fn say(words: &[u8], to: SocketAddr) -> anyhow::Result<TcpStream> {
    let mut stream = connect_from(Ipv4Addr::LOCALHOST, to).await?;
    stream.write_all(words).await?;
    Ok(stream)
}

pub async fn read_to_end(stream: &mut TcpStream) -> anyhow::Result<(Vec<u8>, Duration)> {
    let started = Instant::now();
    let mut read = Vec::new();
    // A reset counts as an end.
    let _ended = timeout(SOON, stream.read_to_end(&mut read)).await?;
    Ok((read, started.elapsed()))
}
