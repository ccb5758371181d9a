//! gRPC by mutual TLS: who is refused, on either side, and what of a service is in clear.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use clap::Parser;
use http::Uri;
use site_service::{
    drain::{CancellationToken, Drain},
    grpc::{GrpcServer, GrpcServerSettings},
    tls::{Connector, GrpcTlsSettings},
};
use testkit::{CertificateAuthority, MountedCertificate, Usage};
use tokio_util::sync::DropGuard;
use tonic::{
    Code,
    service::Routes,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_reflection::pb::v1::{ServerReflectionRequest, server_reflection_client::ServerReflectionClient};

use crate::http_server::SOON;

/// What the service is called.
const NAME: &str = "contact-pods";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    grpc: GrpcServerSettings,
}

struct Server {
    port: u16,
    health_port: u16,
    _running: DropGuard,
}

impl Server {
    async fn start(certificate: &MountedCertificate) -> anyhow::Result<Self> {
        let any_port: SocketAddr = (Ipv4Addr::LOCALHOST, 0).into();
        let server = GrpcServer::bind(any_port, &[], Routes::default(), Vec::new()).await?;
        let settings = GrpcServerSettings {
            tls: certificate.grpc_settings(),
            health_listen: Some(any_port),
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

    /// A channel to it, called by this name, of a client with this certificate.
    fn channel(&self, name: &str, tls: &GrpcTlsSettings) -> anyhow::Result<Channel> {
        let named: Uri = format!("https://{name}:{}", self.port).parse()?;
        let connector = Connector::new(&named, tls.client()?.as_ref(), CONNECT_TIMEOUT)?;
        let endpoint = Endpoint::from_shared(format!("https://127.0.0.1:{}", self.port))?;
        Ok(endpoint.connect_with_connector_lazy(connector))
    }
}

/// Two authorities, and the certificates that one of them gave to a service and to its client.
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

/// Asks for the service's health; why there is no answer, if there is none.
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
    let client = certificates.client.grpc_settings();
    assert_eq!(checked(server.channel(NAME, &client)?).await, Ok(()));
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
        // A service that was broken into calls no other as the gateway would.
        (&certificates.service, "UnsupportedCertificate"),
    ] {
        let client = mounted.grpc_settings();
        let told = checked(server.channel(NAME, &client)?)
            .await
            .err()
            .unwrap_or_default();
        assert!(told.contains(alert), "{told}");
    }

    let trusting = site_service::tls::ClientTls::trusting("CA", &certificates.service.file("ca.crt"))?;
    let named: Uri = format!("https://{NAME}:{}", server.port).parse()?;
    let connector = Connector::new(&named, Some(&trusting), CONNECT_TIMEOUT)?;
    let endpoint = Endpoint::from_shared(format!("https://127.0.0.1:{}", server.port))?;
    let without = checked(endpoint.connect_with_connector_lazy(connector)).await;
    let told = without.err().unwrap_or_default();
    assert!(told.contains("CertificateRequired"), "{told}");

    let clear = Endpoint::from_shared(format!("http://127.0.0.1:{}", server.port))?.connect_lazy();
    assert!(checked(clear).await.is_err(), "in clear");
    Ok(())
}

#[tokio::test]
async fn a_service_of_another_authority_or_name_gets_no_call() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let client = certificates.client.grpc_settings();
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
        let told = checked(server.channel(name, &client)?)
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
    let asked = tokio_stream::once(ServerReflectionRequest::default());
    let other = ServerReflectionClient::new(clear)
        .server_reflection_info(asked)
        .await;
    assert_eq!(other.err().map(|status| status.code()), Some(Code::Unimplemented));
    Ok(())
}

fn is_refused_for(mounted: &MountedCertificate, setting: &str) {
    let refused = mounted.grpc_settings().server().err();
    let refused = refused.map(|error| error.to_string()).unwrap_or_default();
    let begins = format!("The setting {setting} is wrong: ");
    assert!(refused.starts_with(&begins), "{refused}");
}

#[tokio::test]
async fn files_that_cannot_be_used_are_named_at_the_start_and_kept_from_harm_later() -> anyhow::Result<()> {
    let certificates = Certificates::issue()?;
    let [_, other_key] = certificates.ours.issue_to_server(&[NAME])?;
    let mounted = &certificates.service;
    let server = Server::start(mounted).await?;

    let [certificate, _] = certificates.ours.issue_to_server(&[NAME])?;
    mounted.renew([certificate, other_key], certificates.ours.pem())?;
    is_refused_for(mounted, "GRPC_CERTIFICATE_FILE");

    let client = certificates.client.grpc_settings();
    assert_eq!(checked(server.channel(NAME, &client)?).await, Ok(()), "as before");

    mounted.renew(certificates.ours.issue_to_server(&[NAME])?, String::new())?;
    is_refused_for(mounted, "GRPC_CA_FILE");
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
