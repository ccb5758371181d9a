//! In-process mail server that fails on demand.

mod conversation;
mod mails;
mod plan;

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::sleep};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use self::{conversation::Conversation, plan::Plan};
pub use self::{
    mails::AcceptedMail,
    plan::{Behaviour, Encryption, Login, MailFault, ScriptedReply},
};
use crate::POLL_INTERVAL;

/// Mail server. Dropping it closes all connections.
pub struct MailServer {
    /// Port.
    pub port: u16,
    state: Arc<State>,
    _running: AbortOnDropHandle<io::Result<()>>,
}

struct State {
    behaviour: Behaviour,
    plan: Box<Plan>,
    fault: watch::Sender<MailFault>,
    release_held: CancellationToken,
    records: Mutex<Records>,
}

#[derive(Default)]
struct Records {
    counts: Counts,
    hellos: Vec<String>,
    attempts: HashMap<String, usize>,
    accepted: Vec<AcceptedMail>,
}

/// Counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Mails started.
    pub begun: usize,
    /// Mails held now.
    pub held: usize,
    /// Open connections.
    pub open_connections: usize,
    /// Login attempts.
    pub logins: usize,
    /// Mail and login commands without TLS.
    pub plaintext_commands: usize,
}

impl MailServer {
    /// Starts a server. `plan` scripts replies by recipient and attempt, from 1.
    pub async fn start(
        plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        Self::start_with(Behaviour::default(), 0, plan).await
    }

    /// Starts a server with this behaviour, on this port unless it is 0.
    pub async fn start_with(
        behaviour: Behaviour,
        port: u16,
        plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let state = Arc::new(State {
            behaviour,
            plan: Box::new(plan),
            fault: watch::Sender::default(),
            release_held: CancellationToken::new(),
            records: Mutex::default(),
        });
        Ok(Self {
            port: listener.local_addr()?.port(),
            state: state.clone(),
            _running: AbortOnDropHandle::new(tokio::spawn(serve(listener, state))),
        })
    }

    /// Sets the fault. Mails in progress keep their reply, but [`MailFault::Stopped`] closes all connections.
    pub fn fault(&self, fault: MailFault) {
        self.state.fault.send_replace(fault);
    }

    /// Accepts held mails, now and later.
    pub fn release_held(&self) {
        self.state.release_held.cancel();
    }

    /// Counters.
    pub fn counts(&self) -> Counts {
        self.state.records(|records| records.counts)
    }

    /// Client names from EHLO.
    pub fn hellos(&self) -> Vec<String> {
        self.state.records(|records| records.hellos.clone())
    }

    /// Delivery attempts.
    pub fn attempts(&self, recipient: &str) -> usize {
        self.state
            .records(|records| records.attempts.get(recipient).copied().unwrap_or_default())
    }
}

impl State {
    fn count(&self, count: impl FnOnce(&mut Counts)) {
        self.records(|records| count(&mut records.counts));
    }

    fn records<T>(&self, read: impl FnOnce(&mut Records) -> T) -> T {
        read(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn reply(&self, recipient: &str) -> ScriptedReply {
        let attempt = self.records(|records| {
            let attempts = records.attempts.entry(recipient.to_owned()).or_default();
            *attempts += 1;
            *attempts
        });
        match *self.fault.borrow() {
            MailFault::Each(reply) => reply,
            MailFault::None | MailFault::Stopped => (self.plan)(recipient, attempt),
        }
    }

    async fn fault_is(&self, is_it: impl Fn(&MailFault) -> bool) {
        // Fails only when the server is dropped.
        let mut fault = self.fault.subscribe();
        let _over = fault.wait_for(is_it).await;
    }
}

/// Listens, except during [`MailFault::Stopped`].
async fn serve(mut listener: TcpListener, state: Arc<State>) -> io::Result<()> {
    let address = listener.local_addr()?;
    loop {
        tokio::select! {
            () = state.fault_is(|fault| matches!(fault, MailFault::Stopped)) => {}
            ended = accept_all(listener, &state) => ended?,
        }
        state.fault_is(|fault| !matches!(fault, MailFault::Stopped)).await;
        listener = loop {
            match TcpListener::bind(address).await {
                Ok(listener) => break listener,
                // An outgoing connection may use the port for a moment.
                Err(_) => sleep(POLL_INTERVAL).await,
            }
        };
    }
}

async fn accept_all(listener: TcpListener, state: &Arc<State>) -> io::Result<()> {
    // Dropping the set aborts all sessions.
    let mut connections = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await?;
        state.count(|counts| counts.open_connections += 1);
        let state = state.clone();
        connections.spawn(async move {
            // Clients may disconnect at any time.
            let _ended = Conversation::run(socket, &state).await;
            state.count(|counts| counts.open_connections -= 1);
        });
        // Frees the memory of finished sessions.
        while connections.try_join_next().is_some() {}
    }
}
