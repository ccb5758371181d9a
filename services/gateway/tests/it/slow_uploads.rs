//! Attacks by slow uploads, and honest uploads at the same time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::{join_all, select_all};
use site_proto::careers::v1::{
    ApplyRequest, ApplyResponse, apply_request,
    careers_service_server::{CareersService, CareersServiceServer},
};
use testkit::eventually;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, interval, timeout},
};
use tonic::{
    Status, Streaming,
    transport::{Server, server::TcpIncoming},
};

use crate::without_services::Gateway;

/// Timeout of an honest application on a busy machine, shorter than the minutes that the slow uploads last.
const SOON: Duration = Duration::from_secs(60);
/// Timeout of an honest application if the attack does not delay it.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Limit of concurrent uploads.
const PLACES: usize = 10;
/// Bytes that an upload sends before it stalls.
const BEGINNING_BYTES: usize = 80 * 1024;
const LARGE_BYTES: usize = 3_000_000;
const SMALL_BYTES: usize = 300_000;

/// Simulated careers service that accepts every application and counts the uploads.
#[derive(Clone, Default)]
struct Taking(Arc<AtomicUsize>);

#[tonic::async_trait]
impl CareersService for Taking {
    async fn apply(
        &self,
        request: tonic::Request<Streaming<ApplyRequest>>,
    ) -> Result<tonic::Response<ApplyResponse>, Status> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let mut parts = request.into_inner();
        while let Some(part) = parts.message().await? {
            if let Some(apply_request::Part::Commit(_)) = part.part {
                return Ok(tonic::Response::new(ApplyResponse::default()));
            }
        }
        Err(Status::invalid_argument("no commit"))
    }
}

struct Site {
    gateway: Gateway,
    careers: Taking,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        let careers = Taking::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let server = Server::builder().add_service(CareersServiceServer::new(careers.clone()));
        tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        Ok(Self {
            gateway: Gateway::start_before(&url, &["--rate-burst", "100"]).await?,
            careers,
        })
    }

    async fn upload(&self, visitor: &str, bytes: usize) -> anyhow::Result<Upload> {
        let address = self.gateway.url.trim_start_matches("http://");
        let mut line = TcpStream::connect(address).await?;
        let body = application(bytes);
        let head = format!(
            "POST /api/career-application HTTP/1.1\r\nHost: site\r\nContent-Length: {}\r\nX-Forwarded-For: {visitor}\r\n\
             Connection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n",
            body.len()
        );
        line.write_all(head.as_bytes()).await?;
        Ok(Upload { line, body })
    }

    /// Begins uploads from these addresses until all places are taken.
    async fn attack(
        &self,
        addresses: impl Iterator<Item = String>,
        from_each: usize,
    ) -> anyhow::Result<Vec<Upload>> {
        let mut slow = Vec::new();
        for address in addresses {
            for _ in 0..from_each {
                let mut upload = self.upload(&address, LARGE_BYTES).await?;
                upload.send(BEGINNING_BYTES).await?;
                slow.push(upload);
            }
        }
        eventually("all places are taken", SOON, async || {
            (self.careers.0.load(Ordering::Relaxed) >= PLACES).then_some(())
        })
        .await?;
        Ok(slow)
    }

    async fn ensure_taken(&self, visitor: &str) -> anyhow::Result<()> {
        let mut upload = self.upload(visitor, LARGE_BYTES).await?;
        let taken = async {
            upload.send(usize::MAX).await?;
            upload.answer().await
        };
        let answer = timeout(SOON, taken).await??;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        Ok(())
    }
}

fn application(bytes: usize) -> Vec<u8> {
    let mut body = b"--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAda\r\n\
                     --x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"cv.pdf\"\r\n\r\n"
        .to_vec();
    body.resize(body.len() + bytes, b'x');
    body.extend(b"\r\n--x--\r\n");
    body
}

struct Upload {
    line: TcpStream,
    body: Vec<u8>,
}

impl Upload {
    async fn send(&mut self, bytes: usize) -> anyhow::Result<()> {
        let rest = self.body.split_off(bytes.min(self.body.len()));
        self.line.write_all(&self.body).await?;
        self.body = rest;
        Ok(())
    }

    /// Sends the body at this average rate: after a delay of a busy machine it catches up.
    async fn send_slowly(&mut self, bytes_a_second: usize) -> anyhow::Result<()> {
        let mut tenths = interval(Duration::from_millis(100));
        while !self.body.is_empty() {
            tenths.tick().await;
            self.send(bytes_a_second / 10).await?;
        }
        Ok(())
    }

    async fn answer(mut self) -> anyhow::Result<String> {
        let mut answer = String::new();
        timeout(SOON, self.line.read_to_string(&mut answer)).await??;
        Ok(answer)
    }
}

#[tokio::test]
async fn stalled_uploads_get_408_and_make_room() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let slow = site
        .attack((0..10).map(|host| format!("203.0.113.{host}")), 4)
        .await?;
    site.ensure_taken("198.51.100.1").await?;
    let answers = slow.into_iter().map(|upload| Box::pin(upload.answer()));
    let answer = select_all(answers).await.0?;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("This arrived too slowly"), "{answer}");
    Ok(())
}

#[tokio::test]
async fn steady_slow_uploads_block_no_other_visitor() -> anyhow::Result<()> {
    for network in ["203.0.113.{}", "203.0.{}.1", "2001:db8:1:{}::1", "2001:db8:{}::1"] {
        let site = Site::start().await?;
        let addresses = (0..5).map(|address: u8| network.replace("{}", &address.to_string()));
        let slow = site.attack(addresses, 2).await?;
        let attack = slow
            .into_iter()
            .map(|mut upload| async move { upload.send_slowly(40_000).await });
        let attack = tokio::spawn(join_all(attack));
        for honest in ["198.51.100.1", "203.0.113.9"] {
            let begun = Instant::now();
            site.ensure_taken(honest).await?;
            assert!(begun.elapsed() < AT_ONCE, "{network}: {:?}", begun.elapsed());
        }
        attack.abort();
    }
    Ok(())
}

#[tokio::test]
async fn a_lone_upload_may_be_slow() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let mut lone = site.upload("198.51.100.1", SMALL_BYTES).await?;
    lone.send_slowly(SMALL_BYTES / 20).await?;
    let answer = lone.answer().await?;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    Ok(())
}
