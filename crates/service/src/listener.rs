//! Listening ports.

use std::net::SocketAddr;

use anyhow::Context;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::TcpListener;

/// Binds the address. Port 0 takes any free port.
pub(crate) async fn listen(setting: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    allow_open_files();
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("The setting {setting} is wrong: {address} cannot be listened on"))
}

/// Raises the limit of open files. With the default of 1,024, many connections could make health checks fail.
fn allow_open_files() {
    let limit = getrlimit(Resource::RLIMIT_NOFILE);
    let raised = limit.and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}
