//! A mail server that misbehaves as it is told to: what no real one does on demand.

mod conversation;
mod state;

use std::sync::{Arc, Mutex};

use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

pub use self::state::{Behaviour, Encryption, Login, ScriptedReply};
use self::{conversation::Conversation, state::State};

/// The server. Dropping it ends all connections.
pub struct MailServer {
    port: u16,
    state: Arc<State>,
    release_held: CancellationToken,
    _stop: DropGuard,
}

impl MailServer {
    /// Starts one on a free port. `plan` is asked at each attempt, by recipient and the
    /// number of the attempt, from 1.
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
            records: Mutex::default(),
        });
        let (stop, release_held) = (CancellationToken::new(), CancellationToken::new());
        tokio::spawn(serve(listener, state.clone(), release_held.clone(), stop.clone()));
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

    /// Releases the mails that are held, and those that are to be held from now on: they are accepted.
    pub fn release_held(&self) {
        self.release_held.cancel();
    }

    /// How many mails are held at this moment.
    pub fn held(&self) -> usize {
        self.state.records(|records| records.held)
    }

    /// How often a mail was begun, whoever it was for.
    pub fn begun(&self) -> usize {
        self.state.records(|records| records.begun)
    }

    /// How often a mail to this address was tried.
    pub fn attempts(&self, recipient: &str) -> usize {
        self.state
            .records(|records| records.attempts.get(recipient).copied().unwrap_or_default())
    }

    /// The mails that were accepted for this address.
    pub fn accepted(&self, recipient: &str) -> Vec<String> {
        self.state.records(|records| {
            let accepted = records.accepted.iter().filter(|(to, _)| to == recipient);
            accepted.map(|(_, content)| content.clone()).collect()
        })
    }

    /// How often somebody tried to log in.
    pub fn logins(&self) -> usize {
        self.state.records(|records| records.logins)
    }

    /// How many commands about a mail or a login came without encryption.
    pub fn plaintext_commands(&self) -> usize {
        self.state.records(|records| records.plaintext_commands)
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.state.records(|records| records.connections)
    }
}

async fn serve(
    listener: TcpListener,
    state: Arc<State>,
    release_held: CancellationToken,
    stop: CancellationToken,
) {
    // Dropping the set ends what is still being talked about.
    let mut connections = JoinSet::new();
    while let Some(Ok((socket, _))) = stop.run_until_cancelled(listener.accept()).await {
        state.records(|records| records.connections += 1);
        let (state, release_held) = (state.clone(), release_held.clone());
        connections.spawn(async move {
            // A client that goes away is no concern of the server's.
            let _ended = Conversation::run(socket, &state, &release_held).await;
        });
    }
}
