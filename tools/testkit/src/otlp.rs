//! Where telemetry goes when it is measured what sending it costs.

use opentelemetry_proto::tonic::collector::{
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
};
use tokio::net::TcpListener;
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

/// An OTLP (gRPC) collector that takes everything and keeps nothing.
pub struct Discard;

impl Discard {
    /// Starts one on a free port, for as long as the runtime lives. Gives its address.
    pub async fn start() -> anyhow::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let server = Server::builder()
            .add_service(TraceServiceServer::new(Self))
            .add_service(MetricsServiceServer::new(Self))
            .add_service(LogsServiceServer::new(Self))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(server);
        Ok(address)
    }
}

#[tonic::async_trait]
impl TraceService for Discard {
    async fn export(
        &self,
        _: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Discard {
    async fn export(
        &self,
        _: Request<ExportMetricsServiceRequest>,
    ) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        Ok(Response::new(Default::default()))
    }
}

#[tonic::async_trait]
impl LogsService for Discard {
    async fn export(
        &self,
        _: Request<ExportLogsServiceRequest>,
    ) -> Result<Response<ExportLogsServiceResponse>, Status> {
        Ok(Response::new(Default::default()))
    }
}
