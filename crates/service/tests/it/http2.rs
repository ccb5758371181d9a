//! HTTP/2: silent connections and endless headers.

use std::{net::SocketAddr, time::Instant};

use bytes::Bytes;
use h2::{Reason, RecvStream, client::SendRequest};
use http::{HeaderName, Request, StatusCode};
use tokio::{
    net::TcpStream,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::http_server::{SILENCE, SOON, Server, read_to_end};

type Connecting = (SendRequest<Bytes>, JoinHandle<Result<(), h2::Error>>);

async fn connect(to: SocketAddr) -> anyhow::Result<Connecting> {
    let stream = TcpStream::connect(to).await?;
    let (requests, connection) = h2::client::handshake(stream).await?;
    Ok((requests.ready().await?, tokio::spawn(connection)))
}

fn get(path: &str) -> anyhow::Result<Request<()>> {
    Ok(Request::get(format!("http://site{path}")).body(())?)
}

async fn ask(
    requests: &SendRequest<Bytes>,
    request: Request<()>,
) -> anyhow::Result<(StatusCode, RecvStream)> {
    let mut requests = requests.clone().ready().await?;
    let (answer, _) = requests.send_request(request, true)?;
    let answer = timeout(SOON, answer).await??;
    Ok((answer.status(), answer.into_body()))
}

#[tokio::test]
async fn an_idle_http2_connection_gets_goaway() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let (requests, connection) = connect(server.address).await?;
    let (status, _) = ask(&requests, get("/")?).await?;
    assert_eq!(status, StatusCode::OK);
    let answered = Instant::now();
    let ended = timeout(SOON, connection).await??;
    let is_graceful = ended
        .as_ref()
        .map_or_else(|error| error.reason() == Some(Reason::NO_ERROR), |()| true);
    assert!(is_graceful, "{ended:?}");
    let silent = answered.elapsed();
    assert!(silent >= SILENCE.mul_f32(0.9), "{silent:?}");
    Ok(())
}

#[tokio::test]
async fn a_client_ignoring_goaway_is_disconnected() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let settings = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    read_to_end(&mut server.say(settings).await?).await?;
    Ok(())
}

#[tokio::test]
async fn a_request_in_flight_keeps_a_connection() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let (requests, connection) = connect(server.address).await?;
    let (_, mut body) = ask(&requests, get("/large")?).await?;
    let started = Instant::now();
    while started.elapsed() < 3 * SILENCE {
        let data = timeout(SOON, body.data()).await?;
        let taken = data.transpose()?.map_or(0, |data| data.len());
        body.flow_control().release_capacity(taken)?;
        sleep(SILENCE / 10).await;
    }
    assert!(!connection.is_finished());
    Ok(())
}

#[tokio::test]
async fn a_list_of_headers_that_is_too_long_is_refused() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let (requests, _connection) = connect(server.address).await?;
    let mut request = get("/")?;
    for n in 0..20 {
        let name = HeaderName::try_from(format!("x-{n}"))?;
        request.headers_mut().insert(name, "x".repeat(1000).parse()?);
    }
    let (status, _) = ask(&requests, request).await?;
    assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert_eq!(ask(&requests, get("/")?).await?.0, StatusCode::OK);
    Ok(())
}
