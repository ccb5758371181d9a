//! What operators learn of parts of the site that browsers could not load, or that its policy kept from them.

use std::time::Duration;

use reqwest::{StatusCode, header};
use serde_json::json;
use testkit::{Ports, Stack, eventually};

use crate::{collector::Collector, log_lines, without_services::Gateway};

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

#[tokio::test]
async fn what_the_policy_refuses_is_counted_by_directive_and_kind() -> anyhow::Result<()> {
    const LINK: &str = "https://oculant.example/?newsletter=confirm&token=secret";
    let (collector, address) = Collector::start().await?;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
    ];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    let queued = json!([{
        "type": "csp-violation",
        "url": LINK,
        "body": { "documentURL": LINK, "blockedURL": "inline", "effectiveDirective": "style-src-elem" },
    }]);
    let legacy = json!({
        "csp-report": { "document-uri": LINK, "blocked-uri": "inline", "violated-directive": "style-src 'self'" },
    });
    for (content_type, report) in [
        ("application/reports+json", queued),
        ("application/csp-report", legacy),
    ] {
        let answer = reqwest::Client::new()
            .post(format!("{}/api/remote-failure", stack.site()))
            .header(header::CONTENT_TYPE, content_type)
            .body(report.to_string())
            .send()
            .await?;
        assert_eq!(answer.status(), StatusCode::OK, "{content_type}");
    }
    let inline = [("directive", "style-src"), ("blocked", "inline")];
    eventually(
        "both reports in the metrics",
        Duration::from_secs(60),
        async || (collector.count_of("site.policy.violations", &inline) == Some(2)).then_some(()),
    )
    .await?;
    let log = stack.logs.join("gateway.log");
    let logged = log_lines::found(&log, 2, |line| {
        line["message"] == "the content security policy kept something from a page"
            && line["level"] == "WARN"
            && (&line["directive"], &line["blocked"]) == (&json!("style-src"), &json!("inline"))
    });
    assert_eq!(logged.await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_report_of_the_policy_that_is_none_or_endless_is_refused() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for content_type in ["application/reports+json", "application/csp-report"] {
        for (body, status) in [
            ("{", StatusCode::BAD_REQUEST),
            (&"[".repeat(40_000), StatusCode::PAYLOAD_TOO_LARGE),
        ] {
            let answer = gateway
                .post("/api/remote-failure")
                .header(header::CONTENT_TYPE, content_type)
                .body(body.to_owned())
                .send()
                .await?;
            assert_eq!(answer.status(), status, "{content_type}");
        }
    }
    Ok(())
}
