//! Connections of attackers and broken proxies.

use std::time::Duration;

use reqwest::StatusCode;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::without_services::Gateway;

const SOON: Duration = Duration::from_secs(20);

async fn answer_to(gateway: &Gateway, words: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(gateway.url.trim_start_matches("http://")).await?;
    stream.write_all(words.as_bytes()).await?;
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await??;
    Ok(answer)
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

/// Unit tests in `http_middleware` cover which `Host` headers are valid; this one covers all routes.
#[tokio::test]
async fn two_hosts_are_refused_on_every_route() -> anyhow::Result<()> {
    const SITE: &str = "Host: site\r\n";
    const PAGE: &str = "Accept: text/html\r\n";
    const FRIEND: &str = "Origin: https://friend.example\r\nAccess-Control-Request-Method: POST\r\n";
    let gateway =
        Gateway::start(&["--rate-burst", "100", "--cors-origins", "https://friend.example"]).await?;
    for (asked, headers) in [
        ("GET /", ""),
        ("GET /nothing", PAGE),
        ("GET /api/contact", PAGE),
        ("HEAD /api/newsletter", PAGE),
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
        let second = |host: &str| format!("{SITE}Host: {host}\r\n");
        for hosts in ["", &second("site"), &second("other")] {
            let refused = answer_to(&gateway, &request(hosts)).await?;
            let is_refused = refused.starts_with("HTTP/1.1 400 ");
            assert!(is_refused, "{asked} {headers}: {refused}");
        }
        let answered = answer_to(&gateway, &request(SITE)).await?;
        assert!(!answered.is_empty(), "{asked} {headers}");
    }
    Ok(())
}
