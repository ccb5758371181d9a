//! Server and password for each attempt to connect to the broker.
//!
//! The password file is read again for each attempt, so a change needs no restart. The former password is
//! tried too, as the broker's servers reload one after the other.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_nats::{Auth, Server};
use uuid::Uuid;

use crate::settings::{ExposeSecret, Secret};

pub(crate) struct Attempts {
    user: Option<String>,
    file: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    /// Number of attempts. It starts at random, so that processes begin with different servers.
    made: usize,
    password: Option<Secret>,
    former: Option<Secret>,
}

impl Attempts {
    /// `file` is the password's source, if any.
    pub fn new(user: Option<String>, password: Option<Secret>, file: Option<PathBuf>) -> Self {
        let state = State {
            made: usize::from(Uuid::new_v4().as_bytes()[0]),
            password,
            former: None,
        };
        Self {
            user,
            file,
            state: Mutex::new(state),
        }
    }

    /// Next server in turn, once per password. The client itself prefers servers that never failed, even a
    /// partitioned one.
    pub fn next_server(&self, known: Vec<Server>) -> Option<Server> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if let (Some(read), Some(known)) = (self.file.as_deref().and_then(read), &mut state.password)
            && read.expose_secret() != known.expose_secret()
        {
            state.former = Some(std::mem::replace(known, read));
        }
        state.made = state.made.wrapping_add(1);
        let turn = state.made / (1 + usize::from(state.former.is_some()));
        let chosen = turn.checked_rem(known.len())?;
        known.into_iter().nth(chosen)
    }

    pub fn auth(&self) -> Auth {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let former = state.former.as_ref().filter(|_| state.made.is_multiple_of(2));
        let password = former.or(state.password.as_ref());
        let mut auth = Auth::new();
        auth.username.clone_from(&self.user);
        auth.password = password.map(|password| password.expose_secret().to_owned());
        auth
    }

    /// Pause before an attempt, from number 1. Five attempts fit into the second that a request waits for a
    /// connection.
    pub fn pause_before(attempt: usize) -> Duration {
        match attempt {
            0 | 1 => Duration::ZERO,
            again => Duration::from_millis(50 * (1 << (again - 2).min(5))),
        }
    }
}

/// Reads the password; `None` while the file is being replaced.
fn read(file: &Path) -> Option<Secret> {
    let text = Secret::from(fs::read_to_string(file).ok()?);
    let password = text.expose_secret().trim_end();
    (!password.is_empty()).then(|| password.into())
}

#[cfg(test)]
mod tests {
    use std::io;

    use tempfile::NamedTempFile;

    use super::*;

    fn known() -> Vec<Server> {
        let server = |address: &str| Server {
            addr: address.parse().expect("an address"),
            failed_attempts: usize::from(!address.contains('a')),
            did_connect: true,
            is_discovered: false,
            last_error: None,
        };
        ["nats://a:4222", "nats://b:4222", "nats://c:4222"]
            .map(server)
            .to_vec()
    }

    fn next(attempts: &Attempts, count: usize) -> Vec<(String, Option<String>)> {
        let mut made = Vec::new();
        for _ in 0..count {
            let server = attempts.next_server(known()).expect("one of them");
            made.push((server.addr.host().to_owned(), attempts.auth().password));
        }
        made.sort();
        made
    }

    #[test]
    fn new_and_former_passwords_are_tried_at_every_server() -> io::Result<()> {
        let file = NamedTempFile::new()?;
        fs::write(&file, "first\n")?;
        let path = file.path().to_owned();
        let attempts = Attempts::new(Some("contact".to_owned()), Some("first".into()), Some(path));
        let of = |passwords: &[&str]| {
            let attempt = |host: &str| {
                let tried = passwords.iter().map(|password| Some((*password).to_owned()));
                tried
                    .map(|password| (host.to_owned(), password))
                    .collect::<Vec<_>>()
            };
            ["a", "b", "c"].map(attempt).concat()
        };
        assert_eq!(next(&attempts, 3), of(&["first"]));
        fs::write(&file, "")?;
        assert_eq!(next(&attempts, 3), of(&["first"]));
        fs::write(&file, "second\n")?;
        for _ in 0..3 {
            assert_eq!(next(&attempts, 6), of(&["first", "second"]));
        }
        Ok(())
    }
}
