//! HTTP/1.1 and HTTP/2 server that closes silent connections and drains at a stop. The proxy in front of it
//! handles slow readers, floods and the number of connections.

use std::{
    convert::Infallible,
    future::ready,
    iter::from_fn,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::ConnectInfo, response::Response, serve::Listener};
use futures_util::future::Either;
use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_util::task::TaskTracker;
use tower::{BoxError, ServiceExt};

use crate::{drain::Drain, listener::listen};

/// Timeout of headers and of silent connections; over HTTP/2 up to twice as long.
const SILENCE: Duration = Duration::from_secs(30);
/// Timeout of requests in flight on a closing connection.
const CLOSING: Duration = Duration::from_secs(15 * 60);
/// Timeout of a new connection's first request at a stop.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// Input buffer per connection, and output buffer per answer.
const BUFFER_BYTES: u32 = 64 * 1024;
/// Concurrent requests per connection (RFC 9113, 6.5.2 recommends at least 100).
const CONCURRENT_STREAMS: u32 = 100;

/// HTTP server that is bound but does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    silence: Duration,
    at_once: AtOnce,
}

/// Answers some requests immediately, before routing.
type AtOnce = Box<dyn Fn(&Request<Incoming>) -> Option<Response> + Send + Sync>;

impl HttpServer {
    /// Binds the address of this setting.
    ///
    /// # Errors
    ///
    /// If the address cannot be bound.
    pub async fn bind(setting: &str, address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self {
            listener: listen(setting, address).await?,
            silence: SILENCE,
            at_once: Box::new(|_| None),
        })
    }

    /// Sets the timeout of silent connections.
    #[must_use]
    pub fn ending_after(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Sets a function that answers some requests before routing.
    #[must_use]
    pub fn answering_at_once(
        self,
        answer: impl Fn(&Request<Incoming>) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let at_once = Box::new(answer);
        Self { at_once, ..self }
    }

    /// Port of the server.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Serves until the drain begins, then finishes requests in flight. Each request has the drain as an
    /// extension ([`Drain::of`]).
    pub async fn run(mut self, router: Router, drain: Drain) {
        let serving = TaskTracker::new();
        let connections = Arc::new(Connections {
            protocol: protocol(self.silence),
            at_once: self.at_once,
            router,
            drain: drain.clone(),
            silence: self.silence,
        });
        let serve = |(stream, client)| {
            let connections = Arc::clone(&connections);
            serving.spawn(async move {
                // Clients cause these errors, so their level is not `warn`.
                if let Err(error) = connections.serve(stream, client).await {
                    tracing::debug!(%error, "connection ended");
                }
            })
        };
        let stop = drain.stop();
        while let Some(accepted) = stop
            .run_until_cancelled(Listener::accept(&mut self.listener))
            .await
        {
            serve(accepted);
        }
        waiting_clients(self.listener).for_each(|accepted| drop(serve(accepted)));
        serving.close();
        drain.within_grace(serving.wait()).await;
    }
}

/// Clients that the kernel has connected and tokio may not know yet. Closing the listener would reset them,
/// and a form could be lost.
fn waiting_clients(listener: TcpListener) -> impl Iterator<Item = (TcpStream, SocketAddr)> {
    let listener = listener.into_std().ok();
    let accepted = from_fn(move || listener.as_ref()?.accept().ok());
    accepted.filter_map(|(stream, client)| {
        stream.set_nonblocking(true).ok()?;
        Some((TcpStream::from_std(stream).ok()?, client))
    })
}

struct Connections {
    protocol: auto::Builder<TokioExecutor>,
    at_once: AtOnce,
    router: Router,
    drain: Drain,
    silence: Duration,
}

impl Connections {
    async fn serve(&self, stream: TcpStream, client: SocketAddr) -> Result<(), BoxError> {
        // Nagle's algorithm would only delay answers.
        stream.set_nodelay(true)?;
        let asked = AtomicUsize::new(0);
        let service = service_fn(|mut request: Request<Incoming>| {
            asked.fetch_add(1, Ordering::Relaxed);
            if let Some(answer) = (self.at_once)(&request) {
                return Either::Left(ready(Ok::<_, Infallible>(answer)));
            }
            request.extensions_mut().insert(ConnectInfo(client));
            request.extensions_mut().insert(self.drain.clone());
            Either::Right(self.router.clone().oneshot(request))
        });
        let mut connection = pin!(self.protocol.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            // Polls the connection before the stop, so that requests that have arrived are answered.
            biased;
            ended = connection.as_mut() => ended,
            () = self.is_over(&asked) => {
                connection.as_mut().graceful_shutdown();
                timeout(CLOSING, connection).await?
            }
        }
    }

    /// Waits for the stop, or until no request has arrived within the timeout.
    async fn is_over(&self, asked: &AtomicUsize) {
        loop {
            let before = asked.load(Ordering::Relaxed);
            let pause = sleep(self.silence);
            let is_stopping = self.drain.stop().run_until_cancelled(pause).await.is_none();
            let now = asked.load(Ordering::Relaxed);
            if is_stopping && now == 0 {
                sleep(FIRST_REQUEST).await;
            }
            if is_stopping || now == before {
                return;
            }
        }
    }
}

fn protocol(silence: Duration) -> auto::Builder<TokioExecutor> {
    let mut protocol = auto::Builder::new(TokioExecutor::new());
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(silence)
        .max_buf_size(BUFFER_BYTES as usize);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(silence)
        .keep_alive_timeout(silence)
        .max_concurrent_streams(CONCURRENT_STREAMS)
        .max_send_buf_size(BUFFER_BYTES as usize)
        .initial_stream_window_size(BUFFER_BYTES);
    protocol
}
