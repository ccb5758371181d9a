//! gRPC over mutual TLS, and probes in clear text.

use std::{
    iter::once,
    net::{Ipv4Addr, SocketAddr},
};

use anyhow::Context;
use clap::Parser;
use site_proto::contact::v1::{
    SubmitRequest, SubmitResponse,
    contact_service_client::ContactServiceClient,
    contact_service_server::{ContactService, ContactServiceServer, SERVICE_NAME},
};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::{GrpcServer, GrpcServerSettings},
    tls::{self, CaFile},
};
use testkit::{CertificateAuthority, MountedCertificate, Usage, eventually};
use tokio_util::sync::DropGuard;
use tonic::{
    Code, Request, Response, Status,
    service::Routes,
    transport::{Channel, ClientTlsConfig, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::http_server::SOON;

/// Host name in the service's certificate.
const NAME: &str = "contact-pods";

/// Service that accepts every message.
struct Taking;

#[tonic::async_trait]
impl ContactService for Taking {
    async fn submit(&self, _: Request<SubmitRequest>) -> Result<Response<SubmitResponse>, Status> {
        Ok(Response::new(SubmitResponse::default()))
    }
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    grpc: GrpcServerSettings,
}

fn settings(mounted: &MountedCertificate) -> anyhow::Result<GrpcServerSettings> {
    let flags = once("service".to_owned()).chain(mounted.grpc_flags());
    Ok(Flags::try_parse_from(flags)?.grpc)
}

struct Server {
    port: u16,
    health_port: u16,
    _running: DropGuard,
}

impl Server {
    async fn start(certificate: &MountedCertificate) -> anyhow::Result<Self> {
        let any_port: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
        let routes = Routes::new(ContactServiceServer::new(Taking));
        let server = GrpcServer::bind(any_port, &[SERVICE_NAME], routes, Vec::new()).await?;
        let settings = GrpcServerSettings {
            health_listen: Some(any_port),
            ..settings(certificate)?
        };
        let server = server.with(&settings).await?;
        let (port, health_port) = (server.port(), server.health_port().unwrap_or_default());
        let stop = CancellationToken::new();
        tokio::spawn(server.run(Drain::new(stop.clone(), SOON)));
        Ok(Self {
            port,
            health_port,
            _running: stop.drop_guard(),
        })
    }

    fn channel(&self, name: &str, tls: ClientTlsConfig) -> anyhow::Result<Channel> {
        let address = format!("https://127.0.0.1:{}", self.port).parse()?;
        Ok(tls::endpoint(&address, Some(tls.domain_name(name)))?.connect_lazy())
    }
}

fn client(mounted: &MountedCertificate) -> anyhow::Result<ClientTlsConfig> {
    settings(mounted)?.tls.client().context("it has a certificate")
}

struct Certificates {
    ours: CertificateAuthority,
    theirs: CertificateAuthority,
    service: MountedCertificate,
    client: MountedCertificate,
}

impl Certificates {
    fn issue() -> anyhow::Result<Self> {
        let (ours, theirs) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
        let service = MountedCertificate::new(ours.issue_to_server(&[NAME])?, &ours)?;
        let client = MountedCertificate::new(ours.issue_for(&["gateway"], vec![Usage::ClientAuth])?, &ours)?;
        Ok(Self {
            ours,
            theirs,
            service,
            client,
        })
    }
}

fn asked_of(service: &str) -> HealthCheckRequest {
    let service = service.to_owned();
    HealthCheckRequest { service }
}

/// Error of a call; empty if it is answered.
async fn refusal(channel: Channel) -> String {
    let answer = HealthClient::new(channel).check(asked_of("")).await;
    let failed = answer.err().map(|status| format!("{status:?}"));
    failed.unwrap_or_default()
}

#[tokio::test]
async fn only_trusted_client_certificates_are_accepted() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let server = Server::start(&certificates.service).await?;
    let good = server.channel(NAME, client(&certificates.client)?)?;
    assert_eq!(refusal(good).await, "");

    let theirs = &certificates.theirs;
    let foreign = theirs.issue_for(&["gateway"], vec![Usage::ClientAuth])?;
    let foreign = MountedCertificate::new(foreign, &certificates.ours)?;
    let authorities = CaFile::parse(&certificates.service.file("ca.crt").to_string_lossy());
    let without = tls::trusting(&authorities.map_err(anyhow::Error::msg)?);
    for (configuration, alert) in [
        (client(&foreign)?, "UnknownCA"),
        // A compromised service cannot call others as the gateway does.
        (client(&certificates.service)?, "UnsupportedCertificate"),
        (without, "CertificateRequired"),
    ] {
        let told = refusal(server.channel(NAME, configuration)?).await;
        assert!(told.contains(alert), "{told}");
    }
    let clear = Endpoint::from_shared(format!("http://127.0.0.1:{}", server.port))?;
    assert_ne!(refusal(clear.connect_lazy()).await, "", "in clear");
    Ok(())
}

#[tokio::test]
async fn a_service_of_another_authority_or_name_gets_no_call() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let foreign = certificates.theirs.issue_to_server(&[NAME])?;
    let foreign = MountedCertificate::new(foreign, &certificates.ours)?;
    for (service, name, reason) in [
        (&foreign, NAME, "UnknownIssuer"),
        (&certificates.service, "careers-pods", "not valid for name"),
    ] {
        let server = Server::start(service).await?;
        let told = refusal(server.channel(name, client(&certificates.client)?)?).await;
        assert!(told.contains(reason), "{told}");
    }
    Ok(())
}

#[tokio::test]
async fn only_health_probes_are_answered_without_tls() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let server = Server::start(&certificates.service).await?;
    let clear = Endpoint::from_shared(format!("http://127.0.0.1:{}", server.health_port))?;
    let clear = clear.connect().await?;
    let mut health = HealthClient::new(clear.clone());
    for name in ["", "live", SERVICE_NAME] {
        // The service first checks its dependencies.
        eventually(name, SOON, async || {
            let answer = health.check(asked_of(name)).await.ok()?;
            (answer.get_ref().status() == ServingStatus::Serving).then_some(())
        })
        .await?;
    }
    let unknown = health.check(asked_of("newsletter.v1.NewsletterService")).await;
    assert_eq!(unknown.err().map(|status| status.code()), Some(Code::NotFound));
    let mut contact = ContactServiceClient::new(clear);
    let other = contact.submit(SubmitRequest::default()).await;
    assert_eq!(other.err().map(|status| status.code()), Some(Code::Unimplemented));
    Ok(())
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_at_the_start() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let (ours, mounted) = (&certificates.ours, &certificates.service);
    let [certificate, _] = ours.issue_to_server(&[NAME])?;
    let [_, other_key] = ours.issue_to_server(&[NAME])?;
    mounted.renew([certificate, other_key], ours.pem())?;
    let refused = Server::start(mounted).await.err().context("it starts")?;
    assert!(refused.to_string().contains("GRPC_CERTIFICATE_FILE"), "{refused}");

    mounted.renew([String::new(), String::new()], String::new())?;
    let refused = settings(mounted).err().context("they are taken")?.to_string();
    assert!(refused.contains("GRPC_CA_FILE"), "{refused}");
    assert!(refused.contains("no certificates"), "{refused}");
    Ok(())
}
