//! Telemetry over TLS.

use std::{fs, time::Duration};

use reqwest::{Client, StatusCode};
use serde_json::json;
use testkit::{CertificateAuthority, Hosting, MountedCertificate, Ports, Shape, Stack, TcpProxy, eventually};

use crate::collector::Collector;

const EXPORT: Duration = Duration::from_secs(90);
/// Collector of one authority, and settings of services that trust another.
struct Telemetry {
    collector: Collector,
    _proxy: TcpProxy,
    trusted: MountedCertificate,
    settings: Vec<(&'static str, String)>,
}

impl Telemetry {
    async fn start(issuer: &CertificateAuthority, trusted: &CertificateAuthority) -> anyhow::Result<Self> {
        let (collector, address) = Collector::start().await?;
        let (_, port) = address.rsplit_once(':').unwrap_or_default();
        let proxy = TcpProxy::start_encrypted(issuer.issue("127.0.0.1")?, port.parse()?).await?;
        let trusted = MountedCertificate::new(trusted.issue_to_server(&["127.0.0.1"])?, trusted)?;
        let settings = vec![
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                format!("https://127.0.0.1:{}", proxy.port),
            ),
            (
                "OTEL_EXPORTER_OTLP_CERTIFICATE",
                trusted.file("ca.crt").display().to_string(),
            ),
            ("OTEL_BSP_SCHEDULE_DELAY", "200".to_owned()),
            ("OTEL_BLRP_SCHEDULE_DELAY", "200".to_owned()),
        ];
        Ok(Self {
            collector,
            _proxy: proxy,
            trusted,
            settings,
        })
    }

    async fn stack(&self) -> anyhow::Result<Stack> {
        let settings: Vec<_> = self
            .settings
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let shape = Shape {
            hosting: Hosting::Nobody,
            ..Shape::default()
        };
        Stack::start_as(shape, Ports::free()?, &settings).await
    }
}

async fn contacted(stack: &Stack) -> anyhow::Result<String> {
    let answer = Client::new()
        .post(format!("{}/api/contact", stack.site()))
        .json(&json!({ "name": "Asha", "email": "asha@example.org", "message": "Hello" }))
        .send()
        .await?;
    assert_eq!(answer.status(), StatusCode::OK);
    Ok(answer.headers()["x-request-id"].to_str()?.to_owned())
}

#[tokio::test]
async fn a_collector_of_an_unknown_authority_gets_nothing_until_that_is_trusted() -> anyhow::Result<()> {
    let (theirs, ours) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
    let telemetry = Telemetry::start(&theirs, &ours).await?;
    let mut stack = telemetry.stack().await?;
    let log = stack.logs.join("gateway.log");
    eventually("the gateway says so", EXPORT, async || {
        let log = fs::read_to_string(&log).ok()?;
        log.contains("UnknownIssuer").then_some(())
    })
    .await?;
    let request_id = contacted(&stack).await?;
    assert!(telemetry.collector.trace_of(&request_id).is_none());

    let renewed = ours.issue_to_server(&["127.0.0.1"])?;
    telemetry.trusted.renew(renewed, theirs.pem())?;
    stack.stop_service("gateway").await?;
    stack.start_service("gateway")?;
    stack.ready(EXPORT).await?;
    let request_id = contacted(&stack).await?;
    eventually("a span of the request", EXPORT, async || {
        telemetry.collector.trace_of(&request_id)
    })
    .await?;
    stack.stop().await
}
