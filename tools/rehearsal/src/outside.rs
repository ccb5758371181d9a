//! Servers outside the cluster, at addresses reserved for documentation (RFC 5737).

use std::{fs, net::Ipv4Addr, path::Path};

use testkit::{
    CertificateAuthority, MailServer, S3, ScriptedReply, TcpProxy,
    mail_server::{Behaviour, Encryption, Login},
};

use crate::cluster::{FOLDER, SHARED};

/// Host, port and address of the résumé store, the backup store and the mail server of the overlay.
pub const PLACES: [(&str, u16, Ipv4Addr); 3] = [
    ("s3.example.com", 443, Ipv4Addr::new(203, 0, 113, 10)),
    ("s3.example.net", 443, Ipv4Addr::new(203, 0, 113, 30)),
    ("smtp.example.com", 587, Ipv4Addr::new(203, 0, 113, 20)),
];
pub const MAIL_PASSWORD: &str = "the password of the mail server";

pub struct Outside {
    pub store: S3,
    pub mail_server: MailServer,
    _doors: [TcpProxy; 3],
}

impl Outside {
    /// Starts a store with TLS and two names, and a mail server with STARTTLS and a login.
    pub async fn start() -> anyhow::Result<Self> {
        // Pods trust this authority instead of public ones.
        let authority = CertificateAuthority::new()?;
        fs::write(Path::new(SHARED).join("authorities.pem"), authority.pem())?;
        let [port] = testkit::free_ports()?;
        let store = S3::start_at(port, &Path::new(FOLDER).join("store")).await?;
        let [resumes, backups, mail] = PLACES;
        let behaviour = Behaviour {
            encryption: Encryption::Starttls(authority.issue(mail.0)?),
            login: Some(Login {
                mechanism: "PLAIN",
                user: "site".to_owned(),
                password: MAIL_PASSWORD,
            }),
            ..Behaviour::default()
        };
        let mail_server = MailServer::start_with(behaviour, 0, |_, _| ScriptedReply::Take).await?;
        let open = async |(host, at, address): (&'static str, u16, Ipv4Addr)| {
            let tls = authority.issue(host)?;
            TcpProxy::start_at((address, at).into(), Some(tls), port).await
        };
        let doors = [
            open(resumes).await?,
            open(backups).await?,
            TcpProxy::start_at((mail.2, mail.1).into(), None, mail_server.port).await?,
        ];
        Ok(Self {
            store,
            mail_server,
            _doors: doors,
        })
    }
}
