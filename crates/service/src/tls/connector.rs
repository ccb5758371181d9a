//! Connections of HTTP clients, with TLS of our own or without.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use anyhow::Context as _;
use futures_util::future::BoxFuture;
use http::{Uri, uri::Scheme};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, MaybeHttpsStream};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::rustls::pki_types::ServerName;
use tower::{BoxError, Service};

use super::ClientTls;

/// Connects to one server, or to one of several of the same name, within a time.
#[derive(Clone)]
pub struct Connector {
    tcp: HttpConnector,
    tls: Option<(ClientTls, Arc<FixedServerNameResolver>)>,
    timeout: Duration,
}

impl Connector {
    /// To the server of this address: with TLS its certificate must be for the host that the address names, wherever that is found.
    ///
    /// # Errors
    ///
    /// If the address and what is known of TLS do not go together: why.
    pub fn new(uri: &Uri, tls: Option<&ClientTls>, timeout: Duration) -> anyhow::Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(timeout));
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        let tls = match (uri.scheme_str(), tls) {
            (Some("https"), Some(tls)) => {
                let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
                let name = ServerName::try_from(host.to_owned());
                let name = name.with_context(|| format!("no certificate can be for {host}"))?;
                Some((tls.clone(), Arc::new(FixedServerNameResolver::new(name))))
            }
            (Some("http"), None) => None,
            (_, Some(_)) => anyhow::bail!("it must begin with https://, as authorities to trust are set"),
            (_, None) => anyhow::bail!("it must begin with http://, or authorities to trust be set"),
        };
        Ok(Self { tcp, tls, timeout })
    }

    /// The scheme of the addresses that it connects to.
    pub fn scheme(&self) -> Scheme {
        if self.tls.is_some() {
            Scheme::HTTPS
        } else {
            Scheme::HTTP
        }
    }

    async fn connect(mut self, uri: Uri) -> Result<Connection, BoxError> {
        let Some((tls, name)) = self.tls else {
            return Ok(MaybeHttpsStream::Http(self.tcp.call(uri).await?));
        };
        let server = uri.authority().map(ToString::to_string);
        let connecting = HttpsConnector::new(self.tcp, tls.0.latest(), true, name).call(uri);
        let connected = timeout(self.timeout, connecting).await;
        let connected = connected.unwrap_or_else(|elapsed| Err(elapsed.into()));
        if let Err(error) = &connected {
            tracing::warn!(server, error = %error, "no TLS with a server");
        }
        connected
    }
}

/// A connection, with TLS or without.
pub type Connection = MaybeHttpsStream<TokioIo<TcpStream>>;

impl Service<Uri> for Connector {
    type Response = Connection;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Connection, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}
