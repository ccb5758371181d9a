//! A way by TLS to a server that speaks none itself.

use std::net::Ipv4Addr;

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// Takes connections by TLS on a port of its own, and leads them on to another port of this machine.
pub struct TlsProxy {
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl TlsProxy {
    /// Starts one that shows this certificate.
    pub async fn start(certified: TlsAcceptor, to: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let serving = async move {
            while let Ok((client, _)) = listener.accept().await {
                let certified = certified.clone();
                tokio::spawn(async move {
                    let mut client = certified.accept(client).await?;
                    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, to)).await?;
                    copy_bidirectional(&mut client, &mut server).await
                });
            }
        };
        Ok(Self {
            port,
            _serving: AbortOnDropHandle::new(tokio::spawn(serving)),
        })
    }

    /// Where it is spoken to by TLS.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }
}
