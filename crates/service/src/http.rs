//! HTTP/1.1 and HTTP/2 server behind a proxy: silent connections end, and those that are busy are drained at a stop. Slow readers,
//! floods and how many connections there are is the proxy's matter.

use std::{
    convert::Infallible,
    future::ready,
    net::SocketAddr,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, extract::ConnectInfo, response::Response, serve::Listener};
use futures_util::{FutureExt, future::Either};
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

/// How long a request's headers may take, and a connection be silent that waits for a request; over HTTP/2, up to twice as long.
const SILENCE: Duration = Duration::from_secs(30);
/// How long requests that are in flight may take when no other has come for a while.
const CLOSING: Duration = Duration::from_secs(15 * 60);
/// How long a new connection has at a stop to send the request for which it was made.
const FIRST_REQUEST: Duration = Duration::from_secs(1);

/// The most one connection may make us buffer of what it sends, and one answer of what it does not take.
const BUFFER_BYTES: u32 = 64 * 1024;
/// Requests of one connection at the same time (RFC 9113, 6.5.2 asks for no fewer than 100).
const CONCURRENT_STREAMS: u32 = 100;

/// A listener that has its port but does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    silence: Duration,
    at_once: AtOnce,
}

/// Finds what a request is answered at once, before any route is looked for.
type AtOnce = Box<dyn Fn(&Request<Incoming>) -> Option<Response> + Send + Sync>;

impl HttpServer {
    /// Takes the port. Port 0 takes any free one. `setting` is the one that the address comes from.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    pub async fn bind(setting: &str, address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self {
            listener: listen(setting, address).await?,
            silence: SILENCE,
            at_once: Box::new(|_| None),
        })
    }

    /// Ends connections that are silent for so long.
    #[must_use]
    pub fn ending_after(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// Answers a request by this, where it has an answer, before any route is looked for.
    #[must_use]
    pub fn answering_at_once(
        self,
        answer: impl Fn(&Request<Incoming>) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let at_once = Box::new(answer);
        Self { at_once, ..self }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Answers until the drain begins, then finishes what is in flight. What one connection does wrong ends that connection
    /// alone. Each request finds the drain among its extensions ([`Drain::of`]).
    pub async fn run(mut self, router: Router, drain: Drain) {
        let serving = TaskTracker::new();
        let connections = Arc::new(Connections {
            protocol: protocol(self.silence),
            at_once: self.at_once,
            router,
            drain: drain.clone(),
            silence: self.silence,
        });
        loop {
            let accepting = Listener::accept(&mut self.listener);
            let accepted = drain.stop().run_until_cancelled(accepting).await;
            // Whoever has connected by then would be reset, perhaps with a form on its way.
            let accepted = accepted.or_else(|| Listener::accept(&mut self.listener).now_or_never());
            let Some((stream, client)) = accepted else { break };
            let connections = Arc::clone(&connections);
            serving.spawn(async move {
                // A connection that its client broke is the client's matter.
                if let Err(error) = connections.serve(stream, client).await {
                    tracing::debug!(%error, "connection ended");
                }
            });
        }
        drop(self.listener);
        serving.close();
        drain.within_grace(serving.wait()).await;
    }
}

/// What all connections of a server have in common.
struct Connections {
    protocol: auto::Builder<TokioExecutor>,
    at_once: AtOnce,
    router: Router,
    drain: Drain,
    silence: Duration,
}

impl Connections {
    /// Serves one until it ends or is silent, or the drain has finished what is in flight on it.
    async fn serve(&self, stream: TcpStream, client: SocketAddr) -> Result<(), BoxError> {
        // Answers are small and whole: waiting to fill a packet only delays them.
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
            // A request that has come is answered, at a stop as well.
            biased;
            ended = connection.as_mut() => ended,
            () = self.is_over(&asked) => {
                connection.as_mut().graceful_shutdown();
                timeout(CLOSING, connection).await?
            }
        }
    }

    /// Waits for the stop, or until no request has come for a while.
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

/// Both protocols, which end a connection that is silent for so long.
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
