//! One connection: its protocol, its limits, and until when it may stay open.

use std::{convert::Infallible, future::ready, net::SocketAddr, pin::pin, time::Duration};

use axum::{Router, extract::ConnectInfo, response::Response};
use futures_util::future::Either;
use http::Request;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto,
};
use socket2::SockRef;
use tokio::{net::TcpStream, time::timeout};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::{
    activity::Activity,
    limits::Deadlines,
    stalled_answers::{Answer, StreamExecutor},
};
use crate::drain::Drain;

/// The most one connection may make us buffer of what it sends, and one answer of what it does not take.
const BUFFER_BYTES: usize = 64 * 1024;
/// How much the system takes of an answer beyond what is on its way. It takes more once half of this has left, so a client must
/// take as much within [`Deadlines::write`]; without a limit the system would keep megabytes for who reads nothing.
const UNSENT_BYTES: u32 = 64 * 1024;

/// The longest list of a request's headers over HTTP/2, as RFC 9113, 6.5.2 counts it. Over HTTP/1.1 it is the buffer.
const HEADER_LIST_BYTES: u32 = 16 * 1024;
/// Requests of one connection at the same time (RFC 9113, 6.5.2 asks for no fewer than 100).
const CONCURRENT_STREAMS: u32 = 100;
/// How many requests may be given up before we look at them; beyond that the connection ends ("rapid reset", CVE-2023-44487).
const UNSEEN_RESETS: usize = 20;
/// How many may be reset for what its client did wrong; beyond that the connection ends ("made you reset", CVE-2025-8671).
const LOCAL_RESETS: usize = 100;
/// How often an HTTP/2 client is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(10);

/// Finds what a request is answered at once, before any route is looked for.
pub(super) type AtOnce = Box<dyn Fn(&Request<Incoming>) -> Option<Response> + Send + Sync>;

/// What all connections of a server have in common.
pub(super) struct Connections {
    protocol: auto::Builder<StreamExecutor>,
    at_once: AtOnce,
    router: Router,
    drain: Drain,
    deadlines: Deadlines,
}

impl Connections {
    /// Connections whose requests this router answers that are not answered at once.
    pub fn new(at_once: AtOnce, router: Router, drain: Drain, deadlines: Deadlines) -> Self {
        Self {
            protocol: protocol(deadlines),
            at_once,
            router,
            drain,
            deadlines,
        }
    }

    /// Serves one until it ends, stands still, or the drain has finished what is in flight on it.
    pub async fn serve(&self, stream: TcpStream, client: SocketAddr) {
        let activity = Activity::new();
        let service = service_fn(|mut request: Request<Incoming>| {
            let in_flight = activity.begin();
            let answering = if let Some(answer) = (self.at_once)(&request) {
                Either::Left(ready(Ok(answer)))
            } else {
                request.extensions_mut().insert(ConnectInfo(client));
                request.extensions_mut().insert(self.drain.clone());
                Either::Right(self.router.clone().oneshot(request))
            };
            async move {
                let answer = answering.await?;
                Ok::<_, Infallible>(answer.map(|body| Answer::new(body, in_flight)))
            }
        });
        let stream = TokioIo::new(Box::pin(with_write_deadline(stream, self.deadlines.write)));
        let mut connection = pin!(self.protocol.serve_connection(stream, service));
        let ended = tokio::select! {
            ended = connection.as_mut() => Some(ended),
            () = self.drain.stop().cancelled() => {
                connection.as_mut().graceful_shutdown();
                Some(connection.await)
            }
            () = activity.ceases(self.deadlines) => {
                connection.as_mut().graceful_shutdown();
                // Nothing is in flight: what is left to send was taken from us, and a client that takes it has time enough.
                timeout(self.deadlines.closing, connection).await.ok()
            }
        };
        // A connection that its client broke is the client's matter.
        if let Some(Err(error)) = ended {
            tracing::debug!(%error, "connection ended");
        }
    }
}

fn protocol(deadlines: Deadlines) -> auto::Builder<StreamExecutor> {
    let mut protocol = auto::Builder::new(StreamExecutor {
        limit: deadlines.write,
    });
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(deadlines.head)
        .max_buf_size(BUFFER_BYTES);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_INTERVAL)
        .max_concurrent_streams(CONCURRENT_STREAMS)
        .max_header_list_size(HEADER_LIST_BYTES)
        .max_pending_accept_reset_streams(UNSEEN_RESETS)
        .max_local_error_reset_streams(LOCAL_RESETS)
        .max_send_buf_size(BUFFER_BYTES)
        .initial_stream_window_size(u32::try_from(BUFFER_BYTES).unwrap_or(u32::MAX));
    protocol
}

/// Ends a write of which the client takes nothing for so long.
fn with_write_deadline(stream: TcpStream, limit: Duration) -> TimeoutStream<TcpStream> {
    // Answers are small and whole: waiting to fill a packet only delays them.
    let set = stream.set_nodelay(true);
    let set = set.and_then(|()| SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT_BYTES));
    if let Err(error) = set {
        tracing::debug!(%error, "a socket option was refused");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limit));
    stream
}
