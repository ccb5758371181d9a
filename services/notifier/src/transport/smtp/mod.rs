//! SMTP: hands messages to the mail server. Each channel has a few connections; one connection carries one mail or a short burst.
//!
//! lettre's pool is not used: its timeout covers connecting only, and it keeps a connection whose transaction was given up halfway.

mod channel;
mod connection;
mod failure;
mod refusal;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use lettre::{
    Message,
    address::Envelope,
    transport::smtp::{
        client::{AsyncSmtpConnection, Certificate, TlsParameters},
        extension::ClientId,
    },
};
use site_broker::Failure;
use site_service::{drain::CancellationToken, trace};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep, timeout_at},
};
use tracing::{Instrument, error_span, field::Empty};

use self::connection::quit;
pub use self::{
    channel::{MAX_BULK_CONNECTIONS, MAX_CONNECTIONS, SmtpChannel},
    failure::SmtpFailure,
    refusal::Refusal,
};
use crate::{
    mail::Attachment,
    settings::{SmtpSettings, TlsMode, hello},
    storage::Handover,
};

/// How long a connection waits for the next mail of a burst.
const BURST_PAUSE: Duration = Duration::from_secs(1);
/// The most mails with an attachment in memory at once. lettre holds an attachment as base64, formats it and signs a copy: up to four
/// times its size.
const MAX_ATTACHMENTS: usize = 2;

/// The mail server, as all channels use it.
pub struct Smtp {
    settings: SmtpSettings,
    hello: ClientId,
    tls: Option<TlsParameters>,
    /// Connections between two mails of a burst, the latest last.
    idle: Mutex<Vec<(AsyncSmtpConnection, Instant)>>,
    attachments: Semaphore,
    /// Cancelled when no message may be begun any more.
    stop: CancellationToken,
}

impl Smtp {
    /// For this server, and mails from this domain, which is our HELO unless another is set; no connection is opened yet.
    ///
    /// # Errors
    ///
    /// If the connections are to be encrypted and there is no usable root certificate, or the domain is no host's name.
    pub fn new(settings: &SmtpSettings, sender_domain: &str) -> anyhow::Result<Self> {
        let of_sender = || hello(sender_domain).map_err(anyhow::Error::msg);
        let hello = settings.smtp_helo.clone().map_or_else(of_sender, Ok);
        Ok(Self {
            settings: settings.clone(),
            hello: hello.context("The domain of MAIL_FROM is wrong")?,
            tls: tls_parameters(settings)?,
            idle: Mutex::default(),
            attachments: Semaphore::new(MAX_ATTACHMENTS),
            stop: CancellationToken::new(),
        })
    }

    /// Sends the message that `write` makes, unless there is none to send any more. It is written only once it can be sent: hundreds of
    /// mails may wait, and each would be held in memory.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or the mail server refuses it, is unavailable, or does not answer in time. In the last case it may have
    /// taken the mail even so.
    pub async fn send<E: From<SmtpFailure>, Writing: Future<Output = Result<Option<Message>, E>>>(
        &self,
        channel: &SmtpChannel,
        attachment: Attachment,
        write: impl FnOnce() -> Writing,
    ) -> Result<Handover, E> {
        let permits = async {
            // Attachments first: a mail that waits for memory must not take a connection from mails without one.
            let memory = match attachment {
                Attachment::Wanted => self.attachments.acquire().await.ok(),
                Attachment::LeftOut => None,
            };
            (memory, channel.connections.acquire().await)
        };
        let _permits = self.unless_stopped(permits).await?;
        channel.may_ask(Instant::now())?;
        let Some(message) = self.unless_stopped(write()).await?? else {
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
                channel.taken();
                Ok(Handover::Sent)
            }
            Err(failure) => {
                trace::fail(&span);
                let domain = envelope.to().first().map_or("", |address| address.domain());
                Err(channel.judge(failure, domain, Instant::now()).into())
            }
        }
    }

    /// Closes the connections whose burst is over, until `stop`; then all of them, and begins no message any more. Messages on a
    /// connection go on, within its timeouts.
    pub async fn run(&self, stop: CancellationToken) {
        while stop.run_until_cancelled(sleep(BURST_PAUSE)).await.is_some() {
            self.quit_idle_for(BURST_PAUSE).await;
        }
        self.stop.cancel();
        self.quit_idle_for(Duration::ZERO).await;
    }

    async fn quit_idle_for(&self, pause: Duration) {
        let is_over = |(_, since): &mut (AsyncSmtpConnection, Instant)| since.elapsed() >= pause;
        let over: Vec<_> = self.idle().extract_if(.., is_over).collect();
        for (smtp, _) in over {
            quit(smtp).await;
        }
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, SmtpFailure> {
        let done = self.stop.run_until_cancelled(work).await;
        done.ok_or_else(|| Failure::retry_later("the notifier stops before it is sent").into())
    }

    /// Nothing that happens after the server took the mail is a failure.
    async fn hand_over(&self, envelope: &Envelope, content: &[u8]) -> Result<(), SmtpFailure> {
        let deadline = Instant::now() + self.settings.smtp_timeout;
        let mut kept = self.idle().pop();
        // A server may close a connection between two mails: then it is another.
        if let Some((smtp, _)) = &mut kept
            && timeout_at(deadline, smtp.test_connected()).await != Ok(true)
        {
            kept = None;
        }
        let mut smtp = match kept {
            Some((smtp, _)) => smtp,
            None => self.connect(deadline).await?,
        };
        let taken = self.transact(&mut smtp, envelope, content, deadline).await;
        match taken {
            Ok(()) => self.idle().push((smtp, Instant::now())),
            Err(_) => quit(smtp).await,
        }
        taken
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(AsyncSmtpConnection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// None where connections are not encrypted: a host without root certificates needs none then.
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
