//! Logs, spans and metrics do not repeat words that strangers put into a request.

use std::{fs, path::Path, time::Duration};

use anyhow::Context;
use site_service::SYNTHETIC_MARK;
use tempfile::TempDir;
use testkit::{ChildProcess, free_ports};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
    time::timeout,
};

use crate::{collector::Collector, log_lines, personal_data::ensure_without, without_services::small_site};

const SOON: Duration = Duration::from_secs(30);
/// Word of a stranger: stands for personal data, or for a message to readers of the log.
const MARK: &str = "qzxmark";
const TARGETS: [&str; 16] = [
    "/qzxmark",
    "/qzxmark@example.org.html",
    "//qzxmark",
    "/%71zxmark",
    "/about?token=qzxmark",
    "/?variant=qzxmark",
    "/assets/qzxmark.js",
    "/remotes/qzxmark/remoteEntry.js",
    "/api/qzxmark",
    "/api/newsletter/mail-reports/qzxmark@example.org",
    "/api/contact/qzxmark",
    "/api/contact?qzxmark=1",
    "/api/newsletter/unsubscribe?token=qzxmark",
    "/api/newsletter/confirm?newsletter=confirm&token=qzxmark",
    "http://qzxmark.example/about",
    "http://qzxmark.example/qzxmark",
];
const METHODS: [&str; 3] = ["GET", "POST", "QZXMARK"];
const HEADERS: [&str; 19] = [
    "Accept",
    "Accept-Encoding",
    "Authorization",
    "Baggage",
    "Challenge-Solution",
    "Content-Encoding",
    "Content-Type",
    "Cookie",
    "Forwarded",
    "Idempotency-Key",
    "If-None-Match",
    "Origin",
    "Range",
    "Referer",
    SYNTHETIC_MARK,
    "Tracestate",
    "User-Agent",
    "X-Forwarded-For",
    "X-Request-Id",
];

async fn gateway(site: &Path, logs: &Path, collector: &str) -> anyhow::Result<(ChildProcess, u16)> {
    let [port] = free_ports()?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
    command
        .env("LISTEN", format!("127.0.0.1:{port}"))
        .env("HEALTH_LISTEN", "127.0.0.1:0")
        .env("SITE_DIR", site)
        .env("VISITOR_ADDRESS_FROM", "x-forwarded-for")
        .env("RATE_BURST", "10000")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector);
    let mut gateway = ChildProcess::start("gateway", logs, command)?;
    gateway.listens(port, SOON).await?;
    Ok((gateway, port))
}

async fn ask(port: u16, asked: &str, headers: &str) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!(
        "{asked} HTTP/1.1\r\nHost: {MARK}.example\r\n{headers}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await??;
    let id = answer
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: "));
    Ok(id.with_context(|| format!("no id: {answer}"))?.to_owned())
}

#[tokio::test]
async fn telemetry_never_repeats_a_strangers_input() -> anyhow::Result<()> {
    let (collector, address) = Collector::start().await?;
    let (site, logs) = (small_site()?, TempDir::new()?);
    let (gateway, port) = gateway(site.path(), logs.path(), &address).await?;
    let mut asked = Vec::new();
    for target in TARGETS {
        for method in METHODS {
            asked.push(ask(port, &format!("{method} {target}"), "").await?);
        }
    }
    for header in HEADERS {
        for asks in ["GET /about", "GET /api/nothing", "POST /api/contact"] {
            asked.push(ask(port, asks, &format!("{header}: {MARK}-zoe\r\n")).await?);
        }
    }
    let log = logs.path().join("gateway.log");
    log_lines::found(&log, asked.len(), |line| line["message"] == "answered").await?;
    gateway.stop_cleanly().await?;
    let told = [
        fs::read_to_string(&log)?,
        format!("{:?}", collector.spans()),
        format!("{:?}", collector.logs()),
        format!("{:?}", collector.metrics()),
    ];
    for id in asked {
        assert!(told[0].contains(&id), "no line of {id}");
    }
    for told in told {
        assert!(!told.is_empty());
        ensure_without(&[MARK], "telemetry", &told);
    }
    Ok(())
}
