//! SMTP: sends messages to the mail server, each over a connection of its own, a few at once per channel.
//!
//! lettre's pool is unsuitable: its timeout covers only connecting, and it keeps connections with unfinished
//! transactions.

mod channel;
mod connection;
mod failure;

use anyhow::Context as _;
use lettre::{
    Message,
    transport::smtp::{
        client::{Certificate, TlsParameters},
        extension::ClientId,
    },
};
use site_service::trace;
use tokio::{sync::Semaphore, time::Instant};
use tracing::{Instrument, error_span, field::Empty};
use url::Host;

pub use self::{
    channel::{MAX_BULK_CONNECTIONS, MAX_CONNECTIONS, SmtpChannel},
    failure::SmtpFailure,
};
use crate::{
    mail::Attachment,
    settings::{SmtpSettings, TlsMode},
    storage::Handover,
};

/// Maximum number of mails with attachments in memory. lettre needs up to four times an attachment's size.
const MAX_ATTACHMENTS: usize = 2;

pub struct Smtp {
    settings: SmtpSettings,
    hello: ClientId,
    tls: Option<TlsParameters>,
    attachments: Semaphore,
}

impl Smtp {
    /// Opens no connection yet. `sender_domain` is our name at the mail server (HELO; RFC 5321, 4.1.1.1). Fails
    /// if that domain is no host name, or TLS has no usable root certificate.
    pub fn new(settings: &SmtpSettings, sender_domain: &str) -> anyhow::Result<Self> {
        let Ok(Host::Domain(hello)) = Host::parse(sender_domain) else {
            anyhow::bail!("The domain of MAIL_FROM is wrong: it is no host name");
        };
        Ok(Self {
            settings: settings.clone(),
            hello: ClientId::Domain(hello),
            tls: tls_parameters(settings)?,
            attachments: Semaphore::new(MAX_ATTACHMENTS),
        })
    }

    /// Sends the message that `write` makes, if any. `write` runs when a connection is free, so that waiting
    /// mails need no memory.
    ///
    /// After a timeout the server may still have accepted the mail.
    pub async fn send<E: From<SmtpFailure>, Writing: Future<Output = Result<Option<Message>, E>>>(
        &self,
        channel: &SmtpChannel,
        attachment: Attachment,
        write: impl FnOnce() -> Writing,
    ) -> Result<Handover, E> {
        // Acquires memory first, because a mail that waits for memory must not hold a connection.
        let _memory = match attachment {
            Attachment::Wanted => self.attachments.acquire().await.ok(),
            Attachment::LeftOut => None,
        };
        let _connection = channel.connections.acquire().await;
        channel.may_ask(Instant::now())?;
        let Some(message) = write().await? else {
            return Ok(Handover::Erased);
        };
        let (envelope, content) = (message.envelope().clone(), message.formatted());
        drop(message);
        let span = error_span!(
            "send mail",
            otel.kind = "client",
            otel.status_code = Empty,
            network.protocol.name = "smtp",
            server.address = self.settings.smtp_host,
            server.port = i64::from(self.settings.smtp_port),
        );
        let handing_over = self.hand_over(&envelope, &content);
        match handing_over.instrument(span.clone()).await {
            Ok(()) => {
                channel.accepted();
                Ok(Handover::Sent)
            }
            Err(failure) => {
                trace::fail(&span);
                let domain = envelope.to().first().map_or("", |address| address.domain());
                Err(channel.judge(failure, domain, Instant::now()).into())
            }
        }
    }
}

/// None without TLS, because a host without TLS may lack root certificates.
fn tls_parameters(settings: &SmtpSettings) -> anyhow::Result<Option<TlsParameters>> {
    if settings.smtp_tls == TlsMode::None {
        return Ok(None);
    }
    let mut tls = TlsParameters::builder(settings.smtp_host.clone());
    if let Some(trusted) = &settings.smtp_ca_file {
        tls = tls.add_root_certificate(Certificate::from_pem(trusted.pem())?);
    }
    let tls = tls.build().context("The setting SMTP_TLS cannot be met")?;
    Ok(Some(tls))
}
