//! Mail server inside this process, which keeps the mails and fails on demand.

mod conversation;
mod mails;
mod state;

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{net::TcpListener, sync::watch, task::JoinSet, time::sleep};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use self::state::{AcceptedMail, Behaviour, Encryption, Login, MailFault, ScriptedReply};
use self::{conversation::Conversation, state::State};
use crate::POLL_INTERVAL;

/// The server. Dropping it ends all connections.
pub struct MailServer {
    port: u16,
    state: Arc<State>,
    release_held: CancellationToken,
    _stop: DropGuard,
}

impl MailServer {
    /// Starts one on a free port that accepts every mail.
    pub async fn start_accepting() -> anyhow::Result<Self> {
        Self::start(|_, _| ScriptedReply::Take).await
    }

    /// Starts one on a free port. `plan` gives the reply to each attempt, by the recipient and the number of the attempt,
    /// from 1.
    pub async fn start(
        plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        Self::start_at(0, plan).await
    }

    /// The same at this port.
    pub async fn start_at(
        port: u16,
        plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        Self::start_with(Behaviour::default(), port, plan).await
    }

    /// The same with this behaviour.
    pub async fn start_with(
        behaviour: Behaviour,
        port: u16,
        plan: impl Fn(&str, usize) -> ScriptedReply + Send + Sync + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let port = listener.local_addr()?.port();
        let state = Arc::new(State {
            behaviour,
            plan: Box::new(plan),
            fault: watch::Sender::default(),
            records: Mutex::default(),
        });
        let (stop, release_held) = (CancellationToken::new(), CancellationToken::new());
        let serving = serve(listener, state.clone(), release_held.clone());
        tokio::spawn(stop.clone().run_until_cancelled_owned(serving));
        Ok(Self {
            port,
            state,
            release_held,
            _stop: stop.drop_guard(),
        })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets its fault. Mails that are under way end as they began, except with [`MailFault::Away`].
    pub fn fault(&self, fault: MailFault) {
        self.state.fault.send_replace(fault);
    }

    /// Accepts the mails that are held, and those that would be held from now on.
    pub fn release_held(&self) {
        self.release_held.cancel();
    }

    /// Number of mails that are held now.
    pub fn held(&self) -> usize {
        self.state.records(|records| records.held)
    }

    /// Number of mails that were begun.
    pub fn begun(&self) -> usize {
        self.state.records(|records| records.begun)
    }

    /// Number of attempts to send to this address.
    pub fn attempts(&self, recipient: &str) -> usize {
        self.state
            .records(|records| records.attempts.get(recipient).copied().unwrap_or_default())
    }

    /// Identities of all mails that were accepted.
    pub fn accepted_mails(&self) -> Vec<AcceptedMail> {
        self.state.records(|records| records.accepted.clone())
    }

    /// Those that were accepted after the first so many.
    pub fn accepted_after(&self, count: usize) -> Vec<AcceptedMail> {
        self.state.records(|records| records.accepted[count..].to_vec())
    }

    /// Contents of the mails that were accepted for this address; none with [`Keep::Identity`](crate::Keep::Identity).
    pub fn accepted(&self, recipient: &str) -> Vec<String> {
        self.state.records(|records| {
            let accepted = records.contents.iter().filter(|(to, _)| to == recipient);
            accepted.map(|(_, content)| content.clone()).collect()
        })
    }

    /// Removes and returns the mails that were accepted, each with its recipient.
    pub fn take_accepted(&self) -> Vec<(String, String)> {
        self.state
            .records(|records| std::mem::take(&mut records.contents))
    }

    /// Number of logins, accepted or not.
    pub fn logins(&self) -> usize {
        self.state.records(|records| records.logins)
    }

    /// Number of commands of a mail or a login that came without encryption.
    pub fn plaintext_commands(&self) -> usize {
        self.state.records(|records| records.plaintext_commands)
    }

    /// Number of open connections.
    pub fn open_connections(&self) -> usize {
        self.state.records(|records| records.open_connections)
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.state.records(|records| records.connections)
    }
}

/// Listens, except during [`MailFault::Away`].
async fn serve(listener: TcpListener, state: Arc<State>, release_held: CancellationToken) -> io::Result<()> {
    let address = listener.local_addr()?;
    let mut fault = state.fault.subscribe();
    let mut listener = Some(listener);
    loop {
        let listening = match listener.take() {
            Some(listener) => listener,
            None => bind_again(address).await,
        };
        tokio::select! {
            _away = fault.wait_for(|fault| *fault == MailFault::Away) => {}
            () = accept_all(listening, &state, &release_held) => {}
        }
        let _back = fault.wait_for(|fault| *fault != MailFault::Away).await;
    }
}

async fn bind_again(address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return listener,
            // An outgoing connection may have the port for a moment.
            Err(_) => sleep(POLL_INTERVAL).await,
        }
    }
}

async fn accept_all(listener: TcpListener, state: &Arc<State>, release_held: &CancellationToken) {
    // Dropping the set ends all conversations.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        state.records(|records| {
            records.connections += 1;
            records.open_connections += 1;
        });
        let (state, release_held) = (state.clone(), release_held.clone());
        connections.spawn(async move {
            // A client may leave at any time.
            let _ended = Conversation::run(socket, &state, &release_held).await;
            state.records(|records| records.open_connections -= 1);
        });
        // Frees the memory of conversations that ended.
        while connections.try_join_next().is_some() {}
    }
}
