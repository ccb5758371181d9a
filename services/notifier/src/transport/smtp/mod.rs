//! SMTP: hands messages to the mail server. Each channel has a few connections; one connection carries one mail or a short burst.
//!
//! lettre's pool is not used: its timeout covers connecting only, and it keeps a connection whose transaction was given up halfway.

mod channel;
mod connection;
mod failure;
mod refusal;
mod settings;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use lettre::{Message, address::Envelope};
use site_broker::Failure;
use site_service::{drain::CancellationToken, trace};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tracing::{Instrument, error_span, field::Empty};

use self::connection::{Connection, Connector};
pub use self::{
    channel::{MAX_BULK_CONNECTIONS, MAX_CONNECTIONS, SmtpChannel},
    failure::SmtpFailure,
    refusal::Refusal,
    settings::{SmtpSettings, TlsMode},
};
use crate::{mail::Attachment, storage::Handover};

/// How long a connection waits for the next mail of a burst.
const BURST_PAUSE: Duration = Duration::from_secs(1);
/// The most mails with an attachment in memory at once. lettre holds an attachment as base64, formats it and signs a copy: up to four
/// times its size.
const MAX_ATTACHMENTS: usize = 2;

/// The mail server, as all channels use it.
pub struct Smtp {
    settings: SmtpSettings,
    connector: Connector,
    /// Connections between two mails of a burst, the latest last.
    idle: Mutex<Vec<(Connection, Instant)>>,
    attachments: Semaphore,
    /// Cancelled when no message may be begun any more.
    stop: CancellationToken,
}

impl Smtp {
    /// For this server, and mails from this domain; no connection is opened yet.
    ///
    /// # Errors
    ///
    /// If the connections are to be encrypted and there is no usable root certificate, or the domain is no host's name.
    pub fn new(settings: &SmtpSettings, sender_domain: &str) -> anyhow::Result<Self> {
        Ok(Self {
            settings: settings.clone(),
            connector: Connector::new(settings, sender_domain)?,
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
        let envelope = message.envelope().clone();
        let content = message.formatted();
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

    /// Begins no message from now on. Messages on a connection go on, within its timeouts.
    pub fn begin_no_more(&self) {
        self.stop.cancel();
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, SmtpFailure> {
        let done = self.stop.run_until_cancelled(work).await;
        done.ok_or_else(|| Failure::retry_later("the notifier stops before it is sent").into())
    }

    /// Closes the connections whose burst is over, and all of them once the notifier stops.
    pub async fn close_idle(&self) {
        while !self.stop.is_cancelled() {
            let _stopped = self.stop.run_until_cancelled(sleep(BURST_PAUSE)).await;
            let is_stopped = self.stop.is_cancelled();
            let over: Vec<_> = self
                .idle()
                .extract_if(.., |(_, since)| is_stopped || since.elapsed() >= BURST_PAUSE)
                .collect();
            for (connection, _) in over {
                connection.quit().await;
            }
        }
    }

    /// An early return drops the connection, which closes it. Nothing that happens after the server took the mail is a failure.
    async fn hand_over(&self, envelope: &Envelope, content: &[u8]) -> Result<(), SmtpFailure> {
        let limit = self.settings.smtp_timeout;
        let mut connection = within(limit, SmtpFailure::unavailable, self.begin(envelope)).await?;
        within(limit, SmtpFailure::deferred, connection.send_recipients(envelope)).await?;
        // A server that is given up while it has the mail may have taken it, and would get it again.
        let limit = self.settings.smtp_answer_timeout;
        within(
            limit,
            SmtpFailure::deferred,
            connection.send_content(content, envelope),
        )
        .await?;
        if !self.stop.is_cancelled() {
            self.idle().push((connection, Instant::now()));
        }
        Ok(())
    }

    /// A connection that took the sender. A server may close one between two mails: then it is another.
    async fn begin(&self, envelope: &Envelope) -> Result<Connection, SmtpFailure> {
        let kept = self.idle().pop();
        if let Some((mut connection, _)) = kept
            && connection.send_sender(envelope).await.is_ok()
        {
            return Ok(connection);
        }
        let mut connection = self.connector.connect().await?;
        connection.send_sender(envelope).await?;
        Ok(connection)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Connection, Instant)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work, or `late` where the server does not answer within this time.
async fn within<T>(
    limit: Duration,
    late: impl FnOnce(String) -> SmtpFailure,
    work: impl Future<Output = Result<T, SmtpFailure>>,
) -> Result<T, SmtpFailure> {
    let done = timeout(limit, work).await;
    done.unwrap_or_else(|_| Err(late(format!("it did not answer within {} s", limit.as_secs()))))
}
