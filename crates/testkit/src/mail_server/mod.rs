//! A mail server that misbehaves as it is told to: what no real one does on demand.

mod conversation;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{net::TcpListener, task::JoinSet};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::{CancellationToken, DropGuard};

use self::conversation::Conversation;

/// What becomes of one attempt to hand over a mail.
#[derive(Clone, Copy)]
pub enum Answer {
    /// It is taken.
    Take,
    /// It is taken, but that is said only after so many seconds.
    TakeAfter(u64),
    /// These words answer the recipient's address.
    ToRecipient(&'static str),
    /// These words answer the recipient's address, and nothing is said afterwards.
    RefuseAndHang(&'static str),
    /// These words answer the whole mail.
    ToContent(&'static str),
    /// Nothing is said after the content until the server is told to go on.
    Hold,
    /// The connection ends within the content.
    HangUp,
}

/// How it receives whoever comes.
#[derive(Default)]
pub struct Manners {
    /// How connections are encrypted.
    pub encryption: Encryption,
    /// What becomes of a login.
    pub login: Login,
    /// What answers our own address, where it is refused.
    pub to_sender: Option<&'static str>,
}

/// How connections are encrypted.
#[derive(Default)]
pub enum Encryption {
    /// Not at all.
    #[default]
    None,
    /// After the command STARTTLS.
    Starttls(TlsAcceptor),
    /// From the first byte on.
    Implicit(TlsAcceptor),
}

/// What becomes of a login.
#[derive(Default)]
pub enum Login {
    /// Nobody is let in.
    #[default]
    Refused,
    /// One user is let in, by one mechanism.
    Taken {
        /// PLAIN or LOGIN.
        mechanism: &'static str,
        /// The user's name.
        user: &'static str,
        /// The user's password.
        password: &'static str,
    },
}

type Plan = dyn Fn(&str, usize) -> Answer + Send + Sync;

/// The server. Dropping it ends all connections.
pub struct MailServer {
    port: u16,
    desk: Arc<FrontDesk>,
    go_on: CancellationToken,
    _stop: DropGuard,
}

struct FrontDesk {
    manners: Manners,
    plan: Box<Plan>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    begun: usize,
    attempts: HashMap<String, usize>,
    taken: Vec<(String, String)>,
    held: usize,
    connections: usize,
    logins: usize,
    overheard: usize,
}

impl MailServer {
    /// Starts one on a free port. `plan` is asked at each attempt, by recipient and the
    /// number of the attempt, from 1.
    pub async fn start(plan: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> anyhow::Result<Self> {
        Self::start_at(0, plan).await
    }

    /// The same at this port.
    pub async fn start_at(
        port: u16,
        plan: impl Fn(&str, usize) -> Answer + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        Self::start_with(Manners::default(), port, plan).await
    }

    /// The same with manners of its own.
    pub async fn start_with(
        manners: Manners,
        port: u16,
        plan: impl Fn(&str, usize) -> Answer + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let desk = Arc::new(FrontDesk {
            manners,
            plan: Box::new(plan),
            book: Mutex::default(),
        });
        let (stop, go_on) = (CancellationToken::new(), CancellationToken::new());
        tokio::spawn(serve(listener, desk.clone(), go_on.clone(), stop.clone()));
        Ok(Self {
            port,
            desk,
            go_on,
            _stop: stop.drop_guard(),
        })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Takes what is held, and what is to be held from now on.
    pub fn go_on(&self) {
        self.go_on.cancel();
    }

    /// How many mails are held at this moment.
    pub fn held(&self) -> usize {
        self.desk.book(|book| book.held)
    }

    /// How often a mail was begun, whoever it was for.
    pub fn begun(&self) -> usize {
        self.desk.book(|book| book.begun)
    }

    /// How often a mail to this address was tried.
    pub fn attempts(&self, recipient: &str) -> usize {
        self.desk
            .book(|book| book.attempts.get(recipient).copied().unwrap_or_default())
    }

    /// The mails that were taken for this address.
    pub fn taken(&self, recipient: &str) -> Vec<String> {
        self.desk.book(|book| {
            let taken = book.taken.iter().filter(|(to, _)| to == recipient);
            taken.map(|(_, content)| content.clone()).collect()
        })
    }

    /// How often somebody tried to log in.
    pub fn logins(&self) -> usize {
        self.desk.book(|book| book.logins)
    }

    /// How many commands about a mail or a login could be read by anyone on the way.
    pub fn overheard(&self) -> usize {
        self.desk.book(|book| book.overheard)
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.desk.book(|book| book.connections)
    }
}

impl FrontDesk {
    fn book<T>(&self, read: impl FnOnce(&mut Book) -> T) -> T {
        read(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn answer(&self, recipient: &str) -> Answer {
        let attempt = self.book(|book| {
            let attempts = book.attempts.entry(recipient.to_owned()).or_default();
            *attempts += 1;
            *attempts
        });
        (self.plan)(recipient, attempt)
    }
}

async fn serve(
    listener: TcpListener,
    desk: Arc<FrontDesk>,
    go_on: CancellationToken,
    stop: CancellationToken,
) {
    // Dropping the set ends what is still being talked about.
    let mut connections = JoinSet::new();
    while let Some(Ok((socket, _))) = stop.run_until_cancelled(listener.accept()).await {
        desk.book(|book| book.connections += 1);
        let (desk, go_on) = (desk.clone(), go_on.clone());
        connections.spawn(async move {
            // A client that goes away is no concern of the server's.
            let _ended = Conversation::hold(socket, &desk, &go_on).await;
        });
    }
}
