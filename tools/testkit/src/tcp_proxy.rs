//! TCP proxy that can be cut: a network between two processes of one machine. It may take its connections by TLS, for a server that
//! speaks none itself.

use std::{convert::Infallible, net::SocketAddr};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

/// A proxy before a port of 127.0.0.1. Dropping it ends all connections.
pub struct TcpProxy {
    port: u16,
    cut: watch::Sender<bool>,
    _running: DropGuard,
}

impl TcpProxy {
    /// Starts one that leads to this port, on a port of 127.0.0.1 that the system chooses.
    pub async fn start(to: u16) -> anyhow::Result<Self> {
        Self::start_on(0, to).await
    }

    /// The same on this port.
    pub async fn start_on(port: u16, to: u16) -> anyhow::Result<Self> {
        Self::start_at(([127, 0, 0, 1], port).into(), None, to).await
    }

    /// Starts one that is spoken to by TLS alone, and shows this certificate.
    pub async fn start_encrypted(certified: TlsAcceptor, to: u16) -> anyhow::Result<Self> {
        Self::start_at(([127, 0, 0, 1], 0).into(), Some(certified), to).await
    }

    /// Starts one at this address, by TLS where it has a certificate.
    pub async fn start_at(
        address: SocketAddr,
        certified: Option<TlsAcceptor>,
        to: u16,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let port = listener.local_addr()?.port();
        let (cut, is_cut) = watch::channel(false);
        let stop = CancellationToken::new();
        let serving = serve(listener, certified, to, is_cut);
        tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        Ok(Self {
            port,
            cut,
            _running: stop.drop_guard(),
        })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends all connections; new ones are ended at once.
    pub fn cut(&self) {
        self.cut.send_replace(true);
    }

    /// Lets connections through again.
    pub fn restore(&self) {
        self.cut.send_replace(false);
    }

    /// Whether it is cut.
    pub fn is_cut(&self) -> bool {
        *self.cut.borrow()
    }
}

async fn serve(
    listener: TcpListener,
    certified: Option<TlsAcceptor>,
    to: u16,
    is_cut: watch::Receiver<bool>,
) -> Infallible {
    // Dropping the set ends all connections.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    connections.spawn(forward(socket, certified.clone(), to, is_cut.clone()));
                }
            }
            Some(_ended) = connections.join_next() => {}
        }
    }
}

/// Either side may go away whenever it likes.
async fn forward(
    mut client: TcpStream,
    certified: Option<TlsAcceptor>,
    to: u16,
    mut is_cut: watch::Receiver<bool>,
) {
    let copying = async {
        match certified {
            None => {
                let mut server = TcpStream::connect(("127.0.0.1", to)).await?;
                copy_bidirectional(&mut client, &mut server).await
            }
            Some(certified) => {
                let mut client = certified.accept(client).await?;
                let mut server = TcpStream::connect(("127.0.0.1", to)).await?;
                copy_bidirectional(&mut client, &mut server).await
            }
        }
    };
    tokio::select! {
        biased;
        _cut = is_cut.wait_for(|is_cut| *is_cut) => {}
        _ended = copying => {}
    }
}
