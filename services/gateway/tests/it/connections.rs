//! Connections of attackers and broken proxies.

use std::{fs, time::Duration};

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

async fn answer_to(gateway: &Gateway, words: &str) -> anyhow::Result<String> {
    let mut stream = connect(gateway).await?;
    stream.write_all(words.as_bytes()).await?;
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await??;
    Ok(answer)
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
