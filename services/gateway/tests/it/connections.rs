//! Connections that attackers and broken proxies open, as the whole gateway meets them.

use std::{fs, net::Ipv4Addr, time::Duration};

use anyhow::Context;
use reqwest::StatusCode;
use tempfile::TempDir;
use testkit::{ChildProcess, eventually};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
    time::timeout,
};

use crate::without_services::Gateway;

const SOON: Duration = Duration::from_secs(20);

async fn connect(gateway: &Gateway) -> anyhow::Result<TcpStream> {
    let address = gateway.url.trim_start_matches("http://");
    Ok(TcpStream::connect(address).await?)
}

/// What is answered to these bytes until the connection ends.
async fn answer_to(gateway: &Gateway, words: &str) -> anyhow::Result<String> {
    let mut stream = connect(gateway).await?;
    stream.write_all(words.as_bytes()).await?;
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await??;
    Ok(answer)
}

#[tokio::test]
async fn a_flood_of_connections_does_not_hide_that_it_is_well() -> anyhow::Result<()> {
    let gateway = Gateway::start(&["--connections-at-once", "2"]).await?;
    let _silent = [connect(&gateway).await?, connect(&gateway).await?];
    let visitor = gateway.get("/").timeout(Duration::from_secs(1)).send().await;
    assert!(
        visitor.is_err_and(|error| error.is_timeout()),
        "there is no place left"
    );
    let health = gateway.health("/livez").send().await?;
    assert_eq!(health.status(), StatusCode::OK);
    Ok(())
}

#[tokio::test]
async fn where_the_system_begins_with_few_open_files_there_are_enough_for_all_connections()
-> anyhow::Result<()> {
    let logs = TempDir::new()?;
    let mut few = Command::new("sh");
    few.args([
        "-c",
        "ulimit -S -n 256 && exec \"$0\"",
        env!("CARGO_BIN_EXE_gateway"),
    ]);
    few.env("LISTEN", "127.0.0.1:0")
        .env("HEALTH_LISTEN", "127.0.0.1:0");
    let gateway = ChildProcess::start("gateway", logs.path(), few)?;
    let limits = format!("/proc/{}/limits", gateway.pid().context("it runs")?);
    eventually("more than 4,096 files may be open", SOON, async || {
        let limits = fs::read_to_string(&limits).ok()?;
        let files = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))?;
        let soft: u64 = files.split_whitespace().next()?.parse().ok()?;
        (soft > 4096).then_some(())
    })
    .await
}

#[tokio::test]
async fn visitors_learn_nothing_of_its_health() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for path in ["/livez", "/readyz"] {
        assert_eq!(gateway.get(path).send().await?.status(), StatusCode::NOT_FOUND);
        assert_ne!(gateway.health(path).send().await?.status(), StatusCode::NOT_FOUND);
    }
    Ok(())
}

#[tokio::test]
async fn one_address_has_its_share_of_the_connections_unless_it_is_a_proxys() -> anyhow::Result<()> {
    const SHARE: [&str; 2] = ["--connections-per-address", "1"];
    let is_answered = async |gateway: &Gateway| {
        // The server's side of a connection that ends is counted for a moment longer.
        let mut stream = connect(gateway).await?;
        stream
            .write_all(b"GET /api HTTP/1.1\r\nHost: site\r\n\r\n")
            .await?;
        let read = timeout(SOON, stream.read(&mut [0; 64])).await?;
        anyhow::Ok(read.is_ok_and(|bytes| bytes > 0))
    };
    let direct = Gateway::start_without_proxy(&SHARE).await?;
    let _held = connect(&direct).await?;
    assert!(!is_answered(&direct).await?);
    let behind_proxy = Gateway::start(&SHARE).await?;
    let _held = connect(&behind_proxy).await?;
    assert!(is_answered(&behind_proxy).await?);
    Ok(())
}

#[tokio::test]
async fn a_request_names_one_host() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for (hosts, status) in [
        ("Host: site\r\n", "404"),
        ("Host: [::1]:8080\r\n", "404"),
        ("Host:\r\n", "404"),
        ("", "400"),
        ("Host: site\r\nHost: site\r\n", "400"),
        ("Host: site, other\r\n", "400"),
        ("Host: a b\r\n", "400"),
    ] {
        let request = format!("GET /api/nothing HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
        let answer = answer_to(&gateway, &request).await?;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{hosts}: {answer}"
        );
        assert!(
            answer.contains("x-request-id") && answer.contains("\"success\":false"),
            "{answer}"
        );
    }
    for (hosts, status) in [("", "404"), ("Host: site\r\nHost: site\r\n", "400")] {
        let former = answer_to(&gateway, &format!("GET /api/nothing HTTP/1.0\r\n{hosts}\r\n")).await?;
        assert!(former.starts_with(&format!("HTTP/1.0 {status} ")), "{former}");
    }
    Ok(())
}

#[tokio::test]
async fn two_hosts_are_refused_whatever_is_asked_for() -> anyhow::Result<()> {
    const PAGE: &str = "Accept: text/html\r\n";
    const FRIEND: &str = "Origin: https://friend.example\r\nAccess-Control-Request-Method: POST\r\n";
    let gateway =
        Gateway::start(&["--rate-burst", "100", "--cors-origins", "https://friend.example"]).await?;
    for (asked, headers) in [
        ("GET /", ""),
        ("GET /nothing", PAGE),
        ("GET /api/contact", PAGE),
        ("HEAD /api/newsletter", PAGE),
        ("GET /api/career-application", PAGE),
        ("GET /api/newsletter/unsubscribe?token=a", ""),
        (
            "GET /api/newsletter/unsubscribe?newsletter=unsubscribe&token=a",
            PAGE,
        ),
        ("GET /api/openapi.json", ""),
        ("GET http://site/api/openapi.json", ""),
        ("OPTIONS /api/contact", FRIEND),
        ("POST /api/contact", ""),
        ("POST /api/contact", PAGE),
        ("POST /api/career-application", ""),
        ("POST /api/remote-failure", ""),
        ("POST /api/newsletter/confirm", PAGE),
    ] {
        let request = |hosts: &str| {
            format!("{asked} HTTP/1.1\r\n{hosts}{headers}Content-Length: 0\r\nConnection: close\r\n\r\n")
        };
        let two = answer_to(&gateway, &request("Host: site\r\nHost: other\r\n")).await?;
        assert!(two.starts_with("HTTP/1.1 400 "), "{asked} {headers}: {two}");
        let one = answer_to(&gateway, &request("Host: site\r\n")).await?;
        assert!(!one.is_empty(), "{asked} {headers}");
    }
    Ok(())
}

#[tokio::test]
async fn behind_a_load_balancer_of_connections_each_visitor_has_limits_of_its_own() -> anyhow::Result<()> {
    let gateway = Gateway::start_without_proxy(&[
        "--proxy-protocol-from",
        "10.0.0.0/8,127.0.0.0/8",
        "--rate-burst",
        "1",
    ])
    .await?;
    let status_for = async |visitor: &str, forwarded: &str| {
        let request = format!(
            "POST /api/newsletter HTTP/1.1\r\nHost: site\r\nContent-Length: 0\r\nX-Forwarded-For: {forwarded}\r\n\
             Connection: close\r\n\r\n"
        );
        let mut stream = connect(&gateway).await?;
        stream.write_all(&of_visitor(visitor.parse()?)).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        timeout(SOON, stream.read_to_string(&mut answer)).await??;
        let status = answer.split(' ').nth(1).context("an answer")?;
        Ok::<_, anyhow::Error>(status.to_owned())
    };
    assert_ne!(status_for("203.0.113.9", "198.51.100.1").await?, "429");
    assert_eq!(
        status_for("203.0.113.9", "198.51.100.2").await?,
        "429",
        "the header is its own word"
    );
    assert_ne!(status_for("203.0.113.10", "198.51.100.3").await?, "429");
    assert!(gateway.health("/livez").send().await?.status().is_success());
    assert!(
        gateway.get("/api").send().await.is_err(),
        "it comes without a header"
    );
    Ok(())
}

/// The header by which a load balancer tells of this visitor (PROXY protocol, version 2).
fn of_visitor(visitor: Ipv4Addr) -> Vec<u8> {
    [
        &b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"[..],
        &visitor.octets(),
        b"\x0a\0\0\x01\x13\x88\x01\xbb",
    ]
    .concat()
}

#[tokio::test]
async fn it_does_not_start_with_two_sources_of_one_address() {
    let flags = ["--trusted-proxies", "1", "--proxy-protocol-from", "10.0.0.0/8"];
    let refused = Gateway::start_without_proxy(&flags).await.err();
    let sentence = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        sentence.starts_with("The settings TRUSTED_PROXIES and PROXY_PROTOCOL_FROM contradict each other"),
        "{sentence}"
    );
}
