//! SMTP: hands messages to the mail server, each channel over a few connections, each of which carries one mail or a short burst.
//!
//! lettre's pool is not used: its timeout covers connecting only, and a connection whose message was given up half-way goes back into it,
//! where the next message would take the answer to the last one for its own.

mod connection;
mod deferrals;
mod error;
mod hold;
mod limits;
mod refusal;
mod settings;

use std::{
    pin::pin,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use lettre::{Message, address::Envelope};
use opentelemetry::{KeyValue, metrics::UpDownCounter, trace::SpanKind};
use site_broker::{Away, Call, CircuitBreaker, Delivery};
use site_service::{
    drain::CancellationToken,
    metrics::{self, CounterGuard},
    trace::Span,
};
use tokio::{sync::Semaphore, time::timeout};

use self::{
    connection::{Connection, Connector, Content},
    deferrals::{Cause, Deferrals},
    error::{HandOverError, SmtpStage},
    hold::{Hold, Verdict},
    limits::{AttachmentBudget, FirstMails, MAX_SLOW, Priority},
    refusal::Refusal,
};
pub use self::{
    error::SmtpError,
    limits::ChannelLimit,
    settings::{SmtpSettings, TlsMode},
};
use crate::{delivery_error::DeliveryError, storage::Handover};

/// How long a connection waits for the next mail of a burst.
const BURST_PAUSE: Duration = Duration::from_secs(1);
/// How long a message may take before its connection no longer counts among its channel's.
const SLOW_AFTER: Duration = Duration::from_secs(2);

/// The mail server, as all channels use it.
pub struct Smtp {
    settings: SmtpSettings,
    connector: Connector,
    /// Connections between two mails of a burst, and since when; the latest last.
    between: Mutex<Vec<(Connection, Instant)>>,
    slow: Semaphore,
    /// The messages that were put off, whoever they were for.
    deferred_messages: Deferrals,
    /// The domains to which messages were put off.
    deferred_domains: Deferrals,
    hold: Hold,
    /// Cancelled when no message may be begun any more.
    stop: CancellationToken,
    attachments: AttachmentBudget,
    first_mails: FirstMails,
    breaker: CircuitBreaker,
    waiting: UpDownCounter<i64>,
    connections: UpDownCounter<i64>,
}

impl Smtp {
    /// For this server, and mails from this domain; no connection is opened yet.
    ///
    /// # Errors
    ///
    /// If the connections are to be encrypted, and there is no usable root certificate; or that domain is no host's name.
    pub fn new(settings: &SmtpSettings, sender_domain: &str) -> anyhow::Result<Self> {
        Ok(Self {
            settings: settings.clone(),
            connector: Connector::new(settings, sender_domain)?,
            between: Mutex::default(),
            slow: Semaphore::new(MAX_SLOW),
            deferred_messages: Deferrals::default(),
            deferred_domains: Deferrals::default(),
            hold: Hold::new(),
            stop: CancellationToken::new(),
            attachments: AttachmentBudget::new(),
            first_mails: FirstMails::default(),
            breaker: CircuitBreaker::new("mail-server"),
            waiting: metrics::meter()
                .i64_up_down_counter("site.smtp.waiting")
                .with_unit("{mail}")
                .with_description("Mails that wait for an SMTP connection, or for room for their attachment")
                .build(),
            connections: metrics::meter()
                .i64_up_down_counter("site.smtp.connections")
                .with_unit("{connection}")
                .with_description("Connections to the mail server that carry a mail")
                .build(),
        })
    }

    /// Whether the mail server is there, and who may ask while it is not.
    pub fn breaker(&self) -> &CircuitBreaker {
        &self.breaker
    }

    /// Waits until the mail server may be asked for this delivery.
    ///
    /// # Errors
    ///
    /// If that is not before the backoff is over, or the service stops before. What is held for a reason of ours is not given up for that.
    pub async fn wait(&self, delivery: &Delivery) -> Result<(), DeliveryError> {
        let waited = self.breaker.wait(delivery).await;
        waited.map_err(|given_back| match self.hold.is_held() {
            true => DeliveryError::Held(given_back),
            false => given_back.into(),
        })
    }

    /// Sends the message that `write` makes, unless there is none to be sent any more, within its channel's connection limit. One that
    /// is slow leaves the limit and goes on, so that a few that hang do not stop the channel.
    ///
    /// A channel whose mails let all others go first begins one while none of those is waiting or under way.
    ///
    /// It is written only when it can be sent, and there is room for its attachment of this size: a message that waited would be held in
    /// memory, and there may be hundreds. `key` tells its delivery from others.
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
        write: impl FnOnce() -> Writing,
    ) -> Result<Handover, E> {
        let waiting = CounterGuard::new(&self.waiting, &[]);
        let first = (limit.priority == Priority::First).then(|| self.first_mails.begin());
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
            let Some(message) = self.unless_stopped(write()).await?? else {
                return Ok(Handover::Before);
            };
            let envelope = message.envelope().clone();
            let content = Content {
                message: message.formatted().into(),
                share,
            };
            drop(message);
            if let Err(error) = self.hand_over(&mut call, &envelope, content).await {
                return Err(self
                    .smtp_error(call, key, limit.priority, &envelope, error)
                    .into());
            }
            self.deferred_messages.clear();
            self.deferred_domains.clear();
            self.hold.taken();
            call.answered();
            Ok(Handover::Sent)
        };
        tokio::select! {
            sent = sending => sent,
            never = leave_limit => never,
        }
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

    /// Says goodbye on the connections whose burst is over, and from [`Self::begin_no_more`] on all of them.
    pub async fn end_bursts(&self) {
        while self.unless_stopped(tokio::time::sleep(BURST_PAUSE)).await.is_ok() {
            let over: Vec<_> = self
                .between()
                .extract_if(.., |(_, since)| since.elapsed() >= BURST_PAUSE)
                .collect();
            quit(over).await;
        }
        let left = std::mem::take(&mut *self.between());
        quit(left).await;
    }

    async fn hand_over(
        &self,
        call: &mut Call<'_>,
        envelope: &Envelope,
        content: Content,
    ) -> Result<(), HandOverError> {
        let span = Span::within_current(SpanKind::Client, || {
            let attributes = vec![
                KeyValue::new("network.protocol.name", "smtp"),
                KeyValue::new("server.address", self.settings.smtp_host.clone()),
                KeyValue::new("server.port", i64::from(self.settings.smtp_port)),
            ];
            ("send mail".into(), attributes)
        });
        let _connection = CounterGuard::new(&self.connections, &[]);
        let sent = span.instrument(self.send_in_time(call, envelope, content)).await;
        if sent.is_err() {
            span.fail();
        }
        sent
    }

    /// Every early return drops the connection, which closes it. What comes after the server took the content is no failure.
    async fn send_in_time(
        &self,
        call: &mut Call<'_>,
        envelope: &Envelope,
        content: Content,
    ) -> Result<(), HandOverError> {
        let limit = self.settings.smtp_timeout;
        let sent = timeout(limit, self.send_envelope(envelope)).await;
        let mut connection = sent.unwrap_or_else(|_| Err(HandOverError::Failing(too_long(limit))))?;
        // A server that is left alone with the content may have taken it, and would get it again.
        let limit = self.settings.smtp_answer_timeout;
        let sending = timeout(limit, connection.send_content(content, envelope));
        let sent = answered_if_slow(call, sending).await;
        sent.unwrap_or_else(|_| Err(HandOverError::Unanswered(too_long(limit))))?;
        if !self.stop.is_cancelled() {
            self.between().push((connection, Instant::now()));
        }
        Ok(())
    }

    /// Sends the envelope, and gives the connection on which the content may follow. Where the server has closed one between two mails,
    /// it is sent on a new one.
    async fn send_envelope(&self, envelope: &Envelope) -> Result<Connection, HandOverError> {
        let kept = self.between().pop();
        if let Some((mut connection, since)) = kept
            && since.elapsed() < BURST_PAUSE
        {
            match connection.send_envelope(envelope).await {
                Ok(()) => return Ok(connection),
                Err((SmtpStage::Sender, _)) => {}
                Err((_, error)) => return Err(error),
            }
        }
        let mut connection = self.connector.connect().await?;
        let sent = connection.send_envelope(envelope).await;
        sent.map(|()| connection).map_err(|(_, error)| error)
    }

    fn between(&self) -> MutexGuard<'_, Vec<(Connection, Instant)>> {
        self.between.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the circuit breaker makes of it: of a server that is away, how long until it is asked again, unless the message
    /// fails alone.
    fn smtp_error(
        &self,
        mut call: Call<'_>,
        key: &str,
        priority: Priority,
        envelope: &Envelope,
        error: HandOverError,
    ) -> SmtpError {
        let failing = Away::Failing { retry_after: None };
        let domain = envelope.to().first().map_or("", |address| address.domain());
        let (away, reason) = match error {
            HandOverError::Refused(refusal, reason) => {
                return self.refused(call, key, priority, domain, refusal, reason);
            }
            HandOverError::Deferred(reason) => {
                if self.deferred_messages.count(key) == Cause::Own {
                    call.answered();
                    return SmtpError::Deferred(reason);
                }
                (failing, reason)
            }
            HandOverError::RecipientDeferred(reason) => {
                if self.deferred_domains.count(domain) == Cause::Own {
                    call.answered();
                    return SmtpError::Temporary(reason);
                }
                call.failed(failing, &reason);
                return SmtpError::DomainsPutOff(reason);
            }
            HandOverError::Unanswered(reason) => {
                call.answered();
                return SmtpError::MayBeTaken(reason);
            }
            HandOverError::Interrupted(reason) => {
                // Others wait until the server takes one to its end; this one may have been taken, and keeps its backoff.
                call.failed(failing, &reason);
                return SmtpError::MayBeTaken(reason);
            }
            HandOverError::Failing(reason) => (failing, reason),
            HandOverError::Unreachable(reason) => (Away::Unreachable, reason),
        };
        match call.failed(away, &reason) {
            Some(pause) => SmtpError::Away { reason, pause },
            None => SmtpError::Temporary(reason),
        }
    }

    fn refused(
        &self,
        mut call: Call<'_>,
        key: &str,
        priority: Priority,
        domain: &str,
        refusal: Refusal,
        reason: String,
    ) -> SmtpError {
        let verdict = self.hold.refused(refusal, &reason, key, priority, domain);
        if let Verdict::Hold(pause) = verdict {
            let retry_after = Some(pause);
            let pause = call.failed(Away::Failing { retry_after }, &reason);
            return SmtpError::Held { reason, pause };
        }
        call.answered();
        match (verdict, refusal) {
            (Verdict::Again, _) => SmtpError::Unconfirmed(reason),
            (_, Refusal::NoSuchAddress) => SmtpError::NoSuchAddress(reason),
            _ => SmtpError::Refused(reason),
        }
    }
}

async fn quit(connections: Vec<(Connection, Instant)>) {
    let quitting = connections
        .into_iter()
        .map(|(mut connection, _)| async move { connection.quit().await });
    join_all(quitting).await;
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
