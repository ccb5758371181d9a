//! Pool of SMTP connections: hands messages to the mail server over a few kept connections.
//!
//! lettre's own pool is not used: its timeout covers connecting only, and a connection
//! whose message was given up half-way goes back into the pool, where the next message
//! would take the answer to the last one for its own. Here a connection is kept only
//! after a message that went through.

mod content;
mod deferrals;
mod enhanced_status;
mod error;
#[cfg(test)]
mod fuzz;
mod limits;
mod no_such_address;
#[cfg(test)]
mod pipelining;
mod settings;
mod stream;
mod transaction;
#[cfg(test)]
mod writing_ahead;

use std::{
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use lettre::{
    Message,
    address::Envelope,
    transport::smtp::{
        authentication::Credentials,
        client::{Certificate, TlsParameters},
        extension::ClientId,
    },
};
use opentelemetry::{KeyValue, metrics::UpDownCounter, trace::SpanKind};
use site_broker::{Away, Call, CircuitBreaker};
use site_service::{
    drain::CancellationToken,
    metrics::{self, CounterGuard},
    settings::ExposeSecret,
    tls::public_client_config,
    trace::Span,
};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use tokio_rustls::rustls::ClientConfig;

use self::{
    content::Content,
    deferrals::{Cause, Deferrals},
    error::{HandOverError, SmtpStage, without_addresses},
    limits::{AttachmentBudget, FirstMails, MAX_CONNECTIONS, MAX_SLOW, Priority},
    transaction::Connection,
};
pub use self::{
    error::SmtpError,
    limits::ChannelLimit,
    settings::{SmtpSettings, TlsMode},
};
use crate::storage::Handover;

/// Servers close idle connections after minutes; we let go well before.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the network may take to connect: while it takes longer, it is tried again and again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a connection is taken for good that was used.
const STAYS_GOOD: Duration = Duration::from_secs(1);
/// How long an idle connection may take to show that it can be reused.
const REUSE_CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a message may take before its connection no longer counts among its channel's.
const SLOW_AFTER: Duration = Duration::from_secs(2);
/// How long a message may have waited for its connection since it was written.
const WRITTEN_HOLDS: Duration = Duration::from_millis(50);

/// Pool of connections to the mail server.
pub struct SmtpPool {
    settings: SmtpSettings,
    tls: Tls,
    hello: ClientId,
    /// Connections between two messages, the latest last.
    idle: Mutex<Vec<IdleConnection>>,
    max_idle: usize,
    slow: Semaphore,
    /// The messages that were put off, whoever they were for.
    deferred_messages: Deferrals,
    /// The domains to which messages were put off.
    deferred_domains: Deferrals,
    /// Cancelled when no message may be begun any more.
    stop: CancellationToken,
    attachments: AttachmentBudget,
    first_mails: FirstMails,
    breaker: CircuitBreaker,
    waiting: UpDownCounter<i64>,
    connections: UpDownCounter<i64>,
}

/// How connections are encrypted.
enum Tls {
    None,
    /// After the greeting (RFC 3207).
    Starttls(TlsParameters),
    /// From the start.
    Implicit(Arc<ClientConfig>),
}

/// A message to be handed over.
struct Written<'a> {
    message: Message,
    at: Instant,
    /// Whoever writes the next one ahead waits for this.
    ahead: Option<SemaphorePermit<'a>>,
}

impl<'a> Written<'a> {
    fn new(message: Message, ahead: Option<SemaphorePermit<'a>>) -> Self {
        Self {
            message,
            at: Instant::now(),
            ahead,
        }
    }

    /// Whether it is as good as when it was written: whoever it is for may leave meanwhile, or be erased.
    fn holds(&self) -> bool {
        self.at.elapsed() < WRITTEN_HOLDS
    }
}

struct IdleConnection {
    connection: Connection,
    since: Instant,
}

impl SmtpPool {
    /// A pool for this many channels; no connection is opened yet.
    ///
    /// # Errors
    ///
    /// If the connections are to be encrypted, and there is no usable root certificate.
    pub fn new(settings: &SmtpSettings, channels: usize) -> anyhow::Result<Self> {
        let unusable = "The setting SMTP_TLS cannot be met";
        let trusted = settings.smtp_ca_file.as_ref();
        let tls = match settings.smtp_tls {
            TlsMode::None => Tls::None,
            TlsMode::Starttls => {
                let mut tls = TlsParameters::builder(settings.smtp_host.clone());
                if let Some(trusted) = trusted {
                    tls = tls.add_root_certificate(Certificate::from_pem(trusted.pem())?);
                }
                Tls::Starttls(tls.build().context(unusable)?)
            }
            TlsMode::Implicit => Tls::Implicit(Arc::new(public_client_config(trusted).context(unusable)?)),
        };
        Ok(Self {
            settings: settings.clone(),
            tls,
            hello: ClientId::default(),
            idle: Mutex::default(),
            max_idle: MAX_CONNECTIONS * channels,
            slow: Semaphore::new(MAX_SLOW),
            deferred_messages: Deferrals::default(),
            deferred_domains: Deferrals::default(),
            stop: CancellationToken::new(),
            attachments: AttachmentBudget::new(),
            first_mails: FirstMails::default(),
            breaker: CircuitBreaker::new("mail-server"),
            waiting: metrics::meter()
                .i64_up_down_counter("site.smtp.waiting")
                .with_unit("{mail}")
                .with_description("Mails that wait for an SMTP connection, or for room for their attachment, or are written ahead of one")
                .build(),
            connections: metrics::meter()
                .i64_up_down_counter("site.smtp.connections")
                .with_unit("{connection}")
                .with_description("Connections to the mail server")
                .build(),
        })
    }

    /// Whether the mail server is there, and who may ask while it is not.
    pub fn breaker(&self) -> &CircuitBreaker {
        &self.breaker
    }

    /// Sends the message that `write` makes, unless there is none to be sent any more, over a pooled connection, within its
    /// channel's connection limit. One that is slow leaves the limit and goes on, so that a few that hang do not stop the channel.
    ///
    /// A channel whose mails let all others go first begins one while none of those is waiting or under way.
    ///
    /// One with an attachment is written only when it can be sent, and there is room for its attachment of this size: a message that
    /// waited would be held in memory, and there may be hundreds. Others are written before there is a connection for them, a few at a
    /// time, and anew where they then had to wait. `key` tells its delivery from others.
    ///
    /// # Errors
    ///
    /// [`SmtpError::NotBegun`] if it was not begun before [`Self::begin_no_more`], [`SmtpError::NotAsked`] if the server was
    /// found away meanwhile. If it cannot be written, or the mail server refuses it, is not reached, or does not answer in
    /// time; then it may have taken it even so.
    pub async fn send<E: From<SmtpError>, Writing: Future<Output = Result<Option<Message>, E>>>(
        &self,
        key: &str,
        limit: &ChannelLimit,
        attachment_bytes: u64,
        write: impl Fn() -> Writing,
    ) -> Result<Handover, E> {
        let waiting = CounterGuard::new(&self.waiting, &[]);
        let first = (limit.priority == Priority::First).then(|| self.first_mails.begin());
        // Not for a server that is away: of all who wait for it one is to ask.
        let written = if attachment_bytes == 0 && self.breaker.open_for().is_none() {
            let Some(written) = self.write_ahead(limit, &write).await? else {
                return Ok(Handover::Before);
            };
            Some(written)
        } else {
            None
        };
        let permits = async {
            // First the room: what waits for that must not take a connection from mails without attachments.
            let share = self.attachments.share(attachment_bytes).await;
            let permit = limit.connections.acquire().await;
            if limit.priority == Priority::Bulk {
                self.first_mails.none().await;
            }
            (share, permit)
        };
        let (share, permit) = self.unless_stopped(permits).await?;
        drop(waiting);
        let mut call = self.breaker.try_call(key).ok_or(SmtpError::NotAsked)?;
        let leave_limit = async {
            tokio::time::sleep(SLOW_AFTER).await;
            // Nor does it hold up what lets it go first.
            drop(first);
            let _slow = self.slow.acquire().await;
            drop(permit);
            std::future::pending().await
        };
        let sending = async {
            let written = self.written_lately(written, &write).await?;
            let Some(Written { message, ahead, .. }) = written else {
                return Ok(Handover::Before);
            };
            let envelope = message.envelope().clone();
            let content = Content::new(&message, share);
            drop(message);
            if let Err(error) = self.hand_over(&mut call, &envelope, content, ahead).await {
                return Err(self.smtp_error(call, key, &envelope, error).into());
            }
            self.deferred_messages.clear();
            self.deferred_domains.clear();
            call.answered();
            Ok(Handover::Sent)
        };
        tokio::select! {
            sent = sending => sent,
            never = leave_limit => never,
        }
    }

    /// Writes a message while others are on the connections, so that these need not wait for it. Few are, so that the first is sent
    /// before many are written; and the next not before the server waits for this one's content: to write takes longer than what is said
    /// until then.
    async fn write_ahead<'a, E: From<SmtpError>, Writing: Future<Output = Result<Option<Message>, E>>>(
        &self,
        limit: &'a ChannelLimit,
        write: &impl Fn() -> Writing,
    ) -> Result<Option<Written<'a>>, E> {
        let ahead = self.unless_stopped(limit.ahead.acquire()).await?;
        if self.breaker.open_for().is_some() {
            return Err(SmtpError::NotAsked.into());
        }
        let message = self.unless_stopped(write()).await??;
        Ok(message.map(|message| Written::new(message, ahead.ok())))
    }

    /// What was written ahead shortly before, or else is written now.
    async fn written_lately<'a, E: From<SmtpError>, Writing: Future<Output = Result<Option<Message>, E>>>(
        &self,
        written: Option<Written<'a>>,
        write: &impl Fn() -> Writing,
    ) -> Result<Option<Written<'a>>, E> {
        if let Some(written) = written.filter(Written::holds) {
            return Ok(Some(written));
        }
        let message = self.unless_stopped(write()).await??;
        Ok(message.map(|message| Written::new(message, None)))
    }

    /// Waits until no message is begun any more.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// From now on no message is begun: those that wait for a connection, or are being written, end as
    /// [`SmtpError::NotBegun`]. Those on a connection go on, within its timeouts.
    pub fn begin_no_more(&self) {
        self.stop.cancel();
    }

    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, SmtpError> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(SmtpError::NotBegun),
            done = work => Ok(done),
        }
    }

    /// Says QUIT on the idle connections.
    pub async fn close(&self, timeout: Duration) {
        let kept = std::mem::take(&mut *self.idle());
        let goodbyes = async {
            for idle in kept {
                idle.connection.quit().await;
            }
        };
        if tokio::time::timeout(timeout, goodbyes).await.is_err() {
            tracing::debug!("the mail server was left without a goodbye");
        }
    }

    async fn hand_over(
        &self,
        call: &mut Call<'_>,
        envelope: &Envelope,
        content: Content,
        ahead: Option<SemaphorePermit<'_>>,
    ) -> Result<(), HandOverError> {
        let span = Span::within_current(SpanKind::Client, || {
            let attributes = vec![
                KeyValue::new("network.protocol.name", "smtp"),
                KeyValue::new("server.address", self.settings.smtp_host.clone()),
                KeyValue::new("server.port", i64::from(self.settings.smtp_port)),
            ];
            ("send mail".into(), attributes)
        });
        let sending = self.send_in_time(call, envelope, content, ahead);
        let sent = span.instrument(sending).await;
        if sent.is_err() {
            span.fail();
        }
        sent
    }

    /// Every early return drops the connection, which closes it.
    async fn send_in_time(
        &self,
        call: &mut Call<'_>,
        envelope: &Envelope,
        content: Content,
        mut ahead: Option<SemaphorePermit<'_>>,
    ) -> Result<(), HandOverError> {
        let used = [KeyValue::new("state", "used")];
        let _used = CounterGuard::new(&self.connections, &used);
        let limit = self.settings.smtp_timeout;
        let mut sending = pin!(timeout(limit, self.send_envelope(envelope)));
        let sent = match timeout(SLOW_AFTER, &mut sending).await {
            Ok(sent) => sent,
            Err(_slow) => {
                ahead = None;
                sending.await
            }
        };
        let mut connection = sent.unwrap_or_else(|_| Err(HandOverError::failing(too_long(limit))))?;
        drop(ahead);
        // A server that is left alone with the content may have taken it, and would get it again.
        let limit = self.settings.smtp_answer_timeout;
        let sending = timeout(limit, connection.send_content(content, envelope));
        let late = |_| Err(HandOverError::Message(SmtpError::MayBeTaken(too_long(limit))));
        answered_if_slow(call, sending).await.unwrap_or_else(late)?;
        self.return_idle(connection);
        Ok(())
    }

    /// Sends the envelope: gives a connection on which the content may follow (RFC 5321, 3.3). Where a kept one is closed by now, another is
    /// taken.
    async fn send_envelope(&self, envelope: &Envelope) -> Result<Connection, HandOverError> {
        while let Some(IdleConnection {
            mut connection,
            since,
        }) = self.take_idle()
        {
            let is_good = since.elapsed() < STAYS_GOOD
                || timeout(REUSE_CHECK_TIMEOUT, connection.is_alive()).await == Ok(true);
            if !is_good {
                continue;
            }
            match connection.send_envelope(envelope).await {
                Ok(()) => return Ok(connection),
                Err((SmtpStage::Sender | SmtpStage::InternationalSender, _)) => {}
                Err((_, error)) => return Err(error),
            }
        }
        let mut connection = self.connect().await.map_err(|error| {
            // Whatever the server says before a message is about us, not about the message.
            HandOverError::Away(Away::Unreachable, without_addresses(&error.to_string(), envelope))
        })?;
        let sent = connection.send_envelope(envelope).await;
        sent.map(|()| connection).map_err(|(_, error)| error)
    }

    async fn connect(&self) -> Result<Connection, Box<dyn std::error::Error + Send + Sync>> {
        let settings = &self.settings;
        let from_the_start = match &self.tls {
            Tls::Implicit(config) => Some(config.clone()),
            Tls::None | Tls::Starttls(_) => None,
        };
        let within = CONNECT_TIMEOUT.min(settings.smtp_timeout);
        let stream = stream::connect(&settings.smtp_host, settings.smtp_port, within, from_the_start).await?;
        let starttls = match &self.tls {
            Tls::Starttls(tls) => Some(tls.clone()),
            Tls::None | Tls::Implicit(_) => None,
        };
        let mut connection = Connection::greet(stream, &self.hello, starttls).await?;
        if let (Some(user), Some(password)) = (&settings.smtp_user, &settings.smtp_password) {
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            connection.log_in(&credentials).await?;
        }
        Ok(connection)
    }

    fn take_idle(&self) -> Option<IdleConnection> {
        let mut idle = self.idle();
        let before = idle.len();
        idle.retain(|idle| idle.since.elapsed() < IDLE_TIMEOUT);
        let kept = idle.pop();
        self.count_idle(before, idle.len());
        kept
    }

    fn return_idle(&self, connection: Connection) {
        let mut idle = self.idle();
        let before = idle.len();
        idle.retain(|idle| idle.since.elapsed() < IDLE_TIMEOUT);
        if idle.len() < self.max_idle {
            idle.push(IdleConnection {
                connection,
                since: Instant::now(),
            });
        }
        self.count_idle(before, idle.len());
    }

    fn count_idle(&self, before: usize, after: usize) {
        let change = after as i64 - before as i64;
        self.connections.add(change, &[KeyValue::new("state", "idle")]);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the circuit breaker makes of it: of a server that is away, how long until it is asked again, unless the message
    /// fails alone.
    fn smtp_error(
        &self,
        mut call: Call<'_>,
        key: &str,
        envelope: &Envelope,
        error: HandOverError,
    ) -> SmtpError {
        let failing = Away::Failing { retry_after: None };
        let (away, reason) = match error {
            HandOverError::Deferred(reason) => {
                if self.deferred_messages.count(key) == Cause::Own {
                    call.answered();
                    return SmtpError::Deferred(reason);
                }
                (failing, reason)
            }
            HandOverError::RecipientDeferred(reason) => {
                let domain = envelope.to().first().map_or("", |address| address.domain());
                if self.deferred_domains.count(domain) == Cause::Own {
                    call.answered();
                    return SmtpError::Temporary(reason);
                }
                call.failed(failing, &reason);
                return SmtpError::DomainsPutOff(reason);
            }
            HandOverError::Message(error) => {
                call.answered();
                return error;
            }
            HandOverError::Interrupted(reason) => {
                // Others wait until the server takes one to its end; this one may have been taken, and keeps its backoff.
                call.failed(failing, &reason);
                return SmtpError::MayBeTaken(reason);
            }
            HandOverError::Away(away, reason) => (away, reason),
        };
        match call.failed(away, &reason) {
            Some(pause) => SmtpError::Away { reason, pause },
            None => SmtpError::Temporary(reason),
        }
    }
}

/// What comes of sending a content. A server that takes long over it is there all the same.
async fn answered_if_slow<T>(call: &mut Call<'_>, sending: impl Future<Output = T>) -> T {
    let mut sending = pin!(sending);
    if let Ok(sent) = timeout(SLOW_AFTER, sending.as_mut()).await {
        return sent;
    }
    call.answered();
    sending.await
}

fn too_long(limit: Duration) -> String {
    format!("it took longer than {} s", limit.as_secs())
}
