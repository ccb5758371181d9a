//! SMTP: sends messages to the mail server. Each channel has a few connections, each for one mail or a short burst.
//!
//! lettre's pool is unsuitable: its timeout covers only connecting, and it keeps connections with unfinished
//! transactions.

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

/// Idle timeout of a connection.
const BURST_PAUSE: Duration = Duration::from_secs(1);
/// Mails with attachments in memory at once. lettre needs up to four times an attachment's size.
const MAX_ATTACHMENTS: usize = 2;

pub struct Smtp {
    settings: SmtpSettings,
    hello: ClientId,
    tls: Option<TlsParameters>,
    /// Idle connections, the latest last.
    idle: Mutex<Vec<(AsyncSmtpConnection, Instant)>>,
    attachments: Semaphore,
    /// Cancelled once no new message may start.
    stop: CancellationToken,
}

impl Smtp {
    /// Opens no connection yet. HELO is `sender_domain` unless set. Fails if that is no host name, or TLS has no
    /// usable root certificate.
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

    /// Sends the message that `write` makes, if any. It is written only once it can be sent, because hundreds of
    /// mails may wait.
    ///
    /// After a timeout the server may still have accepted the mail.
    pub async fn send<E: From<SmtpFailure>, Writing: Future<Output = Result<Option<Message>, E>>>(
        &self,
        channel: &SmtpChannel,
        attachment: Attachment,
        write: impl FnOnce() -> Writing,
    ) -> Result<Handover, E> {
        let permits = async {
            // Memory first: a mail that waits for it must not hold a connection.
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

    /// Closes idle connections until `stop`, then all of them, and starts no new message. Messages in flight end
    /// within their timeouts.
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

    /// Nothing that fails after the server's acceptance is an error.
    async fn hand_over(&self, envelope: &Envelope, content: &[u8]) -> Result<(), SmtpFailure> {
        let deadline = Instant::now() + self.settings.smtp_timeout;
        let mut kept = self.idle().pop();
        // The server may have closed it since the last mail.
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

/// None without TLS, so that such a host needs no root certificates.
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
