//! Servers outside the cluster, at addresses reserved for documentation (RFC 5737).

use std::{net::Ipv4Addr, path::Path};

use anyhow::Context as _;
use reqwest::Url;
use testkit::{
    CertificateAuthority, MailServer, S3, ScriptedReply, TcpProxy,
    mail_server::{Behaviour, Encryption, Login},
};
use tokio_rustls::TlsAcceptor;

use crate::manifests::Manifests;

pub const MAIL_PASSWORD: &str = "the password of the mail server";

const STORE: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 10);
const BACKUPS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 30);
const MAIL: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 20);

pub struct Place {
    pub host: String,
    port: u16,
    pub address: Ipv4Addr,
}

/// Addresses of the résumé store, backup store and mail server.
///
/// # Errors
///
/// If a setting is missing, or is not an address.
pub fn places(manifests: &Manifests) -> anyhow::Result<[Place; 3]> {
    let place = |url: &str, address| {
        let url: Url = url.parse()?;
        anyhow::Ok(Place {
            host: url.host_str().context("an address without a host")?.to_owned(),
            port: url.port_or_known_default().context("an address without a port")?,
            address,
        })
    };
    let [host, port] = [manifests.setting("SMTP_HOST")?, manifests.setting("SMTP_PORT")?];
    Ok([
        place(manifests.setting("S3_ENDPOINT")?, STORE)?,
        place(manifests.setting("BACKUP_S3_ENDPOINT")?, BACKUPS)?,
        place(&format!("smtp://{host}:{port}"), MAIL)?,
    ])
}

pub struct Outside {
    /// Pods trust this authority instead of public ones.
    pub authority: CertificateAuthority,
    /// Settings of the bucket and its credentials.
    pub resumes: [(&'static str, String); 5],
    pub backups: [(&'static str, String); 5],
    pub mail_server: MailServer,
    _store: S3,
    _doors: Vec<TcpProxy>,
}

impl Outside {
    /// Starts a store with TLS and two names, and a mail server with STARTTLS and a login.
    ///
    /// # Errors
    ///
    /// If a port is in use.
    pub async fn start(folder: &Path, manifests: &Manifests) -> anyhow::Result<Self> {
        let [store, backups, mail] = places(manifests)?;
        let authority = CertificateAuthority::new()?;
        let [port] = testkit::free_ports()?;
        let s3 = S3::start_at(port, folder).await?;
        let behaviour = Behaviour {
            encryption: Encryption::Starttls(authority.issue(&mail.host)?),
            login: Some(Login {
                mechanism: "PLAIN",
                user: manifests.setting("SMTP_USER")?.to_owned(),
                password: MAIL_PASSWORD,
            }),
            ..Behaviour::default()
        };
        let mail_server = MailServer::start_with(behaviour, 0, |_, _| ScriptedReply::Take).await?;
        let mut doors = vec![open(&mail, mail_server.port, None).await?];
        for place in [&store, &backups] {
            let tls = authority.issue(&place.host)?;
            doors.push(open(place, port, Some(tls)).await?);
        }
        Ok(Self {
            authority,
            resumes: s3.env(),
            backups: s3.backups_env(),
            _store: s3,
            mail_server,
            _doors: doors,
        })
    }
}

async fn open(place: &Place, to: u16, tls: Option<TlsAcceptor>) -> anyhow::Result<TcpProxy> {
    TcpProxy::start_at((place.address, place.port).into(), tls, to).await
}
