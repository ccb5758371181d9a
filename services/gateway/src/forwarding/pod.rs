//! One pod of a service: calls over one HTTP/2 connection (RFC 9113), made when the first of them comes and again whenever it must.
//!
//! HTTP/2 itself, without the client that hyper has around it: that hands each call to a task of its own, its body to another, and
//! writes its headers before it asks for the body (docs/decisions/0033-calls-are-balanced-by-the-gateway.md).

use std::{
    error::Error,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{self, BoxFuture, Either, Shared, poll_fn},
};
use h2::{
    Ping, PingPong, RecvStream, SendStream,
    client::{Builder, SendRequest},
};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use hyper_util::rt::TokioIo;
use site_service::tls::Connector;
use tokio::time::{sleep, timeout};
use tonic::{ConnectError, body::Body, transport::Uri};
use tower::{BoxError, Service};

/// How often a connection is asked whether the other side is still there, also while nothing is sent: a node that was lost
/// ends no connection, and a call has five seconds. One that stands still for less than two keeps its calls.
const KEEP_ALIVE: Duration = Duration::from_secs(1);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(2);
/// As many calls are made at once before the pod has said how many it takes, and so long may the headers of an answer be: what hyper
/// has for both.
const FIRST_CALLS: usize = 100;
const HEADER_BYTES: u32 = 16 * 1024;
/// Flow control windows, as wide as the services' own.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;

type Calls = SendRequest<Bytes>;
/// A connection, or what it is to become. All calls that came while it is made have the same.
type Connected = Shared<BoxFuture<'static, Result<Calls, Arc<dyn Error + Send + Sync>>>>;

/// A pod, at its address.
pub struct Pod {
    uri: Uri,
    connector: Connector,
    connected: Mutex<Option<Connected>>,
}

impl Pod {
    /// The pod at this address. None where it is none that a request can name: one of a single network card.
    pub fn new(address: SocketAddr, connector: Connector) -> Option<Self> {
        let uri = Uri::builder()
            .scheme(connector.scheme())
            .authority(address.to_string())
            .path_and_query("/");
        Some(Self {
            uri: uri.build().ok()?,
            connector,
            connected: Mutex::default(),
        })
    }

    /// Makes a call. Of its answer the headers are there; the rest is still to come.
    ///
    /// # Errors
    ///
    /// If the pod is not reached, or the connection ends before.
    pub async fn call(&self, request: Request<Body>) -> Result<Response<Answer>, BoxError> {
        let (parts, body) = request.into_parts();
        let request = Request::from_parts(parts, ());
        let (answered, stream) = self.calls().await?.send_request(request, false)?;
        let answer = match future::select(pin!(send(body, stream)), answered).await {
            Either::Left((Err(error), _)) => return Err(error),
            Either::Left((Ok(()), answered)) => answered.await,
            // What it was not told by then it does not want to know.
            Either::Right((answer, _)) => answer,
        };
        Ok(answer?.map(Answer))
    }

    /// The connection, once it is there and takes a call.
    async fn calls(&self) -> Result<Calls, BoxError> {
        let known = self.lock().clone();
        if let Some(known) = known {
            let was_made = known.peek().is_some();
            let calls = self.ready_to_call(&known).await;
            // One that ended, or that the pod wants no more calls over, is replaced.
            if calls.is_ok() || !was_made {
                return calls;
            }
        }
        let connected = self.lock().get_or_insert_with(|| self.connect()).clone();
        self.ready_to_call(&connected).await
    }

    /// Waits for a connection. One that is of no use is forgotten by whoever finds so first.
    async fn ready_to_call(&self, connected: &Connected) -> Result<Calls, BoxError> {
        let calls = take_call(connected.clone()).await;
        if calls.is_err() {
            self.lock().take_if(|known| known.ptr_eq(connected));
        }
        calls
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connected>> {
        self.connected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on by itself, as whoever waits for it may not wait to its end.
    fn connect(&self) -> Connected {
        let connecting = tokio::spawn(connect(self.connector.clone(), self.uri.clone()));
        let connected = async move { connecting.await.map_err(Into::into).flatten().map_err(Arc::from) };
        connected.boxed().shared()
    }
}

async fn take_call(connected: Connected) -> Result<Calls, BoxError> {
    let calls = connected.await.map_err(|error| ConnectError(Box::new(error)))?;
    Ok(calls.ready().await?)
}

/// Connects; what came in and is to go out is seen to by a task of its own, for as long as the other side is there.
async fn connect(mut connector: Connector, uri: Uri) -> Result<Calls, BoxError> {
    let connection = TokioIo::new(connector.call(uri).await?);
    let (calls, mut connection) = Builder::new()
        .enable_push(false)
        .initial_max_send_streams(FIRST_CALLS)
        .max_header_list_size(HEADER_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .initial_window_size(STREAM_WINDOW_BYTES)
        .handshake(connection)
        .await?;
    let pings = connection.ping_pong().expect("nobody has taken them");
    tokio::spawn(async move {
        // Its calls hear of its end, however it comes.
        future::select(connection, pin!(until_gone(pings))).await;
    });
    Ok(calls)
}

/// Ends once the other side does not answer.
async fn until_gone(mut pings: PingPong) {
    loop {
        sleep(KEEP_ALIVE).await;
        let answered = timeout(KEEP_ALIVE_TIMEOUT, pings.ping(Ping::opaque())).await;
        if !matches!(answered, Ok(Ok(_))) {
            return;
        }
    }
}

/// Sends what a call says, no faster than the pod takes it.
async fn send(mut body: Body, mut stream: SendStream<Bytes>) -> Result<(), BoxError> {
    let mut chunk = next_of(&mut body).await?;
    // A call with one message ends with its only chunk.
    let mut following = next_of(&mut body).now_or_never().transpose()?;
    while let Some(bytes) = chunk {
        let is_last = matches!(following, Some(None));
        // Of a call that the pod has closed its answer tells.
        if stream.send_data(bytes, is_last).is_err() || is_last {
            return Ok(());
        }
        chunk = match following.take() {
            Some(next) => next,
            None => next_of(&mut body).await?,
        };
        // No room is kept for a visitor who sends nothing: others of the connection would lack it.
        if chunk.is_some() && !takes_more(&mut stream).await {
            return Ok(());
        }
    }
    let _closed = stream.send_data(Bytes::new(), true);
    Ok(())
}

/// The next chunk of what a call says, until it ends.
async fn next_of(body: &mut Body) -> Result<Option<Bytes>, BoxError> {
    let frame = body.frame().await.transpose()?;
    Ok(frame.and_then(|frame| frame.into_data().ok()))
}

/// Waits until the pod takes more of a call, or will not.
async fn takes_more(stream: &mut SendStream<Bytes>) -> bool {
    stream.reserve_capacity(1);
    while stream.capacity() == 0 {
        if !matches!(
            poll_fn(|context| stream.poll_capacity(context)).await,
            Some(Ok(_))
        ) {
            return false;
        }
    }
    true
}

/// What a pod answers.
pub struct Answer(RecvStream);

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let frame = match ready!(self.0.poll_data(context)) {
            Some(data) => data.and_then(|data| {
                self.0.flow_control().release_capacity(data.len())?;
                Ok(Some(Frame::data(data)))
            }),
            None => ready!(self.0.poll_trailers(context)).map(|trailers| trailers.map(Frame::trailers)),
        };
        Poll::Ready(frame.transpose())
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::{StreamExt, future::join_all, stream};
    use h2::server::{self, SendResponse};
    use http_body_util::{Full, StreamBody};
    use tokio::{io::AsyncReadExt, net::TcpListener, task::yield_now};
    use tonic::Status;

    use super::*;
    use crate::forwarding::is_unreached;

    const CHUNK: usize = 64 * 1024;
    const CALLS: usize = 8;

    /// A call as it came to a pod.
    type Call = (Request<RecvStream>, SendResponse<Bytes>);

    /// A pod that does this with each call, and how many connections were made to it.
    async fn pod<F>(
        answer: impl Fn(Call) -> F + Clone + Send + 'static,
    ) -> anyhow::Result<(Pod, Arc<AtomicUsize>)>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let connections = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut connection = server::handshake(socket).await.expect("HTTP/2");
                    while let Some(Ok(call)) = connection.accept().await {
                        tokio::spawn(answer(call));
                    }
                });
            }
        });
        let connector = Connector::new(&Uri::from_static("http://contact:50051"), None, KEEP_ALIVE)?;
        Ok((Pod::new(address, connector).expect("an address"), connections))
    }

    fn call(body: Body) -> Request<Body> {
        let request = Request::post("http://contact:50051/contact.v1.ContactService/Submit");
        request.body(body).expect("a request")
    }

    fn message() -> Body {
        Body::new(Full::new(Bytes::from_static(b"a message")))
    }

    /// A body of chunks without end, and how many were taken of it.
    fn endless() -> (Body, Arc<AtomicUsize>) {
        let taken = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&taken);
        let chunks = stream::repeat_with(move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, BoxError>(Frame::data(Bytes::from_static(&[0; CHUNK])))
        });
        // Others get their turn, also where nothing holds it up.
        let chunks = chunks.then(async |chunk| {
            yield_now().await;
            chunk
        });
        (Body::new(StreamBody::new(Box::pin(chunks))), taken)
    }

    /// Says by its status whether a call ended with its first chunk.
    async fn tells_whether_one_chunk_is_all((request, mut answer): Call) {
        let mut body = request.into_body();
        let _chunk = body.data().await;
        let status = if body.is_end_stream() { 200 } else { 400 };
        let response = Response::builder().status(status).body(());
        let _sent = answer.send_response(response.expect("a response"), true);
    }

    #[tokio::test]
    async fn calls_that_come_at_once_share_a_connection_and_each_ends_with_its_only_chunk()
    -> anyhow::Result<()> {
        let (pod, connections) = pod(tells_whether_one_chunk_is_all).await?;
        let calls = (0..CALLS).map(|_| pod.call(call(message())));
        for answered in join_all(calls).await {
            assert_eq!(answered.expect("it is answered").status(), 200);
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1);
        Ok(())
    }

    #[tokio::test]
    async fn no_more_is_taken_of_an_upload_than_its_pod_takes_and_an_answer_ends_it() -> anyhow::Result<()> {
        let (pod, _) = pod(async |(_request, mut answer): Call| {
            sleep(KEEP_ALIVE / 2).await;
            let _sent = answer.send_response(Response::new(()), true);
        })
        .await?;
        let (body, taken) = endless();
        let answered = timeout(KEEP_ALIVE, pod.call(call(body))).await?;
        assert_eq!(answered.expect("it is answered").status(), 200);
        // A window that nobody has widened holds one chunk, but for its last byte.
        let taken = taken.load(Ordering::Relaxed);
        assert!(taken <= 3, "{taken} chunks");
        Ok(())
    }

    #[tokio::test]
    async fn a_call_that_nobody_waits_for_is_taken_back() -> anyhow::Result<()> {
        let (told, mut heard) = tokio::sync::mpsc::channel(1);
        let (pod, _) = pod(move |(_request, mut answer): Call| {
            let told = told.clone();
            async move {
                let reset = poll_fn(|context| answer.poll_reset(context)).await;
                let _sent = told.send(reset.ok()).await;
            }
        })
        .await?;
        let (body, _) = endless();
        let given_up = timeout(KEEP_ALIVE / 4, pod.call(call(body))).await;
        assert!(given_up.is_err());
        assert_eq!(heard.recv().await.flatten(), Some(h2::Reason::CANCEL));
        Ok(())
    }

    #[tokio::test]
    async fn a_connection_to_a_pod_that_is_silent_is_closed_and_the_next_call_makes_another()
    -> anyhow::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let connector = Connector::new(&Uri::from_static("http://contact:50051"), None, KEEP_ALIVE)?;
        let pod = Pod::new(listener.local_addr()?, connector).expect("an address");
        for _ in 0..2 {
            let longest = KEEP_ALIVE + KEEP_ALIVE_TIMEOUT + KEEP_ALIVE;
            let calling = timeout(longest, pod.call(call(message())));
            let (called, accepted) = tokio::join!(calling, listener.accept());
            let Err(error) = called? else {
                anyhow::bail!("nobody has answered it");
            };
            assert!(is_unreached(&Status::from_error(error)));
            let (mut socket, _) = accepted?;
            let closed = timeout(KEEP_ALIVE, async {
                while socket.read(&mut [0; 1024]).await? > 0 {}
                anyhow::Ok(())
            });
            closed.await??;
        }
        Ok(())
    }
}
