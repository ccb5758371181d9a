//! Handing messages to the mail server over a few kept connections.
//!
//! lettre's own pool is not used: its timeout covers connecting only, and a connection
//! whose message was given up half-way goes back into the pool, where the next message
//! would take the answer to the last one for its own. Here a connection is kept only
//! after a message that went through.

mod refusal;
mod settings;

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use lettre::{
    Message,
    address::Envelope,
    transport::smtp::{
        Error,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, TlsParameters},
        commands::{Data, Mail, Rcpt},
        extension::{ClientId, MailParameter},
    },
};
use opentelemetry::{KeyValue, metrics::UpDownCounter};
use site_service::{
    meters::{self, Counted},
    settings::ExposeSecret,
};
use tokio::{sync::Semaphore, time::timeout};

use self::refusal::{About, explain, without_addresses};
pub use self::{
    refusal::SmtpError,
    settings::{Authorities, SmtpSettings, TlsMode},
};

/// Servers close idle connections after minutes; we let go well before.
const IDLE: Duration = Duration::from_secs(30);
/// How long a kept connection may take to show that it is still good.
const STILL_THERE: Duration = Duration::from_secs(2);
/// How long a connection may take to be told goodbye after a refusal.
const GOODBYE: Duration = Duration::from_secs(1);
/// How many connections a channel has.
const PLACES: usize = 4;
/// How long a message may take before its place goes to the next one.
const SLOW: Duration = Duration::from_secs(2);
/// How many slow messages may go on aside, of all channels together: with every place
/// taken, 48 connections, and mail servers often allow a client 50.
const ASIDE: usize = 20;

/// The way to the mail server.
pub struct Smtp {
    settings: SmtpSettings,
    tls: Option<TlsParameters>,
    hello: ClientId,
    /// Connections between two messages, the latest last.
    idle: Mutex<Vec<Idle>>,
    most_idle: usize,
    aside: Semaphore,
    waiting: UpDownCounter<i64>,
    connections: UpDownCounter<i64>,
}

struct Idle {
    connection: AsyncSmtpConnection,
    since: Instant,
}

/// One channel's share of the connections: whatever hangs on another's holds up nothing here.
pub struct Lane(Semaphore);

impl Lane {
    /// A lane with all its places free.
    pub fn new() -> Self {
        Self(Semaphore::new(PLACES))
    }
}

impl Smtp {
    /// A way for this many lanes; no connection is opened yet.
    pub fn new(settings: &SmtpSettings, lanes: usize) -> anyhow::Result<Self> {
        let tls = match settings.smtp_tls {
            TlsMode::None => None,
            TlsMode::Starttls | TlsMode::Implicit => {
                let mut tls = TlsParameters::builder(settings.smtp_host.clone());
                if let Some(authorities) = &settings.smtp_authorities {
                    tls = tls.add_root_certificate(authorities.certificates());
                }
                let tls = tls.build();
                Some(tls.context("The setting SMTP_TLS cannot be met: there is no usable root certificate")?)
            }
        };
        Ok(Self {
            settings: settings.clone(),
            tls,
            hello: ClientId::default(),
            idle: Mutex::default(),
            most_idle: PLACES * lanes,
            aside: Semaphore::new(ASIDE),
            waiting: meters::meter()
                .i64_up_down_counter("site.smtp.waiting")
                .with_unit("{mail}")
                .with_description("Mails that wait for a place at the mail server")
                .build(),
            connections: meters::meter()
                .i64_up_down_counter("site.smtp.connections")
                .with_unit("{connection}")
                .with_description("Connections to the mail server")
                .build(),
        })
    }

    /// Hands a message over in a place of the lane's. One that is slow gives its place up
    /// and goes on aside, so that a few that hang do not stop the lane.
    pub async fn send(&self, lane: &Lane, message: &Message) -> Result<(), SmtpError> {
        let content = on_the_wire(&message.formatted());
        let waiting = Counted::new(&self.waiting, &[]);
        let place = lane.0.acquire().await;
        drop(waiting);
        let make_way = async {
            tokio::time::sleep(SLOW).await;
            let _aside = self.aside.acquire().await;
            drop(place);
            std::future::pending().await
        };
        tokio::select! {
            sent = self.send_in_time(message.envelope(), &content) => sent,
            never = make_way => never,
        }
    }

    /// Says goodbye on the connections that are kept.
    pub async fn close(&self, patience: Duration) {
        let kept = std::mem::take(&mut *self.idle());
        let goodbyes = async {
            for mut idle in kept {
                idle.connection.abort().await;
            }
        };
        if timeout(patience, goodbyes).await.is_err() {
            tracing::debug!("the mail server was left without a goodbye");
        }
    }

    /// Every early return drops the connection, which closes it.
    async fn send_in_time(&self, envelope: &Envelope, content: &str) -> Result<(), SmtpError> {
        let used = [KeyValue::new("state", "used")];
        let _used = Counted::new(&self.connections, &used);
        let seconds = self.settings.smtp_timeout_seconds;
        let mut connection = in_time(seconds, self.introduce(envelope)).await?;
        // A server that is left alone with the content may have taken it, and would get it again.
        let seconds = self.settings.smtp_answer_seconds;
        in_time(seconds, async {
            let answer = connection.command(content).await;
            settle(&mut connection, answer, About::Message, envelope).await
        })
        .await?;
        self.keep(connection);
        Ok(())
    }

    /// A connection on which the content may follow (RFC 5321, 3.3).
    async fn introduce(&self, envelope: &Envelope) -> Result<AsyncSmtpConnection, SmtpError> {
        let mut connection = self.begin(envelope).await?;
        for recipient in envelope.to() {
            let rcpt = Rcpt::new(recipient.clone(), Vec::new());
            let answer = connection.command(rcpt).await;
            settle(&mut connection, answer, About::Recipient, envelope).await?;
        }
        let answer = connection.command(Data).await;
        settle(&mut connection, answer, About::Message, envelope).await?;
        Ok(connection)
    }

    /// A connection on which a mail has begun. Its first command shows whether a kept one is still good; if it is
    /// not, nothing is lost by another.
    async fn begin(&self, envelope: &Envelope) -> Result<AsyncSmtpConnection, SmtpError> {
        let mail = Mail::new(envelope.from().cloned(), parameters(envelope));
        while let Some(mut kept) = self.kept() {
            if let Ok(Ok(_)) = timeout(STILL_THERE, kept.command(mail.clone())).await {
                return Ok(kept);
            }
        }
        let mut connection = self.connect().await.map_err(|error| {
            // Whatever the server says before a message is about us, not about the message.
            SmtpError::NotNow(without_addresses(&error.to_string(), envelope))
        })?;
        let about = if parameters(envelope).is_empty() {
            About::Us
        } else {
            About::Message
        };
        let answer = connection.command(mail).await;
        settle(&mut connection, answer, about, envelope).await?;
        Ok(connection)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, Error> {
        let settings = &self.settings;
        let from_the_start = self
            .tls
            .clone()
            .filter(|_| settings.smtp_tls == TlsMode::Implicit);
        let mut connection = AsyncSmtpConnection::connect_tokio1(
            (settings.smtp_host.as_str(), settings.smtp_port),
            None,
            &self.hello,
            from_the_start,
            None,
        )
        .await?;
        if let (TlsMode::Starttls, Some(tls)) = (settings.smtp_tls, &self.tls) {
            connection.starttls(tls.clone(), &self.hello).await?;
        }
        if let (Some(user), Some(password)) = (&settings.smtp_user, &settings.smtp_password) {
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await?;
        }
        Ok(connection)
    }

    fn kept(&self) -> Option<AsyncSmtpConnection> {
        let mut idle = self.idle();
        let before = idle.len();
        idle.retain(|idle| idle.since.elapsed() < IDLE);
        let kept = idle.pop().map(|idle| idle.connection);
        self.count_idle(before, idle.len());
        kept
    }

    fn keep(&self, connection: AsyncSmtpConnection) {
        let mut idle = self.idle();
        let before = idle.len();
        idle.retain(|idle| idle.since.elapsed() < IDLE);
        if idle.len() < self.most_idle {
            idle.push(Idle {
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

    /// Host and port, for spans.
    pub fn address(&self) -> (&str, u16) {
        (&self.settings.smtp_host, self.settings.smtp_port)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn in_time<T>(seconds: u64, work: impl Future<Output = Result<T, SmtpError>>) -> Result<T, SmtpError> {
    let done = timeout(Duration::from_secs(seconds), work).await;
    done.unwrap_or_else(|_| Err(SmtpError::NotNow(format!("it took longer than {seconds} s"))))
}

/// What an answer means; after a refusal the server is told goodbye.
async fn settle<T>(
    connection: &mut AsyncSmtpConnection,
    answer: Result<T, Error>,
    about: About,
    envelope: &Envelope,
) -> Result<(), SmtpError> {
    let Err(error) = answer else {
        return Ok(());
    };
    let answered = error.status().is_some();
    if answered && timeout(GOODBYE, connection.abort()).await.is_err() {
        tracing::debug!("the mail server did not answer a goodbye");
    }
    Err(explain(&error, about, envelope))
}

/// A message with its end, ready to be written in one piece (RFC 5321, 4.5.2). lettre writes the end by itself, and
/// until the server acknowledges what came before, which it delays for 40 ms, the system keeps the end back.
fn on_the_wire(message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    let stuffed = message.replace("\r\n.", "\r\n..");
    let first = if message.starts_with('.') { "." } else { "" };
    format!("{first}{stuffed}\r\n.\r\n")
}

/// An address beyond ASCII needs a server that knows such (RFC 6531); one that does not
/// refuses the parameter. The content is ASCII: lettre encodes it.
fn parameters(envelope: &Envelope) -> Vec<MailParameter> {
    let mut addresses = envelope.to().iter().chain(envelope.from());
    if addresses.all(|address| AsRef::<str>::as_ref(address).is_ascii()) {
        Vec::new()
    } else {
        vec![MailParameter::SmtpUtfEight]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_with_a_dot_does_not_end_the_message() {
        assert_eq!(
            on_the_wire(b".one\r\n.\r\n..two\r\nthree."),
            "..one\r\n..\r\n...two\r\nthree.\r\n.\r\n"
        );
    }
}
