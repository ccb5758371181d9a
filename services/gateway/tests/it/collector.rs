//! OTLP collector that keeps the telemetry it receives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base16ct::lower::encode_string;
use opentelemetry_proto::tonic::{
    collector::{
        logs::v1::{
            ExportLogsServiceRequest, ExportLogsServiceResponse,
            logs_service_server::{LogsService, LogsServiceServer},
        },
        metrics::v1::{
            ExportMetricsServiceRequest, ExportMetricsServiceResponse,
            metrics_service_server::{MetricsService, MetricsServiceServer},
        },
        trace::v1::{
            ExportTraceServiceRequest, ExportTraceServiceResponse,
            trace_service_server::{TraceService, TraceServiceServer},
        },
    },
    common::v1::{KeyValue, any_value::Value},
    logs::v1::LogRecord,
    metrics::v1::{Metric, NumberDataPoint, metric, number_data_point},
    resource::v1::Resource,
    trace::v1::Span,
};
use tokio::net::TcpListener;
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

pub type Seen = (String, Span);

#[derive(Clone, Default)]
pub struct Collector {
    spans: Arc<Mutex<Vec<Seen>>>,
    metrics: Arc<Mutex<Vec<Metric>>>,
    logs: Arc<Mutex<Vec<(String, LogRecord)>>>,
}

impl Collector {
    pub async fn start() -> anyhow::Result<(Self, String)> {
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(collector.clone()))
            .add_service(MetricsServiceServer::new(collector.clone()))
            .add_service(LogsServiceServer::new(collector.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        Ok((collector, address))
    }

    pub fn spans_of(&self, trace: &str) -> Vec<Seen> {
        let mut spans = self.spans();
        spans.retain(|(_, span)| encode_string(&span.trace_id) == trace);
        spans
    }

    pub fn spans(&self) -> Vec<Seen> {
        lock(&self.spans).clone()
    }

    pub fn logs(&self) -> Vec<(String, LogRecord)> {
        lock(&self.logs).clone()
    }

    pub fn trace_of(&self, request_id: &str) -> Option<String> {
        let spans = lock(&self.spans);
        let is = |attribute: &KeyValue| attribute.key == "request_id" && text(attribute) == Some(request_id);
        let span = spans.iter().find(|(_, span)| span.attributes.iter().any(is));
        span.map(|(_, span)| encode_string(&span.trace_id))
    }

    pub fn logs_of(&self, trace: &str) -> Vec<(String, LogRecord)> {
        let mut logs = self.logs();
        logs.retain(|(_, log)| encode_string(&log.trace_id) == trace);
        logs
    }

    pub fn metrics(&self) -> Vec<Metric> {
        lock(&self.metrics).clone()
    }

    pub fn last(&self, name: &str) -> Option<Metric> {
        let metrics = lock(&self.metrics);
        metrics.iter().rfind(|metric| metric.name == name).cloned()
    }

    /// Returns the last value of the counter with these attributes.
    pub fn count_of(&self, name: &str, attributes: &[(&str, &str)]) -> Option<i64> {
        match self.last_of(name, attributes)? {
            number_data_point::Value::AsInt(value) => Some(value),
            number_data_point::Value::AsDouble(_) => None,
        }
    }

    pub fn gauge_of(&self, name: &str, attributes: &[(&str, &str)]) -> Option<f64> {
        match self.last_of(name, attributes)? {
            number_data_point::Value::AsInt(value) => Some(value as f64),
            number_data_point::Value::AsDouble(value) => Some(value),
        }
    }

    fn last_of(&self, name: &str, attributes: &[(&str, &str)]) -> Option<number_data_point::Value> {
        let metrics = lock(&self.metrics);
        let of = |point: &NumberDataPoint, (key, value): &(&str, &str)| {
            let mut all = point.attributes.iter();
            all.any(|attribute| attribute.key == *key && text(attribute) == Some(value))
        };
        metrics
            .iter()
            .filter(|metric| metric.name == name)
            .flat_map(|metric| match &metric.data {
                Some(metric::Data::Sum(sum)) => sum.data_points.as_slice(),
                Some(metric::Data::Gauge(gauge)) => &gauge.data_points,
                _ => &[],
            })
            .filter(|point| attributes.iter().all(|wanted| of(point, wanted)))
            .filter_map(|point| point.value)
            .next_back()
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut seen = lock(&self.spans);
        for spans in request.into_inner().resource_spans {
            let service = service(spans.resource);
            let all = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
            seen.extend(all.map(|span| (service.clone(), span)));
        }
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Collector {
    async fn export(
        &self,
        request: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let scopes = request
            .into_inner()
            .resource_metrics
            .into_iter()
            .flat_map(|resource| resource.scope_metrics);
        lock(&self.metrics).extend(scopes.flat_map(|scope| scope.metrics));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Collector {
    async fn export(
        &self,
        request: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        let mut seen = lock(&self.logs);
        for logs in request.into_inner().resource_logs {
            let service = service(logs.resource);
            let all = logs.scope_logs.into_iter().flat_map(|scope| scope.log_records);
            seen.extend(all.map(|log| (service.clone(), log)));
        }
        Ok(Response::new(ExportLogsServiceResponse::default()))
    }
}

fn text(attribute: &KeyValue) -> Option<&str> {
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}

fn service(resource: Option<Resource>) -> String {
    let attributes = resource.unwrap_or_default().attributes;
    let name = attributes
        .iter()
        .find(|attribute| attribute.key == "service.name");
    name.and_then(text).unwrap_or_default().to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
