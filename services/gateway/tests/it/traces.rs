//! An OTLP collector receives one trace of the visitor's request and of everything that follows from it.

use std::time::Duration;

use opentelemetry_proto::tonic::{
    common::v1::any_value::Value,
    trace::v1::{Span, span::SpanKind, status::StatusCode as SpanStatus},
};
use reqwest::{Client, StatusCode, multipart};
use serde_json::json;
use testkit::{CertificateAuthority, Ports, Stack, TcpProxy, eventually, measure::pdf};

use crate::{
    collector::{Collector, Seen},
    log_lines,
};

const EXPORT: Duration = Duration::from_secs(90);
const MAIL: Duration = Duration::from_secs(45);
/// Trace context that a visitor's browser sends, flagged as not sampled.
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
const VISITORS_TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const VISITORS_SPAN: [u8; 8] = [0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31];

/// Expected tree of spans: service, kind and name of each.
const TREE: &str = "\
gateway SERVER POST /api/career-application
  gateway CLIENT careers.v1.CareersService/Apply
    careers SERVER careers.v1.CareersService/Apply
      careers CLIENT S3/PutObject
      careers PRODUCER publish site.careers.applied
        notifier CONSUMER process site.careers.applied
          notifier CLIENT POST
        notifier CONSUMER process site.careers.applied
          notifier CLIENT S3/GetObject
          notifier CLIENT send mail
        notifier CONSUMER process site.careers.applied
          notifier CLIENT send mail
";

/// Kind and name of spans, and the attributes expected in them, by which operators search.
const ATTRIBUTES: [(SpanKind, &str, &str); 5] = [
    (
        SpanKind::Server,
        "POST /api/career-application",
        "http.request.method=POST http.route=/api/career-application http.response.status_code=200 url.scheme=http",
    ),
    (
        SpanKind::Client,
        "careers.v1.CareersService/Apply",
        "rpc.system=grpc rpc.service=careers.v1.CareersService rpc.method=Apply rpc.grpc.status_code=0 \
         server.address=127.0.0.1",
    ),
    (
        SpanKind::Client,
        "S3/PutObject",
        "rpc.system=aws-api rpc.service=S3 rpc.method=PutObject aws.s3.bucket=resumes server.address=127.0.0.1",
    ),
    (
        SpanKind::Producer,
        "publish site.careers.applied",
        "messaging.system=nats messaging.operation.name=publish messaging.operation.type=send \
         messaging.destination.name=site.careers.applied",
    ),
    (
        SpanKind::Consumer,
        "process site.careers.applied",
        "messaging.system=nats messaging.operation.name=process messaging.operation.type=process \
         messaging.destination.name=site.careers.applied",
    ),
];

/// Stack after one application, with the collector that received its telemetry over TLS.
struct Applied {
    stack: Stack,
    collector: Collector,
    trace: String,
    request_id: String,
    _tls: (CertificateAuthority, TcpProxy),
}

impl Applied {
    async fn start() -> anyhow::Result<Self> {
        let (collector, address) = Collector::start().await?;
        let (_, port) = address.rsplit_once(':').unwrap_or_default();
        let authority = CertificateAuthority::new()?;
        let proxy = TcpProxy::start_encrypted(authority.issue("127.0.0.1")?, port.parse()?).await?;
        let address = format!("https://127.0.0.1:{}", proxy.port);
        let trusted = authority.file().display().to_string();
        let settings = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
            ("OTEL_EXPORTER_OTLP_CERTIFICATE", trusted.as_str()),
            ("OTEL_BSP_SCHEDULE_DELAY", "200"),
            ("OTEL_BLRP_SCHEDULE_DELAY", "200"),
        ];
        let stack = Stack::start(Ports::free()?, &settings).await?;
        let form = multipart::Form::new()
            .part("resume", multipart::Part::bytes(pdf(100_000)).file_name("cv.pdf"))
            .text("name", "Asha")
            .text("email", "asha@example.org")
            .text("position", "Intern")
            .text("coverLetter", "Hello.");
        let answer = Client::new()
            .post(format!("{}/api/career-application", stack.site()))
            .header("traceparent", TRACEPARENT)
            .multipart(form)
            .send()
            .await?;
        assert_eq!(answer.status(), StatusCode::OK);
        let request_id = answer.headers()["x-request-id"].to_str()?.to_owned();
        let trace = eventually("a span of the request", EXPORT, async || {
            collector.trace_of(&request_id)
        })
        .await?;
        Ok(Self {
            stack,
            collector,
            trace,
            request_id,
            _tls: (authority, proxy),
        })
    }
}

/// Renders the spans below `parent`: indented by level, sorted by name.
fn tree(spans: &[Seen], parent: &[u8], depth: usize) -> String {
    let below = spans.iter().filter(|(_, span)| span.parent_span_id == parent);
    let mut branches: Vec<String> = below
        .map(|(service, span)| {
            let kind = span.kind().as_str_name().trim_start_matches("SPAN_KIND_");
            let further = tree(spans, &span.span_id, depth + 1);
            let indent = "  ".repeat(depth);
            format!("{indent}{service} {kind} {}\n{further}", span.name)
        })
        .collect();
    branches.sort();
    branches.concat()
}

fn value(span: &Span, key: &str) -> Option<String> {
    let attribute = span.attributes.iter().find(|attribute| attribute.key == key)?;
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    }
}

#[tokio::test]
async fn an_application_has_one_trace_through_all_services() -> anyhow::Result<()> {
    let applied = Applied::start().await?;
    let (collector, trace) = (&applied.collector, &applied.trace);
    let whole = eventually("the whole tree", EXPORT, async || {
        (tree(&collector.spans_of(trace), &[], 0) == TREE).then_some(())
    });
    if whole.await.is_err() {
        assert_eq!(tree(&collector.spans_of(trace), &[], 0), TREE);
    }
    let spans = collector.spans_of(trace);
    let of = |kind: SpanKind, name: &str| -> Vec<&Span> {
        let all = spans.iter().map(|(_, span)| span);
        all.filter(|span| span.kind() == kind && span.name == name)
            .collect()
    };
    for (kind, name, attributes) in ATTRIBUTES {
        for span in of(kind, name) {
            for attribute in attributes.split_whitespace() {
                let (key, wanted) = attribute.split_once('=').unwrap_or_default();
                assert_eq!(value(span, key).as_deref(), Some(wanted), "{key} of {name}");
            }
        }
    }
    for (service, span) in &spans {
        let status = span.status.as_ref().map(|status| status.code());
        assert_ne!(status, Some(SpanStatus::Error), "{} of {service}", span.name);
    }
    let root = of(SpanKind::Server, "POST /api/career-application")[0];
    let links: Vec<_> = root.links.iter().map(|link| link.span_id.as_slice()).collect();
    assert_eq!(links, [VISITORS_SPAN]);
    assert!(collector.spans_of(VISITORS_TRACE).is_empty());
    let producer = of(SpanKind::Producer, "publish site.careers.applied")[0];
    for consumer in of(SpanKind::Consumer, "process site.careers.applied") {
        let links: Vec<_> = consumer.links.iter().map(|link| &link.span_id).collect();
        assert_eq!(links, [&producer.span_id]);
    }
    ensure_logs_carry_the_trace(&applied).await
}

async fn ensure_logs_carry_the_trace(applied: &Applied) -> anyhow::Result<()> {
    let (stack, trace, request_id) = (&applied.stack, &applied.trace, &applied.request_id);
    let logs = eventually("a log record of each service on the way", EXPORT, async || {
        let logs = applied.collector.logs_of(trace);
        let of = |service: &str| logs.iter().any(|(from, _)| from == service);
        (of("gateway") && of("careers")).then_some(logs)
    })
    .await?;
    assert!(format!("{logs:?}").contains("event stored"), "{logs:?}");
    // Log lines on stdout name the same trace: one line per service, and one per channel of the notifier.
    for (service, message, lines) in [
        ("gateway", "answered", 1),
        ("careers", "event stored", 1),
        ("notifier", "sent", 3),
    ] {
        let log = stack.logs.join(format!("{service}.log"));
        let logged = log_lines::found(&log, lines, |line| line["request_id"] == *request_id).await?;
        assert_eq!(logged.len(), lines, "{service}: {logged:?}");
        for line in logged {
            assert_eq!(
                (&line["message"], &line["trace_id"]),
                (&json!(message), &json!(trace))
            );
        }
    }
    let log = stack.logs.join("gateway.log");
    let line = &log_lines::found(&log, 1, |line| line["request_id"] == *request_id).await?[0];
    for (field, value) in [
        ("http.request.method", json!("POST")),
        ("http.route", json!("/api/career-application")),
        ("http.response.status_code", json!(200)),
        ("outcome", json!("accepted")),
    ] {
        assert_eq!(line[field], value, "{field}");
    }
    assert!(line["duration_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{line}");
    Ok(())
}

#[tokio::test]
async fn visitors_cannot_force_trace_sampling() -> anyhow::Result<()> {
    let (collector, address) = Collector::start().await?;
    let settings = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", address.as_str()),
        ("OTEL_TRACES_SAMPLER_ARG", "0"),
    ];
    let stack = Stack::start(Ports::free()?, &settings).await?;
    let answer = Client::new()
        .post(format!("{}/api/contact", stack.site()))
        .header("traceparent", TRACEPARENT.replace("-00", "-01"))
        .json(&json!({ "name": "Asha", "email": "asha@example.org", "message": "Hello" }))
        .send()
        .await?;
    assert_eq!(answer.status(), StatusCode::OK);
    stack.mail_server()?.mails_to("asha@example.org", 1, MAIL).await?;
    // Services export their remaining telemetry when they stop.
    stack.stop().await?;
    assert!(!collector.metrics().is_empty());
    let recorded = collector.spans();
    assert!(recorded.is_empty(), "{recorded:?}");
    Ok(())
}
