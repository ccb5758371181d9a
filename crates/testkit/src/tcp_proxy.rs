//! TCP proxy that can be cut: a network between two processes of one machine.

use std::convert::Infallible;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// A proxy on a port of 127.0.0.1. Dropping it ends all connections.
pub struct TcpProxy {
    port: u16,
    cut: watch::Sender<bool>,
    _running: DropGuard,
}

impl TcpProxy {
    /// Starts one that leads to this port, on a port that the system chooses.
    pub async fn start(to: u16) -> anyhow::Result<Self> {
        Self::start_on(0, to).await
    }

    /// Starts one on this port that leads to another.
    pub async fn start_on(port: u16, to: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let (cut, is_cut) = watch::channel(false);
        let stop = CancellationToken::new();
        tokio::spawn(
            stop.clone()
                .run_until_cancelled_owned(serve(listener, to, is_cut)),
        );
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

async fn serve(listener: TcpListener, to: u16, is_cut: watch::Receiver<bool>) -> Infallible {
    // Dropping the set ends all connections.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((socket, _)) = accepted {
                    connections.spawn(forward(socket, to, is_cut.clone()));
                }
            }
            Some(_ended) = connections.join_next() => {}
        }
    }
}

/// Either side may go away whenever it likes.
async fn forward(mut client: TcpStream, to: u16, mut is_cut: watch::Receiver<bool>) {
    let copying = async {
        let mut server = TcpStream::connect(("127.0.0.1", to)).await?;
        copy_bidirectional(&mut client, &mut server).await
    };
    tokio::select! {
        biased;
        _cut = is_cut.wait_for(|is_cut| *is_cut) => {}
        _ended = copying => {}
    }
}
