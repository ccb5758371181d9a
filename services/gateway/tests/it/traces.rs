//! One trace from the visitor's request to the mails it caused, as an OTLP collector sees it.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use testkit::{Ports, Stack, eventually};

use crate::collector::Collector;

/// Batches of spans leave a service every five seconds.
const EXPORT: Duration = Duration::from_secs(20);
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[tokio::test]
async fn a_message_is_one_trace_from_the_gateway_to_both_mails() -> anyhow::Result<()> {
    let (collector, address) = Collector::start().await?;
    let settings = [("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str())];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    let answer = reqwest::Client::new()
        .post(format!("{}/api/contact", stack.site()))
        .header("traceparent", TRACEPARENT)
        .json(&json!({ "name": "Asha", "email": "asha@example.org", "message": "Hello" }))
        .send()
        .await?;
    assert_eq!(answer.status(), StatusCode::OK);

    let spans = eventually("the spans of all three services", EXPORT, async || {
        let spans = collector.spans_of(TRACE);
        let of = |service: &str| spans.iter().filter(|(from, _)| from == service).count();
        // The visitor's acknowledgement and the lead for sales are a delivery each.
        (of("gateway") > 0 && of("contact") > 0 && of("notifier") >= 2).then_some(spans)
    })
    .await?;

    // Each hop hangs below the one before it.
    let parent_of = |service: &str| {
        spans
            .iter()
            .filter(|(from, _)| from == service)
            .map(|(_, span)| span.parent_span_id.clone())
            .collect::<Vec<_>>()
    };
    let ids_of = |service: &str| {
        spans
            .iter()
            .filter(|(from, _)| from == service)
            .map(|(_, span)| span.span_id.clone())
            .collect::<Vec<_>>()
    };
    for (below, above) in [("contact", "gateway"), ("notifier", "contact")] {
        let above_ids = ids_of(above);
        assert!(
            parent_of(below).iter().any(|parent| above_ids.contains(parent)),
            "no span of {below} hangs below one of {above}: {:?}",
            spans
                .iter()
                .map(|(from, span)| (from, &span.name))
                .collect::<Vec<_>>()
        );
    }
    Ok(())
}
