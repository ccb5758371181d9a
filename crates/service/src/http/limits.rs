//! Limits of a server's connections: how many there are, and how long one may stand still.

use std::{num::NonZeroUsize, time::Duration};

/// How many connections may be open at the same time where no setting says otherwise.
pub const DEFAULT_MAX_CONNECTIONS: usize = 4096;

/// Limits of a server's connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Open at the same time; others wait.
    pub connections: usize,
    /// Open at the same time from one address; others are closed at once. For a server that visitors reach without a proxy, or
    /// through one that tells of them by the PROXY protocol: behind another all of them come from its address.
    pub per_address: Option<NonZeroUsize>,
    /// How long a connection may stand still.
    pub deadlines: Deadlines,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: DEFAULT_MAX_CONNECTIONS,
            per_address: None,
            deadlines: Deadlines::default(),
        }
    }
}

/// How long a connection may stand still. How long a body may take is its handler's to limit, who knows what is sent.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// From a connection's first moment to its first request, and for each request line with its headers. Over HTTP/1.1 this is
    /// also how long it may be idle.
    pub head: Duration,
    /// From one answer to the next request.
    pub idle: Duration,
    /// For the client to take some more of its answer.
    pub write: Duration,
    /// For an idle client to let go (over HTTP/2, to heed GOAWAY).
    pub closing: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            write: Duration::from_secs(60),
            closing: Duration::from_secs(30),
        }
    }
}
