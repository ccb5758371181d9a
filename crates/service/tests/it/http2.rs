//! HTTP/2: silent connections, floods of resets, endless headers.

use std::{net::SocketAddr, time::Instant};

use bytes::{BufMut, Bytes};
use h2::{Reason, RecvStream, client::SendRequest};
use http::{Request, StatusCode};
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    clients::{read_to_end, say},
    http_server::{SILENCE, SOON, Server},
};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Frame types (RFC 9113, section 6).
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;

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

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    frame.put_uint(payload.len() as u64, 3);
    frame.put_u8(kind);
    frame.put_u8(flags);
    frame.put_u32(stream);
    frame.put_slice(payload);
    frame
}

fn payloads(mut sent: &[u8], wanted: u8) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while let Some((head, rest)) = sent.split_at_checked(9) {
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            break;
        };
        if head[3] == wanted {
            found.push(payload);
        }
        sent = rest;
    }
    found
}

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_any_more_is_told_to_go() -> anyhow::Result<()> {
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
    assert!(
        answered.elapsed() >= SILENCE.mul_f32(0.9),
        "{:?}",
        answered.elapsed()
    );
    Ok(())
}

#[tokio::test]
async fn a_client_that_does_not_go_is_cut_off() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let mut hello = PREFACE.to_vec();
    hello.extend(frame(SETTINGS, 0, 0, &[]));
    let (sent, _) = read_to_end(&mut say(&hello, server.address).await?).await?;
    assert!(!payloads(&sent, GOAWAY).is_empty());
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
async fn a_flood_of_resets_ends_its_connection_and_disturbs_no_other() -> anyhow::Result<()> {
    // GET http://site/ in HPACK: three fields by index, and a literal.
    const FIELDS: &[u8] = b"\x82\x86\x84\x41\x04site";
    const CANCEL: [u8; 4] = 8_u32.to_be_bytes();
    let server = Server::start().await?;
    let (requests, _connection) = connect(server.address).await?;
    let mut flood = PREFACE.to_vec();
    flood.extend(frame(SETTINGS, 0, 0, &[]));
    for stream in (1..2_000).step_by(2) {
        flood.extend(frame(HEADERS, END_HEADERS | END_STREAM, stream, FIELDS));
        flood.extend(frame(RST_STREAM, 0, stream, &CANCEL));
    }
    let mut flooding = say(&[], server.address).await?;
    let flooded = async {
        // The server may close before all is sent.
        let _sent = flooding.write_all(&flood).await;
        read_to_end(&mut flooding).await
    };
    let disturbed = async {
        for _ in 0..20 {
            let (status, _) = ask(&requests, get("/")?).await?;
            assert_eq!(status, StatusCode::OK);
        }
        anyhow::Ok(())
    };
    let (flooded, disturbed) = tokio::join!(flooded, disturbed);
    disturbed?;
    let (sent, _) = flooded?;
    let told: Vec<_> = payloads(&sent, GOAWAY)
        .iter()
        .filter_map(|payload| payload.get(4..8))
        .collect();
    assert!(
        told.contains(&&11_u32.to_be_bytes()[..]),
        "ENHANCE_YOUR_CALM: {told:?}"
    );
    Ok(())
}

#[tokio::test]
async fn a_list_of_headers_that_is_too_long_is_refused() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let (requests, _connection) = connect(server.address).await?;
    let mut request = get("/")?;
    for n in 0..20 {
        let name = http::HeaderName::try_from(format!("x-{n}"))?;
        request.headers_mut().insert(name, "x".repeat(1000).parse()?);
    }
    let (status, _) = ask(&requests, request).await?;
    assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert_eq!(ask(&requests, get("/")?).await?.0, StatusCode::OK);
    Ok(())
}
