//! Uploads during the gateway's drain, or without a careers service.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use tempfile::TempDir;
use testkit::{
    ChildProcess, Ports, S3Fault, Stack, eventually,
    measure::{open_files, pdf},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::Command,
    time::{sleep, timeout},
};

const SOON: Duration = Duration::from_secs(45);
/// Grace period in seconds. Uploads may arrive during the first three (`RECEIVING_ENDS` in `src/stopping.rs`).
const GRACE: &str = "13";
/// Time from the stop until unfinished uploads are rejected.
const TOLD_AFTER: Duration = Duration::from_secs(3);
const RESUME_BYTES: usize = 1_000_000;
const MULTIPART: &str = "multipart/form-data; boundary=x";

/// Returns an application in two pieces. The first has all fields and a part of the résumé.
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

    /// Reads the answer's head, and its body up to the length in the head.
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

fn ensure_to_be_sent_again(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    let lower_case = answer.to_lowercase();
    assert!(lower_case.contains("\r\nretry-after: 5\r\n"), "{answer}");
}

#[tokio::test]
async fn an_upload_during_shutdown_is_stored_or_gets_503() -> anyhow::Result<()> {
    let (stack, spool) = stack().await?;
    let logs = TempDir::new()?;
    let (gateway, port) = gateway(&[("CAREERS_URL", stack.port_of("careers"))], logs.path()).await?;
    let quick = Uploading::begin(port, "Quentin Quick", "*/*").await?;
    let slow = Uploading::begin(port, "Sally Slow", "*/*").await?;
    let page = Uploading::begin(port, "Paula Page", "text/html").await?;
    spooled(&spool, 3).await?;
    // A complete upload may be stored after unfinished ones are rejected, so the store answers late.
    stack.s3.fault(S3Fault::HoldAnswers);
    gateway.signal(Signal::SIGTERM)?;
    let stopped = Instant::now();
    let stored = tokio::spawn(quick.finish());
    let slow = tokio::spawn(slow.dawdle());
    let page = page.dawdle().await?;
    // The elapsed time includes the two seconds for which `dawdle` sends after the answer.
    assert!(stopped.elapsed() >= TOLD_AFTER, "{:?}", stopped.elapsed());
    stack.s3.fault(S3Fault::None);

    let slow = slow.await??;
    ensure_to_be_sent_again(&slow);
    let head = slow.to_lowercase();
    assert!(head.contains("\r\nconnection: close\r\n"), "{slow}");
    assert!(slow.contains(r#""success":false"#), "{slow}");
    ensure_to_be_sent_again(&page);
    for told in [slow, page] {
        assert!(told.contains("send it again"), "{told}");
    }
    let stored = stored.await??;
    assert!(stored.starts_with("HTTP/1.1 200 "), "{stored}");

    assert!(gateway.stop().await?.success());
    let events = stack.nats.events().await?;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["data"]["name"], "Quentin Quick");
    eventually("only its résumé is stored", SOON, async || {
        (stack.s3.objects().ok()?.len() == 1).then_some(())
    })
    .await
}

#[tokio::test]
async fn an_application_unstored_after_the_grace_period_gets_503() -> anyhow::Result<()> {
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
    ensure_to_be_sent_again(&answer.await??);
    assert!(gateway.stop().await?.success());
    stack.s3.fault(S3Fault::None);
    Ok(())
}

#[tokio::test]
async fn an_upload_waits_for_careers_but_is_never_resent() -> anyhow::Result<()> {
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
    // The gateway does not retry this call, because the service already received a part of the upload.
    ensure_to_be_sent_again(&losing.finish().await?);
    let events = stack.nats.events().await?;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["data"]["name"], "Wanda Waiting");
    Ok(())
}
