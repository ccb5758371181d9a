//! An OTLP collector that remembers what it is sent.

use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry_proto::tonic::{
    collector::{
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
    metrics::v1::{Metric, metric, number_data_point},
    trace::v1::Span,
};
use tokio::net::TcpListener;
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

/// A span and the service it is from.
pub type Seen = (String, Span);

#[derive(Clone, Default)]
pub struct Collector {
    spans: Arc<Mutex<Vec<Seen>>>,
    metrics: Arc<Mutex<Vec<Metric>>>,
}

impl Collector {
    /// A collector on a free port, and its address.
    pub async fn start() -> anyhow::Result<(Self, String)> {
        let collector = Self::default();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let server = tonic::transport::Server::builder()
            .add_service(TraceServiceServer::new(collector.clone()))
            .add_service(MetricsServiceServer::new(collector.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        Ok((collector, address))
    }

    /// The spans of a trace, which is named in hexadecimal digits.
    pub fn spans_of(&self, trace: &str) -> Vec<Seen> {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let spans = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        spans
            .iter()
            .filter(|(_, span)| hex(&span.trace_id) == trace)
            .cloned()
            .collect()
    }

    /// The last value of a counter with these attributes.
    pub fn count_of(&self, name: &str, attributes: &[(&str, &str)]) -> Option<i64> {
        let metrics = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        let points = metrics
            .iter()
            .filter(|metric| metric.name == name)
            .filter_map(|metric| match &metric.data {
                Some(metric::Data::Sum(sum)) => Some(&sum.data_points),
                _ => None,
            });
        let of = |point: &[KeyValue], (key, value): &(&str, &str)| {
            point
                .iter()
                .any(|attribute| attribute.key == *key && text(attribute) == Some(value))
        };
        points
            .flatten()
            .filter(|point| attributes.iter().all(|wanted| of(&point.attributes, wanted)))
            .filter_map(|point| match point.value {
                Some(number_data_point::Value::AsInt(value)) => Some(value),
                _ => None,
            })
            .next_back()
    }
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut seen = self.spans.lock().unwrap_or_else(PoisonError::into_inner);
        for spans in request.into_inner().resource_spans {
            let attributes = spans.resource.unwrap_or_default().attributes;
            let service = attributes
                .iter()
                .find(|attribute| attribute.key == "service.name")
                .and_then(text)
                .unwrap_or_default();
            let all = spans.scope_spans.into_iter().flat_map(|scope| scope.spans);
            seen.extend(all.map(|span| (service.to_owned(), span)));
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
        let mut seen = self.metrics.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(scopes.flat_map(|scope| scope.metrics));
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

fn text(attribute: &KeyValue) -> Option<&str> {
    match attribute.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}
