//! One trace from the visitor's request to the mails it caused, as an OTLP collector sees it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::{
        ExportTraceServiceRequest, ExportTraceServiceResponse,
        trace_service_server::{TraceService, TraceServiceServer},
    },
    common::v1::any_value::Value,
    trace::v1::Span,
};
use reqwest::StatusCode;
use serde_json::json;
use testkit::{Ports, Stack, eventually};
use tokio::net::TcpListener;
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

/// Batches of spans leave a service every five seconds.
const EXPORT: Duration = Duration::from_secs(20);
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// A span and the service it is from.
type Seen = (String, Span);

#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Seen>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut seen = self.0.lock().map_err(|_| Status::internal("poisoned"))?;
        for spans in request.into_inner().resource_spans {
            let attributes = spans.resource.unwrap_or_default().attributes;
            let service = attributes
                .into_iter()
                .find(|attribute| attribute.key == "service.name")
                .and_then(|attribute| match attribute.value?.value? {
                    Value::StringValue(name) => Some(name),
                    _ => None,
                });
            let service = service.unwrap_or_default();
            let all = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
            seen.extend(all.map(|span| (service.clone(), span)));
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    async fn start() -> anyhow::Result<(Self, String)> {
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(collector.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        Ok((collector, address))
    }

    fn of_the_trace(&self) -> Vec<Seen> {
        let seen = self.0.lock().map(|seen| seen.clone()).unwrap_or_default();
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        seen.into_iter()
            .filter(|(_, span)| hex(&span.trace_id) == TRACE)
            .collect()
    }
}

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
        let spans = collector.of_the_trace();
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
