//! Open files: a connection is one, and many systems begin with a limit of 1,024, which the process itself may raise.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What a process has open besides: files of the site, connections to services, its health port, what the runtime needs.
const OTHERS: u64 = 512;

/// Raises the limit so that so many connections leave room for all else: a process without a file to open can neither answer for
/// its health nor call a service.
pub fn allow(connections: usize) {
    let wanted = connections as u64 + OTHERS;
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| {
        let limit = wanted.min(hard).max(soft);
        setrlimit(Resource::RLIMIT_NOFILE, limit, hard).map(|()| limit)
    });
    match raised {
        Ok(limit) if limit >= wanted => {}
        Ok(limit) => tracing::warn!(
            limit,
            wanted,
            "the system allows fewer open files than the connections need"
        ),
        Err(error) => tracing::warn!(%error, "the limit of open files cannot be raised"),
    }
}
