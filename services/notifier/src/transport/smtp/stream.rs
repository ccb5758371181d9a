//! The stream to the mail server. The system asks the server's host now and then whether it still knows of it: one that was
//! started anew does not, and would leave us waiting for an answer, ten minutes on each connection.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use lettre::transport::smtp::client::AsyncTokioStream;
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, pki_types::ServerName},
};

/// A host that was started anew is found within half a minute, and one that is gone within a minute.
const KEEPALIVE: TcpKeepalive = TcpKeepalive::new()
    .with_time(Duration::from_secs(30))
    .with_interval(Duration::from_secs(10))
    .with_retries(3);

/// The most that a server may say before it is told something again. lettre reads a line whole, however long it is; RFC 5321 (4.5.3.1.5)
/// lets one have 512 bytes, and what a server can do or a certificate chain takes some kilobytes.
const MAX_SAID_BYTES: usize = 64 * 1024;

/// Connects to the first of the host's addresses that is reached, each within this time, and encrypts from the start where
/// there is a configuration for that (RFC 8314), in whatever time the caller has.
///
/// # Errors
///
/// If the host has no address, none is reached, or its certificate is not trusted.
pub async fn connect(
    host: &str,
    port: u16,
    within: Duration,
    tls: Option<Arc<ClientConfig>>,
) -> io::Result<Box<dyn AsyncTokioStream>> {
    let tcp = connect_tcp(host, port, within).await?;
    SockRef::from(&tcp).set_tcp_keepalive(&KEEPALIVE)?;
    let tcp = Prompt { tcp, said: 0 };
    let Some(tls) = tls else {
        return Ok(Box::new(tcp));
    };
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok(Box::new(Encrypted(
        TlsConnector::from(tls).connect(name, tcp).await?,
    )))
}

async fn connect_tcp(host: &str, port: u16, within: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in lookup_host((host, port)).await? {
        match timeout(within, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failed = error,
            Err(late) => failed = late.into(),
        }
    }
    Err(failed)
}

/// A stream that acknowledges at once what comes. A server that answers several commands one by one has the second answer kept back by its
/// system until ours acknowledged the first, for which that would take 40 ms. It falls back by itself, so it is told each time.
/// Whoever says more than is listened to is heard no further.
#[derive(Debug)]
struct Prompt {
    tcp: TcpStream,
    /// How many bytes came since we said something.
    said: usize,
}

impl Prompt {
    fn acknowledge_at_once<T>(&self, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            // Where the system refuses it, it is slower and as right.
            let _refused = self.tcp.set_quickack(true);
        }
        done
    }
}

impl AsyncTokioStream for Prompt {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.tcp.peer_addr()
    }
}

impl AsyncRead for Prompt {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.said > MAX_SAID_BYTES {
            let without_end =
                io::Error::new(io::ErrorKind::InvalidData, "the mail server's answer has no end");
            return Poll::Ready(Err(without_end));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.tcp).poll_read(context, buffer);
        self.said += buffer.filled().len() - before;
        self.acknowledge_at_once(read)
    }
}

impl AsyncWrite for Prompt {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.said = 0;
        let written = Pin::new(&mut self.tcp).poll_write(context, bytes);
        self.acknowledge_at_once(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}

/// A stream that is encrypted from the start.
#[derive(Debug)]
struct Encrypted(TlsStream<Prompt>);

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get_ref().0.tcp.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use lettre::transport::smtp::extension::ClientId;
    use tokio::{io::AsyncWriteExt, net::TcpListener};

    use super::*;
    use crate::transport::smtp::transaction::Connection;

    #[tokio::test]
    async fn the_system_asks_a_silent_host_whether_it_is_still_there() -> io::Result<()> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let stream = connect("127.0.0.1", port, Duration::from_secs(1), None).await?;
        let ours = stream.peer_addr()?;
        assert_eq!(ours.port(), port);
        let sockets = std::fs::read_to_string("/proc/net/tcp")?;
        // The remote address of our side, and behind it the timer: 02 is keepalive (proc_net_tcp in the kernel's documentation).
        let remote = format!("0100007F:{port:04X}");
        let timer = sockets.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            (fields.get(2) == Some(&remote.as_str())).then(|| fields[5].to_owned())
        });
        assert!(
            timer.as_deref().is_some_and(|timer| timer.starts_with("02:")),
            "{timer:?}"
        );
        Ok(())
    }

    #[tokio::test]
    async fn a_server_whose_answer_has_no_end_is_heard_no_further() -> anyhow::Result<()> {
        const PIECE: usize = 64 * 1024;
        const PIECES: usize = 1024;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let server = async {
            let (mut client, _) = listener.accept().await?;
            let mut said = 0;
            while said < PIECES && client.write_all(&[b'2'; PIECE]).await.is_ok() {
                said += 1;
            }
            io::Result::Ok(said)
        };
        let client = async {
            let stream = connect("127.0.0.1", port, Duration::from_secs(1), None).await?;
            let hello = ClientId::Domain("us.example".into());
            let greeted = Connection::greet(stream, &hello, None).await;
            io::Result::Ok(greeted.is_ok())
        };
        let (said, is_greeted) = tokio::try_join!(server, client)?;
        assert!(!is_greeted);
        // What both systems hold between them comes on top.
        assert!(said < PIECES / 2, "{said} pieces");
        Ok(())
    }

    #[tokio::test]
    async fn a_host_without_a_listener_is_told() {
        let refused = connect("127.0.0.1", 1, Duration::from_secs(1), None).await;
        let kind = refused.err().map(|error| error.kind());
        assert_eq!(kind, Some(io::ErrorKind::ConnectionRefused));
    }
}
