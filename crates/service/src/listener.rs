//! Ports that a process listens on.

use std::net::SocketAddr;

use anyhow::Context;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;

/// Takes a port of the setting of this name. Port 0 takes any free one.
///
/// # Errors
///
/// If the address cannot be listened on.
pub(crate) async fn listen(setting: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    allow_open_files();
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("The setting {setting} is wrong: {address} cannot be listened on"))
}

/// Raises the limit of open files as far as the system lets us: many begin with 1,024, and a process that has none left can neither
/// answer for its health nor call a service.
fn allow_open_files() {
    let limit = getrlimit(Resource::RLIMIT_NOFILE);
    let raised = limit.and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}
