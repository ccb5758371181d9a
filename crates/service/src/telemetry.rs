//! Logs as JSON lines on stdout; traces, metrics and logs by OTLP if an endpoint is set.

use std::{
    io::{self, BufWriter, Stdout, Write, stdout},
    thread,
    time::Duration,
};

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
use tonic::transport::Endpoint;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, Layer, filter::filter_fn, layer::SubscriberExt, util::SubscriberInitExt,
};

use crate::{
    error_line::error_line,
    log_lines::LogLines,
    metrics,
    tls::{self, CaFile},
};

/// Crates that export logs: exporting their own logs would cause more logs.
const EXPORTERS: [&str; 5] = ["h2", "hyper", "opentelemetry", "tonic", "tower"];
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const QUEUED_LINES: usize = 4096;
/// Lines within this time are written together, to wake the thread less often.
const GATHERING_TIME: Duration = Duration::from_millis(10);
/// Delay of the first metrics export, until the service's tasks have started.
const FIRST_EXPORT: Duration = Duration::from_secs(3);

/// Settings of logs, traces and metrics.
#[derive(Args, Debug, Clone)]
pub struct TelemetrySettings {
    /// Log filter, as tracing directives
    #[arg(long, env = "LOG", default_value = "info")]
    pub log: String,
    /// OTLP (gRPC) endpoint for traces, metrics and logs, such as http://collector:4317; if not set, nothing is exported
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub otlp_endpoint: Option<Uri>,
    /// File (PEM) of the authorities for the certificate of an OTLP endpoint at https://
    #[arg(long, env = "OTEL_EXPORTER_OTLP_CERTIFICATE", value_parser = CaFile::parse, requires = "otlp_endpoint")]
    pub otlp_certificate: Option<CaFile>,
    /// Sampling ratio of new traces, 0 to 1
    #[arg(long, env = "OTEL_TRACES_SAMPLER_ARG", default_value_t = 1.0, value_parser = share)]
    pub trace_share: f64,
}

/// Telemetry of the process; flushes its buffers when dropped.
#[must_use]
pub struct Telemetry {
    export: Option<Export>,
    /// Dropped last, as the final export may log.
    _lines: WorkerGuard,
}

struct Export {
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    logs: SdkLoggerProvider,
    collector: Endpoint,
    first_metrics: JoinSet<()>,
}

/// Starts logging and, if an endpoint is set, the export. Call once per process, inside the runtime.
///
/// # Errors
///
/// If `LOG` or the export's settings are invalid.
pub fn start(settings: &TelemetrySettings, service: &'static str) -> anyhow::Result<Telemetry> {
    let filter = EnvFilter::try_new(&settings.log)
        .with_context(|| format!("The setting LOG is wrong: \"{}\"", settings.log))?;
    let export = match &settings.otlp_endpoint {
        Some(endpoint) => Some(Export::new(endpoint, settings, service)?),
        None => None,
    };
    let (lines, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(QUEUED_LINES)
        .thread_name("log-lines")
        .finish(Gathered(BufWriter::new(stdout())));
    if let Some(export) = &export {
        global::set_meter_provider(export.metrics.clone());
        register_dropped_lines(lines.error_counter());
    }
    let is_ours = |target: &str| !EXPORTERS.iter().any(|part| target.starts_with(part));
    let spans = export.as_ref().map(|export| {
        tracing_opentelemetry::layer()
            .with_tracer(export.traces.tracer(service))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(move |span| span.is_span() && is_ours(span.target())))
    });
    let events = export.as_ref().map(|export| {
        let ours = filter_fn(move |event| is_ours(event.target()));
        OpenTelemetryTracingBridge::new(&export.logs).with_filter(ours)
    });
    tracing_subscriber::registry()
        .with(filter)
        .with(spans)
        .with(LogLines(lines))
        .with(events)
        .try_init()
        .context("logging was already started")?;
    Ok(Telemetry {
        export,
        _lines: guard,
    })
}

struct Gathered(BufWriter<Stdout>);

impl Write for Gathered {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write(line)
    }

    /// The writer's thread calls this when the queue is empty.
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()?;
        thread::park_timeout(GATHERING_TIME);
        Ok(())
    }
}

fn register_dropped_lines(lines: ErrorCounter) {
    metrics::meter()
        .u64_observable_counter("site.log.lines.dropped")
        .with_unit("{line}")
        .with_description("Log lines that were dropped because stdout was too slow")
        .with_callback(move |dropped| dropped.observe(lines.dropped_lines() as u64, &[]))
        .build();
}

fn collector(uri: &Uri, authorities: Option<&CaFile>) -> anyhow::Result<Endpoint> {
    let endpoint = tls::endpoint(uri, authorities.map(tls::trusting)).map_err(|reason| {
        anyhow::anyhow!("The setting OTEL_EXPORTER_OTLP_ENDPOINT is wrong: \"{uri}\": {reason}")
    })?;
    Ok(endpoint.connect_timeout(CONNECT_TIMEOUT))
}

impl Export {
    fn new(endpoint: &Uri, settings: &TelemetrySettings, service: &'static str) -> anyhow::Result<Self> {
        let collector = collector(endpoint, settings.otlp_certificate.as_ref())?;
        let channel = collector.connect_lazy();
        let resource = Resource::builder().with_service_name(service).build();
        let spans = SpanExporter::builder().with_tonic().with_channel(channel.clone());
        let metrics = MetricExporter::builder()
            .with_tonic()
            .with_channel(channel.clone());
        let logs = LogExporter::builder().with_tonic().with_channel(channel);
        // Clients cannot force sampling, because a parent span is always ours.
        let sampler = Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.trace_share)));
        Ok(Self {
            traces: SdkTracerProvider::builder()
                .with_batch_exporter(spans.build()?)
                .with_sampler(sampler)
                .with_resource(resource.clone())
                .build(),
            metrics: SdkMeterProvider::builder()
                .with_periodic_exporter(metrics.build()?)
                .with_resource(resource.clone())
                .build(),
            logs: SdkLoggerProvider::builder()
                .with_batch_exporter(logs.build()?)
                .with_resource(resource)
                .build(),
            collector,
            first_metrics: JoinSet::new(),
        })
    }
}

impl Telemetry {
    /// Exports the metrics once, soon after a service is built. Alerts need the first zero, and the
    /// regular export can take a minute.
    pub fn schedule_first_export(&mut self) {
        let Some(export) = &mut self.export else {
            return;
        };
        let (metrics, collector) = (export.metrics.clone(), export.collector.clone());
        export.first_metrics.spawn(async move {
            sleep(FIRST_EXPORT).await;
            // The exporters do not log why they cannot connect.
            if let Err(error) = collector.connect().await {
                let error = error_line(&error);
                tracing::warn!(
                    error,
                    "the collector cannot be reached; telemetry is dropped until it is"
                );
                return;
            }
            // The flush blocks on the collector.
            let exported = spawn_blocking(move || metrics.force_flush()).await;
            if let Ok(Err(error)) = exported {
                tracing::warn!(%error, "the first metrics could not be exported");
            }
        });
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let (traces, metrics) = (self.traces.shutdown(), self.metrics.shutdown());
        if let Err(error) = traces.and(metrics).and(self.logs.shutdown()) {
            eprintln!("the last telemetry could not be sent: {error}");
        }
    }
}

fn share(raw: &str) -> Result<f64, String> {
    let share = raw.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "not a number from 0 to 1".to_owned())
}
