//! gRPC over mutual TLS, and probes in clear text.

use std::{
    iter::once,
    net::{Ipv4Addr, SocketAddr},
};

use anyhow::Context;
use clap::Parser;
use site_proto::contact::v1::{
    SubmitRequest, contact_service_client::ContactServiceClient, contact_service_server::ContactServiceServer,
};
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::{GrpcServer, GrpcServerSettings},
    tls::{self, CaFile},
};
use testkit::{CertificateAuthority, MountedCertificate, Usage};
use tokio_util::sync::DropGuard;
use tonic::{
    Code,
    service::Routes,
    transport::{Channel, ClientTlsConfig, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::{grpc::Taking, http_server::SOON};

/// In the service's certificate.
const NAME: &str = "contact-pods";

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
        let server = GrpcServer::bind(any_port, &[], routes, Vec::new()).await?;
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

/// `ours` issued both certificates.
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

async fn checked(channel: Channel) -> Result<(), String> {
    let answer = HealthClient::new(channel)
        .check(HealthCheckRequest::default())
        .await;
    answer.map(drop).map_err(|status| format!("{status:?}"))
}

#[tokio::test]
async fn a_client_with_a_certificate_of_the_authority_is_answered() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let server = Server::start(&certificates.service).await?;
    let channel = server.channel(NAME, client(&certificates.client)?)?;
    assert_eq!(checked(channel).await, Ok(()));
    Ok(())
}

#[tokio::test]
async fn a_client_without_a_certificate_or_with_one_of_another_authority_or_for_a_server_is_refused()
-> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let server = Server::start(&certificates.service).await?;
    let foreign = certificates
        .theirs
        .issue_for(&["gateway"], vec![Usage::ClientAuth])?;
    let foreign = MountedCertificate::new(foreign, &certificates.ours)?;
    for (mounted, alert) in [
        (&foreign, "UnknownCA"),
        // A compromised service cannot call others as the gateway does.
        (&certificates.service, "UnsupportedCertificate"),
    ] {
        let told = checked(server.channel(NAME, client(mounted)?)?)
            .await
            .err()
            .unwrap_or_default();
        assert!(told.contains(alert), "{told}");
    }

    let authorities = CaFile::parse(&certificates.service.file("ca.crt").to_string_lossy());
    let trusting = tls::trusting(&authorities.map_err(anyhow::Error::msg)?);
    let without = checked(server.channel(NAME, trusting)?).await;
    let told = without.err().unwrap_or_default();
    assert!(told.contains("CertificateRequired"), "{told}");

    let clear = Endpoint::from_shared(format!("http://127.0.0.1:{}", server.port))?.connect_lazy();
    assert!(checked(clear).await.is_err(), "in clear");
    Ok(())
}

#[tokio::test]
async fn a_service_of_another_authority_or_name_gets_no_call() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let foreign = certificates.theirs.issue_to_server(&[NAME])?;
    let foreign = MountedCertificate::new(foreign, &certificates.ours)?;
    for (server, name, reason) in [
        (Server::start(&foreign).await?, NAME, "UnknownIssuer"),
        (
            Server::start(&certificates.service).await?,
            "careers-pods",
            "not valid for name",
        ),
    ] {
        let told = checked(server.channel(name, client(&certificates.client)?)?)
            .await
            .err()
            .unwrap_or_default();
        assert!(told.contains(reason), "{told}");
    }
    Ok(())
}

#[tokio::test]
async fn probes_are_answered_in_clear_and_nothing_else_is() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let server = Server::start(&certificates.service).await?;
    let clear = Endpoint::from_shared(format!("http://127.0.0.1:{}", server.health_port))?;
    let clear = clear.connect().await?;
    assert_eq!(checked(clear.clone()).await, Ok(()));
    let other = ContactServiceClient::new(clear)
        .submit(SubmitRequest::default())
        .await;
    assert_eq!(other.err().map(|status| status.code()), Some(Code::Unimplemented));
    Ok(())
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_at_the_start() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let mounted = &certificates.service;
    let [certificate, _] = certificates.ours.issue_to_server(&[NAME])?;
    let [_, other_key] = certificates.ours.issue_to_server(&[NAME])?;
    mounted.renew([certificate, other_key], certificates.ours.pem())?;
    let refused = Server::start(mounted)
        .await
        .err()
        .unwrap_or_else(|| anyhow::anyhow!("it starts"));
    assert!(refused.to_string().contains("GRPC_CERTIFICATE_FILE"), "{refused}");

    mounted.renew([String::new(), String::new()], String::new())?;
    let refused = settings(mounted).err().map(|error| error.to_string());
    let refused = refused.unwrap_or_default();
    assert!(
        refused.contains("GRPC_CA_FILE") && refused.contains("no certificates"),
        "{refused}"
    );
    Ok(())
}

#[test]
fn one_of_the_three_files_alone_is_refused() {
    for flag in [
        "--grpc-ca-file=a",
        "--grpc-certificate-file=b",
        "--grpc-key-file=c",
    ] {
        assert!(Flags::try_parse_from(["service", flag]).is_err(), "{flag}");
    }
}
