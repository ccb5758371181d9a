//! Reports of remotes that browsers could not load.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use testkit::{Ports, Stack, eventually};

use crate::{collector::Collector, without_services::Gateway};

#[tokio::test]
async fn a_reported_failure_is_counted_by_remote_and_reason() -> anyhow::Result<()> {
    let (collector, address) = Collector::start().await?;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
    ];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    let client = reqwest::Client::new();
    for reason in ["slow", "broken", "broken"] {
        let answer = client
            .post(format!("{}/api/remote-failure", stack.site()))
            .json(&json!({ "remote": "blog", "reason": reason }))
            .send()
            .await?;
        assert_eq!(answer.status(), StatusCode::OK);
    }
    let broken = [("remote", "blog"), ("reason", "broken")];
    eventually(
        "both reports in the metrics",
        Duration::from_secs(60),
        async || (collector.count_of("site.remote.failures", &broken) == Some(2)).then_some(()),
    )
    .await
}

#[tokio::test]
async fn a_report_of_something_unknown_is_refused_and_a_flood_is_held_back() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    let report = |remote: &'static str| {
        gateway
            .post("/api/remote-failure")
            .json(&json!({ "remote": remote, "reason": "slow" }))
            .send()
    };
    assert_eq!(report("ghost").await?.status(), StatusCode::BAD_REQUEST);
    let mut answers = Vec::new();
    for _ in 0..6 {
        answers.push(report("careers").await?.status());
    }
    assert!(answers.contains(&StatusCode::OK), "{answers:?}");
    assert_eq!(
        answers.last(),
        Some(&StatusCode::TOO_MANY_REQUESTS),
        "{answers:?}"
    );
    Ok(())
}
