//! A mail server that misbehaves as it is told to: what no real one does on demand.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// What becomes of one attempt to hand over a mail.
#[derive(Clone, Copy)]
pub enum Answer {
    /// It is taken.
    Take,
    /// These words answer the recipient's address.
    ToRecipient(&'static str),
    /// These words answer the whole mail.
    ToContent(&'static str),
    /// Nothing is said after the content until the server is told to go on.
    Hold,
    /// The connection ends within the content.
    HangUp,
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
    plan: Box<Plan>,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    attempts: HashMap<String, usize>,
    taken: Vec<(String, String)>,
    held: usize,
    connections: usize,
    logins: usize,
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
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let desk = Arc::new(FrontDesk {
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
            let _ended = converse(socket, &desk, &go_on).await;
        });
    }
}

/// As much of RFC 5321 as a client needs to hand over a mail to one recipient.
async fn converse(socket: TcpStream, desk: &FrontDesk, go_on: &CancellationToken) -> anyhow::Result<()> {
    let mut client = BufStream::new(socket);
    let mut to = None;
    say(&mut client, "220 mail.test ESMTP").await?;
    while let Some(line) = hear(&mut client).await? {
        match line.split([' ', ':']).next().unwrap_or_default() {
            "RCPT" => {
                let (recipient, answer) = addressed(&line, desk)?;
                match answer {
                    Answer::ToRecipient(words) => say(&mut client, words).await?,
                    _ => {
                        to = Some((recipient, answer));
                        say(&mut client, "250 OK").await?;
                    }
                }
            }
            "DATA" => {
                let (recipient, answer) = to.take().context("DATA before RCPT")?;
                say(&mut client, "354 Go ahead").await?;
                receive(&mut client, recipient, answer, desk, go_on).await?;
            }
            "EHLO" => say(&mut client, "250-mail.test\r\n250 AUTH PLAIN LOGIN").await?,
            "AUTH" => {
                desk.book(|book| book.logins += 1);
                say(&mut client, "535 5.7.8 Authentication credentials invalid").await?;
            }
            "QUIT" => return say(&mut client, "221 Bye").await,
            _ => say(&mut client, "250 OK").await?,
        }
    }
    Ok(())
}

fn addressed(line: &str, desk: &FrontDesk) -> anyhow::Result<(String, Answer)> {
    let (_, address) = line.split_once('<').context("an address without <")?;
    let (address, _) = address.split_once('>').context("an address without >")?;
    Ok((address.to_owned(), desk.answer(address)))
}

async fn receive(
    client: &mut BufStream<TcpStream>,
    recipient: String,
    answer: Answer,
    desk: &FrontDesk,
    go_on: &CancellationToken,
) -> anyhow::Result<()> {
    let mut content = String::new();
    loop {
        let line = hear(client)
            .await?
            .context("the client went away within a mail")?;
        anyhow::ensure!(!matches!(answer, Answer::HangUp), "hung up");
        if line == "." {
            break;
        }
        // RFC 5321, 4.5.2
        content += line.strip_prefix('.').unwrap_or(&line);
        content += "\n";
    }
    if let Answer::ToContent(words) = answer {
        return say(client, words).await;
    }
    if matches!(answer, Answer::Hold) && !go_on.is_cancelled() {
        desk.book(|book| book.held += 1);
        let told = tokio::select! {
            () = go_on.cancelled() => true,
            _gone = hear(client) => false,
        };
        desk.book(|book| book.held -= 1);
        anyhow::ensure!(told, "the client lost its patience");
    }
    desk.book(|book| book.taken.push((recipient, content)));
    say(client, "250 Taken").await
}

async fn hear(client: &mut BufStream<TcpStream>) -> anyhow::Result<Option<String>> {
    let mut line = String::new();
    let read = client.read_line(&mut line).await?;
    Ok((read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned()))
}

async fn say(client: &mut BufStream<TcpStream>, words: &str) -> anyhow::Result<()> {
    client.write_all(words.as_bytes()).await?;
    client.write_all(b"\r\n").await?;
    Ok(client.flush().await?)
}
