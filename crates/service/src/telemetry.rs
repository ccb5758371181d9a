//! Logs as JSON lines on stdout; traces, metrics and logs by OTLP where an endpoint is set.

use std::{io::stdout, time::Duration};

use anyhow::Context;
use clap::Args;
use http::Uri;
use opentelemetry::{global, trace::TracerProvider};
use opentelemetry_appender_tracing::layer::OpenTelemetryTracingBridge;
use opentelemetry_otlp::{LogExporter, MetricExporter, SpanExporter, WithTonicConfig};
use opentelemetry_sdk::{
    Resource,
    logs::SdkLoggerProvider,
    metrics::SdkMeterProvider,
    trace::{Sampler, SdkTracerProvider},
};
use tokio::{
    task::{JoinSet, spawn_blocking},
    time::sleep,
};
use tonic::transport::Channel;
use tracing_subscriber::{
    EnvFilter, Layer, filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::{
    log_lines::LogLines,
    metrics, process,
    tls::{self, CaFile},
    trace,
};

/// Whose words go to stdout alone: these parts do the export, so what they say of one would cause the next.
const EXPORTERS: [&str; 5] = ["h2", "hyper", "opentelemetry", "tonic", "tower"];
/// How long a connection to the endpoint may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long after a service was built its metrics are first exported: its tasks have begun by then.
const FIRST_EXPORT: Duration = Duration::from_secs(3);

/// What is logged and where telemetry goes.
#[derive(Args, Debug, Clone)]
pub struct TelemetrySettings {
    /// What is logged, as tracing directives
    #[arg(long, env = "LOG", default_value = "info")]
    pub log: String,
    /// OTLP (gRPC) endpoint for traces, metrics and logs, such as http://collector:4317; nothing is exported without one
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub otlp_endpoint: Option<Uri>,
    /// File (PEM) of the authorities that an OTLP endpoint at https:// must have its certificate from
    #[arg(long, env = "OTEL_EXPORTER_OTLP_CERTIFICATE", value_parser = CaFile::parse, requires = "otlp_endpoint")]
    pub otlp_certificate: Option<CaFile>,
    /// Share of new traces that is recorded, 0 to 1
    #[arg(long, env = "OTEL_TRACES_SAMPLER_ARG", default_value_t = 1.0, value_parser = share)]
    pub trace_share: f64,
}

/// Writes and sends what is still buffered when it is dropped.
#[must_use]
pub struct Telemetry {
    traces: SdkTracerProvider,
    metrics: Option<SdkMeterProvider>,
    logs: Option<SdkLoggerProvider>,
    lines: LogLines,
    first_export: JoinSet<()>,
}

/// Starts logging and, where an endpoint is set, the export. Call once per process,
/// inside the runtime.
///
/// # Errors
///
/// If `LOG` or the export's settings are wrong.
pub fn start(settings: &TelemetrySettings, service: &'static str) -> anyhow::Result<Telemetry> {
    let filter = EnvFilter::try_new(&settings.log)
        .with_context(|| format!("The setting LOG is wrong: \"{}\"", settings.log))?;
    let resource = Resource::builder().with_service_name(service).build();
    let lines = LogLines::to(stdout()).context("there is no thread for the log lines")?;
    let telemetry = match &settings.otlp_endpoint {
        Some(endpoint) => {
            let channel = channel(endpoint, settings.otlp_certificate.as_ref())?;
            exporting(&channel, settings.trace_share, resource, lines.clone())?
        }
        // Without an exporter spans are never recorded, but still carry ids for the
        // logs and the events.
        None => Telemetry {
            traces: SdkTracerProvider::builder()
                .with_sampler(Sampler::AlwaysOff)
                .build(),
            metrics: None,
            logs: None,
            lines: lines.clone(),
            first_export: JoinSet::new(),
        },
    };
    if let Some(metrics) = &telemetry.metrics {
        global::set_meter_provider(metrics.clone());
        process::register_metrics();
        register_dropped_lines(lines.clone());
    }
    let ours = filter_fn(|event| !EXPORTERS.iter().any(|part| event.target().starts_with(part)));
    let exported = telemetry
        .logs
        .as_ref()
        .map(|logs| OpenTelemetryTracingBridge::new(logs).with_filter(ours));
    tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .with(exported)
        .try_init()
        .context("logging was already started")?;
    trace::set_tracer(telemetry.traces.tracer(service));
    Ok(telemetry)
}

fn register_dropped_lines(lines: LogLines) {
    metrics::meter()
        .u64_observable_counter("site.log.lines.dropped")
        .with_unit("{line}")
        .with_description("Log lines below WARN that were dropped")
        .with_callback(move |dropped| dropped.observe(lines.dropped(), &[]))
        .build();
}

/// A channel to the endpoint; nothing is connected yet.
fn channel(uri: &Uri, authorities: Option<&CaFile>) -> anyhow::Result<Channel> {
    let endpoint = tls::endpoint(uri, authorities.map(tls::trusting)).map_err(|reason| {
        anyhow::anyhow!("The setting OTEL_EXPORTER_OTLP_ENDPOINT is wrong: \"{uri}\": {reason}")
    })?;
    Ok(endpoint.connect_timeout(CONNECT_TIMEOUT).connect_lazy())
}

fn exporting(
    channel: &Channel,
    share: f64,
    resource: Resource,
    lines: LogLines,
) -> anyhow::Result<Telemetry> {
    let spans = SpanExporter::builder()
        .with_tonic()
        .with_channel(channel.clone())
        .build()?;
    let metrics = MetricExporter::builder()
        .with_tonic()
        .with_channel(channel.clone())
        .build()?;
    let logs = LogExporter::builder()
        .with_tonic()
        .with_channel(channel.clone())
        .build()?;
    Ok(Telemetry {
        traces: SdkTracerProvider::builder()
            .with_batch_exporter(spans)
            // A parent is always one of ours: what comes from outside begins a trace.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share))))
            .with_resource(resource.clone())
            .build(),
        metrics: Some(
            SdkMeterProvider::builder()
                .with_periodic_exporter(metrics)
                .with_resource(resource.clone())
                .build(),
        ),
        logs: Some(
            SdkLoggerProvider::builder()
                .with_batch_exporter(logs)
                .with_resource(resource)
                .build(),
        ),
        lines,
        first_export: JoinSet::new(),
    })
}

impl Telemetry {
    /// Exports the metrics once, a moment from now: alerts count from none, and the first regular export may be
    /// a minute away. Call it when the service is built.
    pub fn schedule_first_export(&mut self) {
        let Some(metrics) = self.metrics.clone() else {
            return;
        };
        self.first_export.spawn(async move {
            sleep(FIRST_EXPORT).await;
            // It waits for the collector.
            let exported = spawn_blocking(move || metrics.force_flush()).await;
            if let Ok(Err(error)) = exported {
                tracing::warn!(%error, "the first metrics could not be exported");
            }
        });
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        let traces = self.traces.shutdown();
        let metrics = self.metrics.as_ref().map_or(Ok(()), SdkMeterProvider::shutdown);
        let logs = self.logs.as_ref().map_or(Ok(()), SdkLoggerProvider::shutdown);
        if let Err(error) = traces.and(metrics).and(logs) {
            eprintln!("the last telemetry could not be sent: {error}");
        }
        self.lines.flush();
    }
}

fn share(raw: &str) -> Result<f64, String> {
    let share = raw.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".to_owned())
}
