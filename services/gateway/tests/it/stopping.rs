//! Uploads during the gateway's drain, or without a careers service.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context;
use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use nix::sys::signal::Signal;
use site_proto::careers::v1::{
    ApplyRequest, ApplyResponse,
    careers_service_server::{CareersService, CareersServiceServer},
};
use tempfile::TempDir;
use testkit::{
    ChildProcess, Ports, S3Fault, Stack, eventually,
    measure::{open_files, pdf},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{
    Status, Streaming,
    transport::{Server, server::TcpIncoming},
};

const SOON: Duration = Duration::from_secs(45);
/// Uploads may arrive for three of these seconds (`stopping.rs` of the gateway).
const GRACE: &str = "13";
/// Time after the stop at which an unfinished upload is told to retry.
const TOLD_AFTER: Duration = Duration::from_secs(3);
const RESUME_BYTES: usize = 1_000_000;
const MULTIPART: &str = "multipart/form-data; boundary=x";

/// Two halves of an application. The first has all fields and a part of the résumé.
fn upload(name: &str) -> (Vec<u8>, Vec<u8>) {
    let fields = [
        ("name", name),
        ("email", "zoe@example.org"),
        ("position", "Backend Intern"),
        ("coverLetter", "I would like to."),
    ];
    let mut body = Vec::new();
    for (field, value) in fields {
        let part = format!("--x\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend(part.as_bytes());
    }
    body.extend(b"--x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"cv.pdf\"\r\n\r\n");
    let first = body.len() + RESUME_BYTES / 2;
    body.extend(pdf(RESUME_BYTES));
    body.extend(b"\r\n--x--\r\n");
    let second = body.split_off(first);
    (body, second)
}

struct Uploading {
    line: TcpStream,
    rest: Vec<u8>,
}

impl Uploading {
    async fn begin(port: u16, name: &str, accept: &str) -> anyhow::Result<Self> {
        let mut line = TcpStream::connect(("127.0.0.1", port)).await?;
        let (first, rest) = upload(name);
        let length = first.len() + rest.len();
        let head = format!(
            "POST /api/career-application HTTP/1.1\r\nHost: site\r\nContent-Length: {length}\r\nAccept: {accept}\r\n\
             Content-Type: {MULTIPART}\r\n\r\n"
        );
        line.write_all(head.as_bytes()).await?;
        line.write_all(&first).await?;
        Ok(Self { line, rest })
    }

    async fn finish(mut self) -> anyhow::Result<String> {
        self.line.write_all(&self.rest).await?;
        self.answer().await
    }

    /// Keeps sending for a while after the answer, like a browser that does not read while it sends.
    async fn dawdle(mut self) -> anyhow::Result<String> {
        for piece in self.rest.chunks(1000) {
            self.line.write_all(piece).await?;
            if timeout(Duration::from_millis(100), self.line.readable())
                .await
                .is_ok()
            {
                break;
            }
        }
        let answered = Instant::now();
        while answered.elapsed() < Duration::from_secs(2) {
            self.line.write_all(b"and more of the file").await?;
            sleep(Duration::from_millis(100)).await;
        }
        self.answer().await
    }

    /// The head, and as much of the body as it announces.
    async fn answer(&mut self) -> anyhow::Result<String> {
        let mut answer = String::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            if let Some((head, body)) = answer.split_once("\r\n\r\n") {
                let mut lines = head.lines().filter_map(|line| line.split_once(": "));
                let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
                if body.len() >= length.map_or(Ok(0), |(_, length)| length.parse())? {
                    return Ok(answer);
                }
            }
            let read = timeout(SOON, self.line.read(&mut buffer)).await??;
            anyhow::ensure!(read > 0, "the line ended after: {answer}");
            answer.push_str(std::str::from_utf8(&buffer[..read])?);
        }
    }
}

/// Equally slow, over HTTP/2. Returns status, `Retry-After` and body.
async fn dawdle_over_http2(port: u16) -> anyhow::Result<(u16, Option<String>, String)> {
    let client = Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .http2_only(true)
        .build_http::<Body>();
    let (sender, receiver) = mpsc::channel::<Result<Bytes, std::io::Error>>(1);
    let (first, rest) = upload("Dagmar Dawdle");
    let sending = tokio::spawn(async move {
        if sender.send(Ok(first.into())).await.is_err() {
            return;
        }
        for piece in rest.chunks(1000) {
            sleep(Duration::from_millis(100)).await;
            if sender.send(Ok(Bytes::copy_from_slice(piece))).await.is_err() {
                return;
            }
        }
    });
    let request = http::Request::post(format!("http://127.0.0.1:{port}/api/career-application"))
        .header("content-type", MULTIPART)
        .body(Body::from_stream(ReceiverStream::new(receiver)))?;
    let answer = timeout(SOON, client.request(request)).await??;
    let retry_after = answer.headers().get("retry-after");
    let retry_after = retry_after.map(|value| value.to_str().unwrap_or_default().to_owned());
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await?.to_bytes();
    sending.abort();
    Ok((status, retry_after, String::from_utf8(body.to_vec())?))
}

pub async fn gateway(services: &[(&str, u16)], logs: &Path) -> anyhow::Result<(ChildProcess, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
    command.env("LISTEN", format!("127.0.0.1:{port}"));
    command.env("HEALTH_LISTEN", "127.0.0.1:0");
    command.envs(
        services
            .iter()
            .map(|(name, port)| (*name, format!("http://127.0.0.1:{port}"))),
    );
    command.env("GRACE_SECONDS", GRACE).env("RATE_BURST", "100");
    let gateway = ChildProcess::start("gateway", logs, command)?;
    eventually("the gateway listens", SOON, async || {
        TcpStream::connect(("127.0.0.1", port)).await.ok().map(drop)
    })
    .await?;
    Ok((gateway, port))
}

async fn stack() -> anyhow::Result<(Stack, TempDir)> {
    let spool = TempDir::new()?;
    let folder = spool.path().to_string_lossy().into_owned();
    let stack = Stack::start(Ports::free()?, &[("SPOOL_DIR", &folder)]).await?;
    Ok((stack, spool))
}

async fn spooled(spool: &TempDir, resumes: usize) -> anyhow::Result<()> {
    eventually(&format!("{resumes} résumés arrive"), SOON, async || {
        (open_files(spool.path()).len() == resumes).then_some(())
    })
    .await
}

/// Loses uploads, and answers as if the service had not been reached.
struct Losing(Arc<AtomicUsize>);

#[tonic::async_trait]
impl CareersService for Losing {
    async fn apply(
        &self,
        request: tonic::Request<Streaming<ApplyRequest>>,
    ) -> Result<tonic::Response<ApplyResponse>, Status> {
        self.0.fetch_add(1, Ordering::Relaxed);
        request.into_inner().message().await?;
        Err(Status::unavailable("the connection was lost"))
    }
}

#[tokio::test]
async fn an_upload_of_which_a_part_was_sent_is_not_sent_again() -> anyhow::Result<()> {
    let calls = Arc::<AtomicUsize>::default();
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let careers_port = listener.local_addr()?.port();
    let server = Server::builder().add_service(CareersServiceServer::new(Losing(calls.clone())));
    let serving = tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
    let logs = TempDir::new()?;
    let (_gateway, port) = gateway(&[("CAREERS_URL", careers_port)], logs.path()).await?;
    let answer = Uploading::begin(port, "Louis Losing", "*/*")
        .await?
        .finish()
        .await?;
    serving.abort();
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(
        answer.to_lowercase().contains("\r\nretry-after: 5\r\n"),
        "{answer}"
    );
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    Ok(())
}

fn ensure_told(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    let head = answer.to_lowercase();
    assert!(head.contains("\r\nretry-after: 5\r\n"), "{answer}");
    assert!(head.contains("\r\nconnection: close\r\n"), "{answer}");
    let is_told = answer.contains(r#""success":false"#) && answer.contains("send it again");
    assert!(is_told, "{answer}");
}

#[tokio::test]
async fn at_a_stop_an_upload_is_stored_or_its_visitor_is_told_to_send_it_again() -> anyhow::Result<()> {
    let (stack, spool) = stack().await?;
    let logs = TempDir::new()?;
    let (gateway, port) = gateway(&[("CAREERS_URL", stack.port_of("careers"))], logs.path()).await?;
    let quick = Uploading::begin(port, "Quentin Quick", "*/*").await?;
    let slow = Uploading::begin(port, "Sally Slow", "*/*").await?;
    let page = Uploading::begin(port, "Paula Page", "text/html").await?;
    let http2 = tokio::spawn(dawdle_over_http2(port));
    spooled(&spool, 4).await?;
    // An upload that is whole before receiving ends has the remaining time to be stored.
    stack.s3.fault(S3Fault::HoldAnswers);
    gateway.signal(Signal::SIGTERM)?;
    let stopped = Instant::now();
    let stored = tokio::spawn(quick.finish());
    let slow = tokio::spawn(slow.dawdle());
    let page = page.dawdle().await?;
    // Includes the two seconds of sending after the answer.
    assert!(stopped.elapsed() >= TOLD_AFTER, "{:?}", stopped.elapsed());
    stack.s3.fault(S3Fault::None);

    ensure_told(&slow.await??);
    assert!(
        page.starts_with("HTTP/1.1 503 ") && page.contains("send it again"),
        "{page}"
    );
    let (status, retry_after, body) = http2.await??;
    assert_eq!((status, retry_after.as_deref()), (503, Some("5")));
    assert!(body.contains("send it again"), "{body}");
    let stored = stored.await??;
    assert!(stored.starts_with("HTTP/1.1 200 "), "{stored}");

    assert!(gateway.stop().await?.success());
    let events = stack.nats.events().await?;
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| event["data"]["name"].as_str())
        .collect();
    assert_eq!(names, ["Quentin Quick"]);
    eventually("only its résumé is stored", SOON, async || {
        (stack.s3.objects().ok()?.len() == 1).then_some(())
    })
    .await
}

#[tokio::test]
async fn an_application_that_is_not_stored_when_the_grace_period_ends_is_told_to_come_again()
-> anyhow::Result<()> {
    let (stack, _spool) = stack().await?;
    let logs = TempDir::new()?;
    let (gateway, port) = gateway(&[("CAREERS_URL", stack.port_of("careers"))], logs.path()).await?;
    stack.s3.fault(S3Fault::HoldAnswers);
    let whole = Uploading::begin(port, "Henry Held", "*/*").await?;
    let answer = tokio::spawn(whole.finish());
    eventually("a résumé is stored", SOON, async || {
        (!stack.s3.objects().ok()?.is_empty()).then_some(())
    })
    .await?;
    gateway.signal(Signal::SIGTERM)?;
    let answer = answer.await??;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(
        answer.to_lowercase().contains("\r\nretry-after: 5\r\n"),
        "{answer}"
    );
    assert!(gateway.stop().await?.success());
    stack.s3.fault(S3Fault::None);
    Ok(())
}

#[tokio::test]
async fn an_upload_waits_for_a_careers_service_that_is_just_started_and_not_for_one_that_it_lost()
-> anyhow::Result<()> {
    let (mut stack, spool) = stack().await?;
    let port = stack.ports.site;
    let careers = stack.take_service("careers")?;
    careers.stop().await?;
    let waiting = tokio::spawn(Uploading::begin(port, "Wanda Waiting", "*/*").await?.finish());
    sleep(Duration::from_millis(200)).await;
    stack.start_service("careers")?;
    let answer = waiting.await??;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    let losing = Uploading::begin(port, "Louis Losing", "*/*").await?;
    spooled(&spool, 1).await?;
    stack.take_service("careers")?.kill().await?;
    stack.start_service("careers")?;
    let answer = losing.finish().await?;
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert!(
        answer.to_lowercase().contains("\r\nretry-after: 5\r\n"),
        "{answer}"
    );
    let events = stack.nats.events().await?;
    let [event] = &events[..] else {
        anyhow::bail!("one event, not {}", events.len());
    };
    let name = event["data"]["name"].as_str().context("a name")?;
    assert_eq!(name, "Wanda Waiting");
    Ok(())
}
