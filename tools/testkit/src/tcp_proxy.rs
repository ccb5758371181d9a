//! TCP proxy that simulates network failures.

use std::{
    convert::Infallible,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

const FREE_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Proxy on 127.0.0.1. Dropping it closes all connections.
pub struct TcpProxy {
    /// Port.
    pub port: u16,
    cut: watch::Sender<bool>,
    _running: DropGuard,
}

impl TcpProxy {
    /// Starts a proxy to this port.
    pub async fn start(to: u16) -> anyhow::Result<Self> {
        Self::start_at(FREE_PORT, None, to).await
    }

    /// Same as [`Self::start`], with TLS for clients.
    pub async fn start_encrypted(tls: TlsAcceptor, to: u16) -> anyhow::Result<Self> {
        Self::start_at(FREE_PORT, Some(tls), to).await
    }

    /// Starts a proxy on this address, with TLS for clients if `tls` is set.
    pub async fn start_at(address: SocketAddr, tls: Option<TlsAcceptor>, to: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let port = listener.local_addr()?.port();
        let (cut, is_cut) = watch::channel(false);
        let stop = CancellationToken::new();
        let serving = serve(listener, tls, to, is_cut);
        tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        Ok(Self {
            port,
            cut,
            _running: stop.drop_guard(),
        })
    }

    /// Closes all connections, and each new one at once.
    pub fn cut(&self) {
        self.cut.send_replace(true);
    }

    /// Lets connections through again.
    pub fn restore(&self) {
        self.cut.send_replace(false);
    }

    /// Whether the proxy is cut.
    pub fn is_cut(&self) -> bool {
        *self.cut.borrow()
    }
}

async fn serve(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    to: u16,
    is_cut: watch::Receiver<bool>,
) -> Infallible {
    let mut connections = JoinSet::new();
    loop {
        if let Ok((client, _)) = listener.accept().await {
            let (tls, mut is_cut) = (tls.clone(), is_cut.clone());
            connections.spawn(async move {
                tokio::select! {
                    biased;
                    _cut = is_cut.wait_for(|is_cut| *is_cut) => {}
                    _ended = forward(client, tls, to) => {}
                }
            });
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn forward(mut client: TcpStream, tls: Option<TlsAcceptor>, to: u16) -> std::io::Result<(u64, u64)> {
    let mut server = TcpStream::connect(("127.0.0.1", to)).await?;
    match tls {
        None => copy_bidirectional(&mut client, &mut server).await,
        Some(tls) => copy_bidirectional(&mut tls.accept(client).await?, &mut server).await,
    }
}
