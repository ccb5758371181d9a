//! Uploads that are slow on purpose, and honest ones beside them.

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
    task::JoinHandle,
    time::{Instant, interval, timeout},
};
use tonic::{
    Status, Streaming,
    transport::{Server, server::TcpIncoming},
};

use crate::without_services::Gateway;

/// For an honest application on a busy machine. The slow uploads last for minutes.
const SOON: Duration = Duration::from_secs(60);
/// For one that only the attack could delay.
const AT_ONCE: Duration = Duration::from_secs(10);
/// Default limit of concurrent uploads.
const PLACES: usize = 10;
/// Bytes sent of an upload that then stops.
const BEGINNING_BYTES: usize = 80 * 1024;
const LARGE_BYTES: usize = 3_000_000;
const SMALL_BYTES: usize = 300_000;

/// Accepts everything and counts the uploads in progress.
#[derive(Clone, Default)]
struct Taking(Arc<AtomicUsize>);

struct Coming(Arc<AtomicUsize>);

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[tonic::async_trait]
impl CareersService for Taking {
    async fn apply(
        &self,
        request: tonic::Request<Streaming<ApplyRequest>>,
    ) -> Result<tonic::Response<ApplyResponse>, Status> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let _coming = Coming(Arc::clone(&self.0));
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
    serving: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Site {
    async fn start(flags: &[&str]) -> anyhow::Result<Self> {
        let careers = Taking::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let server = Server::builder().add_service(CareersServiceServer::new(careers.clone()));
        let serving = tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        let flags = [&["--rate-burst", "100"], flags].concat();
        Ok(Self {
            gateway: Gateway::start_before(&url, &flags).await?,
            careers,
            serving,
        })
    }

    async fn with_places(&self, uploads: usize) -> anyhow::Result<()> {
        eventually(&format!("{uploads} uploads have a place"), SOON, async || {
            (self.careers.0.load(Ordering::Relaxed) == uploads).then_some(())
        })
        .await
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

    /// Sends this many bytes of each slow upload.
    async fn attack(&self, addresses: u8, from_each: usize, bytes: usize) -> anyhow::Result<Vec<Upload>> {
        let addresses = (0..addresses).map(|host| format!("203.0.113.{host}"));
        self.attack_from(addresses, from_each, bytes).await
    }

    async fn attack_from(
        &self,
        addresses: impl IntoIterator<Item = String>,
        from_each: usize,
        bytes: usize,
    ) -> anyhow::Result<Vec<Upload>> {
        let mut slow = Vec::new();
        for address in addresses {
            for _ in 0..from_each {
                let mut upload = self.upload(&address, LARGE_BYTES).await?;
                upload.send(bytes).await?;
                slow.push(upload);
            }
        }
        Ok(slow)
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

    /// Catches up after delays of a busy machine.
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

async fn ensure_taken(site: &Site, visitor: &str, bytes: usize) -> anyhow::Result<()> {
    let mut upload = site.upload(visitor, bytes).await?;
    let taken = async {
        upload.send(usize::MAX).await?;
        upload.answer().await
    };
    let answer = timeout(SOON, taken).await??;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    Ok(())
}

#[tokio::test]
async fn one_address_keeps_no_neighbour_out_however_much_it_sends() -> anyhow::Result<()> {
    let site = Site::start(&["--uploads-at-once", "3"]).await?;
    let _slow = site.attack(1, 20, BEGINNING_BYTES).await?;
    site.with_places(3).await?;
    ensure_taken(&site, "203.0.113.99", LARGE_BYTES).await
}

#[tokio::test]
async fn uploads_that_hardly_begin_are_in_nobodys_way() -> anyhow::Result<()> {
    let site = Site::start(&[]).await?;
    let _slow = site.attack(50, 2, 100).await?;
    site.with_places(PLACES).await?;
    ensure_taken(&site, "198.51.100.1", LARGE_BYTES).await
}

#[tokio::test]
async fn uploads_that_stop_are_told_so_and_make_room_for_a_visitor_soon() -> anyhow::Result<()> {
    let site = Site::start(&[]).await?;
    let slow = site.attack(10, 4, BEGINNING_BYTES).await?;
    site.with_places(PLACES).await?;
    ensure_taken(&site, "198.51.100.1", LARGE_BYTES).await?;
    let answers = slow.into_iter().map(|upload| Box::pin(upload.answer()));
    let answer = select_all(answers).await.0?;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("This arrived too slowly"), "{answer}");
    Ok(())
}

#[tokio::test]
async fn uploads_that_stop_in_line_hold_up_nobody_behind_them() -> anyhow::Result<()> {
    let site = Site::start(&[]).await?;
    let _slow = site.attack(50, 4, BEGINNING_BYTES).await?;
    site.with_places(PLACES).await?;
    ensure_taken(&site, "198.51.100.1", LARGE_BYTES).await
}

#[tokio::test]
async fn uploads_that_come_steadily_but_slowly_hold_up_no_other_visitor() -> anyhow::Result<()> {
    for network in ["203.0.113.{}", "203.0.{}.1", "2001:db8:1:{}::1", "2001:db8:{}::1"] {
        let site = Site::start(&[]).await?;
        let addresses = (0..5).map(|address| network.replace("{}", &address.to_string()));
        let slow = site.attack_from(addresses, 2, BEGINNING_BYTES).await?;
        site.with_places(PLACES).await?;
        let attack = slow
            .into_iter()
            .map(|mut upload| async move { upload.send_slowly(40_000).await });
        let attack = tokio::spawn(join_all(attack));
        for honest in ["198.51.100.1", "203.0.113.9"] {
            let begun = Instant::now();
            ensure_taken(&site, honest, LARGE_BYTES).await?;
            assert!(begun.elapsed() < AT_ONCE, "{network}: {:?}", begun.elapsed());
        }
        attack.abort();
    }
    Ok(())
}

#[tokio::test]
async fn an_upload_that_nobody_waits_for_may_be_slow() -> anyhow::Result<()> {
    const RATE: usize = SMALL_BYTES / 20;
    let site = Site::start(&[]).await?;
    let mut lone = site.upload("198.51.100.1", SMALL_BYTES).await?;
    lone.send_slowly(RATE).await?;
    let answer = lone.answer().await?;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    Ok(())
}

#[tokio::test]
async fn a_slow_visitor_keeps_a_place_while_a_network_that_holds_more_waits_for_another() -> anyhow::Result<()>
{
    const RATE: usize = SMALL_BYTES / 8;
    let site = Site::start(&["--uploads-at-once", "4"]).await?;
    let mut lone = site.upload("198.51.100.1", SMALL_BYTES).await?;
    lone.send(1000).await?;
    site.with_places(1).await?;
    let attack = site.attack(20, 1, BEGINNING_BYTES);
    let (_, _slow) = tokio::try_join!(lone.send_slowly(RATE), attack)?;
    let answer = lone.answer().await?;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    Ok(())
}

#[tokio::test]
async fn slow_lines_have_their_turns_while_many_wait() -> anyhow::Result<()> {
    let rate = LARGE_BYTES / 10;
    let site = Site::start(&["--uploads-at-once", "1"]).await?;
    let mut first = site.upload("198.51.100.1", LARGE_BYTES).await?;
    first.send(BEGINNING_BYTES).await?;
    site.with_places(1).await?;
    let mut second = site.upload("198.51.100.2", LARGE_BYTES).await?;
    // Neither may fall silent while a busy machine begins twenty others.
    let behind_it = async {
        second.send(BEGINNING_BYTES).await?;
        tokio::try_join!(second.send_slowly(rate), site.attack(20, 1, BEGINNING_BYTES))
    };
    let (_, (_, _slow)) = tokio::try_join!(first.send_slowly(rate * 2), behind_it)?;
    for honest in [first, second] {
        let answer = honest.answer().await?;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    Ok(())
}

#[tokio::test]
async fn a_small_application_finds_room_beside_large_ones() -> anyhow::Result<()> {
    let site = Site::start(&["--uploads-at-once", "4"]).await?;
    let _slow = site.attack(10, 1, BEGINNING_BYTES).await?;
    site.with_places(4).await?;
    ensure_taken(&site, "198.51.100.1", SMALL_BYTES).await
}
