//! gRPC calls that every service has: health and reflection.

use std::net::{Ipv4Addr, SocketAddr};

use site_proto::contact::v1::{
    SubmitRequest, SubmitResponse,
    contact_service_server::{ContactService, ContactServiceServer, SERVICE_NAME},
};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::GrpcServer,
};
use tokio::time::{sleep, timeout};
use tokio_util::sync::DropGuard;
use tonic::{Code, Response, Status, service::Routes, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use tonic_reflection::pb::v1;

use crate::http_server::{SILENCE, SOON};

/// Takes every message.
pub struct Taking;

#[tonic::async_trait]
impl ContactService for Taking {
    async fn submit(&self, _: tonic::Request<SubmitRequest>) -> Result<Response<SubmitResponse>, Status> {
        Ok(Response::new(SubmitResponse::default()))
    }
}

struct Server {
    address: SocketAddr,
    _running: DropGuard,
}

impl Server {
    async fn start() -> anyhow::Result<Self> {
        let routes = Routes::new(ContactServiceServer::new(Taking));
        let any_port = (Ipv4Addr::LOCALHOST, 0).into();
        let server = GrpcServer::bind(any_port, &[SERVICE_NAME], routes, Vec::new()).await?;
        let address = (Ipv4Addr::LOCALHOST, server.port()).into();
        let stop = CancellationToken::new();
        tokio::spawn(server.run(Drain::new(stop.clone(), SOON)));
        Ok(Self {
            address,
            _running: stop.drop_guard(),
        })
    }

    async fn channel(&self) -> anyhow::Result<Channel> {
        Ok(Channel::from_shared(format!("http://{}", self.address))?
            .connect()
            .await?)
    }
}

#[tokio::test]
async fn a_service_is_well_by_its_own_name_too() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let mut health = HealthClient::new(server.channel().await?);
    let mut status_of = async |service: &str| {
        let service = service.to_owned();
        health.check(HealthCheckRequest { service }).await
    };
    for name in ["", "live", SERVICE_NAME] {
        let well = async {
            // The service first checks its dependencies.
            while status_of(name).await?.get_ref().status() != ServingStatus::Serving {
                sleep(SILENCE / 10).await;
            }
            Ok::<_, Status>(())
        };
        timeout(SOON, well).await??;
    }
    let unknown = status_of("newsletter.v1.NewsletterService").await;
    assert_eq!(unknown.err().map(|status| status.code()), Some(Code::NotFound));
    Ok(())
}

#[tokio::test]
async fn tools_list_the_services_by_reflection() -> anyhow::Result<()> {
    let server = Server::start().await?;
    let channel = server.channel().await?;
    let request = v1::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(v1::server_reflection_request::MessageRequest::ListServices(
            String::new(),
        )),
    };
    let mut client = v1::server_reflection_client::ServerReflectionClient::new(channel);
    let mut answers = client
        .server_reflection_info(tokio_stream::once(request))
        .await?
        .into_inner();
    let services = format!("{:?}", answers.message().await?);
    assert!(
        services.contains(SERVICE_NAME) && services.contains("grpc.health.v1.Health"),
        "{services}"
    );
    Ok(())
}
