//! What lies outside the cluster: the store of résumés, the mail server, and the way in, each at a public address.

use std::{net::Ipv4Addr, path::Path};

use age::x25519::Identity;
use testkit::{
    CertificateAuthority, MailServer, S3, ScriptedReply, TcpProxy,
    mail_server::{Behaviour, Encryption, Login},
};
use tokio_rustls::TlsAcceptor;

/// The password of the mail server's one user.
pub const MAIL_PASSWORD: &str = "the password of the mail server";

/// A service outside, by the name and port that the manifests call it by.
#[derive(Clone)]
pub struct Place {
    pub host: String,
    pub port: u16,
    pub address: Ipv4Addr,
}

/// What an overlay calls outside.
pub struct Called {
    pub store: Place,
    pub backups: Place,
    pub mail: Place,
    pub mail_user: String,
}

impl Called {
    /// All of it.
    pub fn places(&self) -> [&Place; 3] {
        [&self.store, &self.backups, &self.mail]
    }
}

/// What runs outside.
pub struct Outside {
    pub authority: CertificateAuthority,
    pub store: S3,
    /// Whatever decrypts backups.
    pub identity: Identity,
    pub mail_server: MailServer,
    _doors: Vec<TcpProxy>,
}

impl Outside {
    /// Starts a store behind TLS, under two names as if these were two, and a mail server with STARTTLS and a login.
    ///
    /// # Errors
    ///
    /// If a port is taken.
    pub async fn start(folder: &Path, called: &Called) -> anyhow::Result<Self> {
        let mail = &called.mail;
        let authority = CertificateAuthority::new()?;
        let [port] = testkit::free_ports()?;
        let s3 = S3::start_at(port, folder).await?;
        let behaviour = Behaviour {
            encryption: Encryption::Starttls(authority.issue(&mail.host)?),
            login: Login::Taken {
                mechanism: "PLAIN",
                // There is one in the life of this process.
                user: called.mail_user.clone().leak(),
                password: MAIL_PASSWORD,
            },
            ..Behaviour::default()
        };
        let mail_server = MailServer::start_with(behaviour, 0, |_, _| ScriptedReply::Take).await?;
        let mut doors = vec![open(mail, mail_server.port(), None).await?];
        for store in [&called.store, &called.backups] {
            let tls = authority.issue(&store.host)?;
            doors.push(open(store, port, Some(tls)).await?);
        }
        Ok(Self {
            authority,
            store: s3,
            identity: Identity::generate(),
            mail_server,
            _doors: doors,
        })
    }
}

/// Leads what comes to a place to a port of this machine, out of TLS where it has that.
async fn open(place: &Place, to: u16, tls: Option<TlsAcceptor>) -> anyhow::Result<TcpProxy> {
    TcpProxy::start_at((place.address, place.port).into(), tls, to).await
}
