//! PROXY protocol, version 2: a proxy that passes connections on unread tells at their beginning whose they are
//! (<https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt>, 2.2).

#[cfg(test)]
mod fuzz;

use std::{io, net::SocketAddr, time::Duration};

use clap::Args;
use ipnet::IpNet;
use proxy_header::{ParseConfig, Protocol, ProxiedAddress, ProxyHeader};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::timeout,
};

/// What stands before the addresses: signature, command, family and length.
const PREFIX_BYTES: usize = 16;
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Version 2 and the command of a connection that the proxy opens for itself.
const LOCAL: u8 = 0x20;
/// The most that may follow the prefix: addresses, and what a proxy tells besides, which may be a certificate.
const REST_BYTES: usize = 4096;
const VERSION_2: ParseConfig = ParseConfig {
    include_tlvs: false,
    allow_v1: false,
    allow_v2: true,
};

/// The setting of a server that stands behind a load balancer of connections.
#[derive(Args, Debug, Clone, Default)]
pub struct ProxyProtocolSettings {
    /// Networks (10.0.0.0/8, separated by commas) whose load balancers begin each connection with a header of the PROXY protocol,
    /// version 2, that tells the visitor's address; connections from elsewhere, or without it, are closed
    #[arg(
        long = "proxy-protocol-from",
        value_name = "PROXY_PROTOCOL_FROM",
        env = "PROXY_PROTOCOL_FROM",
        value_delimiter = ','
    )]
    pub networks: Vec<IpNet>,
}

impl ProxyProtocolSettings {
    /// Whether connections must begin with a header.
    pub fn is_set(&self) -> bool {
        !self.networks.is_empty()
    }
}

/// The client that one of the proxies tells of. Of the stream, the header is read and nothing more.
///
/// # Errors
///
/// If the peer is none of the proxies, or no whole header comes in time, or it names no client that could have connected.
pub(super) async fn client_of(
    stream: &mut (impl AsyncRead + Unpin),
    peer: SocketAddr,
    proxies: &[IpNet],
    deadline: Duration,
) -> io::Result<SocketAddr> {
    let address = peer.ip().to_canonical();
    if !proxies.iter().any(|network| network.contains(&address)) {
        return Err(invalid("it comes from no proxy"));
    }
    let header = timeout(deadline, read_header(stream)).await??;
    let (parsed, _) = ProxyHeader::parse(&header, VERSION_2).map_err(invalid)?;
    match parsed.proxied_address() {
        Some(ProxiedAddress {
            protocol: Protocol::Stream,
            source,
            ..
        }) => Ok(*source),
        None if header[SIGNATURE.len()] == LOCAL => Ok(peer),
        // Without an address (UNSPEC, a UNIX socket) all clients of this kind would be one.
        _ => Err(invalid("it tells no address")),
    }
}

async fn read_header(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut header = vec![0; PREFIX_BYTES];
    stream.read_exact(&mut header).await?;
    let rest = usize::from(u16::from_be_bytes([header[14], header[15]]));
    if !header.starts_with(SIGNATURE) || rest > REST_BYTES {
        return Err(invalid("no header of version 2"));
    }
    header.resize(PREFIX_BYTES + rest, 0);
    stream.read_exact(&mut header[PREFIX_BYTES..]).await?;
    Ok(header)
}

fn invalid(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
