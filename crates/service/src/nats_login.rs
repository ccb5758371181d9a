//! Server and login for each attempt to connect to the broker.
//!
//! The file of the password or credentials is read again for each attempt, so a change needs no restart. The
//! former content is tried too, as the broker's servers reload one after the other.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_nats::{Auth, AuthError, Server};
use nkeys::KeyPair;
use uuid::Uuid;

use crate::{
    nats::NatsSettings,
    settings::{ExposeSecret, Secret},
};

const NO_CREDENTIALS: &str = "it has no JWT and NKEY seed, as a .creds file has";

pub(crate) struct Attempts {
    /// User name; `None` if the secret is a credentials file.
    user: Option<String>,
    file: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    /// Number of attempts, plus a random start, so that processes begin with different servers.
    made: usize,
    /// Password or credentials.
    secret: Option<Secret>,
    former: Option<Secret>,
}

impl Attempts {
    pub fn new(settings: &NatsSettings) -> Self {
        let (user, secret, file) = match &settings.nats_credentials {
            Some(credentials) => (None, Some(credentials), &settings.nats_credentials_file),
            None => (
                settings.nats_user.clone(),
                settings.nats_password.as_ref(),
                &settings.nats_password_file,
            ),
        };
        let state = State {
            made: usize::from(Uuid::new_v4().as_bytes()[0]),
            secret: secret.cloned(),
            former: None,
        };
        Self {
            user,
            file: file.clone(),
            state: Mutex::new(state),
        }
    }

    /// Next server in turn, tried once per secret. The client's own choice prefers servers that never failed,
    /// even a partitioned one.
    pub fn next_server(&self, known: Vec<Server>) -> Option<Server> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        if let (Some(read), Some(known)) = (self.file.as_deref().and_then(read), &mut state.secret)
            && read.expose_secret() != known.expose_secret()
        {
            state.former = Some(std::mem::replace(known, read));
        }
        state.made = state.made.wrapping_add(1);
        let turn = state.made / (1 + usize::from(state.former.is_some()));
        let chosen = turn.checked_rem(known.len())?;
        known.into_iter().nth(chosen)
    }

    /// Login at the chosen server, which sent the nonce.
    pub fn auth(&self, nonce: &[u8]) -> Result<Auth, AuthError> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let former = state.former.as_ref().filter(|_| state.made.is_multiple_of(2));
        let secret = former
            .or(state.secret.as_ref())
            .map(|secret| secret.expose_secret());
        let mut auth = Auth::new();
        if self.user.is_some() {
            auth.username.clone_from(&self.user);
            auth.password = secret.map(str::to_owned);
        } else if let Some(credentials) = secret {
            let (jwt, key) = jwt_and_key(credentials).ok_or_else(|| AuthError::new(NO_CREDENTIALS))?;
            auth.jwt = Some(jwt.to_owned());
            auth.signature = Some(key.sign(nonce).map_err(AuthError::new)?);
        }
        Ok(auth)
    }

    /// Pause before an attempt; the first has number 1. Five attempts fit into the second that a request
    /// waits for a connection.
    pub fn pause_before(attempt: usize) -> Duration {
        match attempt {
            0 | 1 => Duration::ZERO,
            again => Duration::from_millis(50 * (1 << (again - 2).min(5))),
        }
    }
}

/// Reads the secret; `None` while the file is being replaced.
fn read(file: &Path) -> Option<Secret> {
    let text = Secret::from(fs::read_to_string(file).ok()?);
    let secret = text.expose_secret().trim_end();
    (!secret.is_empty()).then(|| secret.into())
}

/// Parses the content of a `.creds` file.
///
/// # Errors
///
/// If the JWT or the key is missing or unreadable.
pub(crate) fn credentials(raw: &str) -> Result<Secret, &'static str> {
    jwt_and_key(raw).map(|_| raw.into()).ok_or(NO_CREDENTIALS)
}

/// JWT and private key of the user. Each is on the line after its `-----BEGIN`.
fn jwt_and_key(credentials: &str) -> Option<(&str, KeyPair)> {
    let after = |name: &str| {
        let mut lines = credentials.lines().map(str::trim);
        lines.find(|line| line.starts_with("-----BEGIN") && line.contains(name))?;
        lines.next()
    };
    Some((after("JWT")?, KeyPair::from_seed(after("SEED")?).ok()?))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use tempfile::NamedTempFile;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        nats: NatsSettings,
    }

    fn settings(flags: &[&str]) -> Result<NatsSettings, clap::Error> {
        Ok(Flags::try_parse_from([&["service"], flags].concat())?.nats)
    }

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

    fn next(attempts: &Attempts, count: usize) -> anyhow::Result<Vec<(String, Option<String>)>> {
        let mut made = Vec::new();
        for _ in 0..count {
            let server = attempts.next_server(known()).expect("one of them");
            made.push((server.addr.host().to_owned(), attempts.auth(b"nonce")?.password));
        }
        made.sort();
        Ok(made)
    }

    #[test]
    fn new_and_former_passwords_are_tried_at_every_server() -> anyhow::Result<()> {
        let file = NamedTempFile::new()?;
        fs::write(&file, "first\n")?;
        let attempts = Attempts::new(&NatsSettings {
            nats_password_file: Some(file.path().to_owned()),
            ..settings(&["--nats-user=contact", "--nats-password=first"])?
        });
        let of = |passwords: &[&str]| {
            let attempt = |host: &str| {
                let tried = passwords.iter().map(|password| Some((*password).to_owned()));
                tried
                    .map(|password| (host.to_owned(), password))
                    .collect::<Vec<_>>()
            };
            ["a", "b", "c"].map(attempt).concat()
        };
        assert_eq!(next(&attempts, 3)?, of(&["first"]));
        fs::write(&file, "")?;
        assert_eq!(next(&attempts, 3)?, of(&["first"]));
        fs::write(&file, "second\n")?;
        for _ in 0..3 {
            assert_eq!(next(&attempts, 6)?, of(&["first", "second"]));
        }
        Ok(())
    }

    fn credentials_of(jwt: &str, user: &KeyPair) -> Result<String, nkeys::error::Error> {
        Ok(format!(
            "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n\
             NKEY Seed printed below can be used to sign and prove identity.\n\n\
             -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
            user.seed()?
        ))
    }

    #[test]
    fn replaced_credentials_sign_the_servers_nonce() -> anyhow::Result<()> {
        let (first, second) = (KeyPair::new_user(), KeyPair::new_user());
        let file = NamedTempFile::new()?;
        let flag = format!("--nats-credentials={}", credentials_of("first", &first)?);
        let attempts = Attempts::new(&NatsSettings {
            nats_credentials_file: Some(file.path().to_owned()),
            ..settings(&["--nats-user=contact", "--nats-password=unused", &flag])?
        });
        let login = || -> anyhow::Result<String> {
            attempts.next_server(known());
            let auth = attempts.auth(b"nonce")?;
            assert_eq!((auth.username, auth.password), (None, None));
            let jwt = auth.jwt.unwrap_or_default();
            let key = if jwt == "first" { &first } else { &second };
            key.verify(b"nonce", &auth.signature.unwrap_or_default())?;
            Ok(jwt)
        };
        assert_eq!(login()?, "first");
        fs::write(&file, credentials_of("second", &second)?)?;
        let mut both = [login()?, login()?];
        both.sort();
        assert_eq!(both, ["first", "second"]);
        Ok(())
    }

    #[test]
    fn credentials_without_a_jwt_or_a_key_are_refused() -> anyhow::Result<()> {
        let whole = credentials_of("jwt", &KeyPair::new_user())?;
        assert!(credentials(whole.trim_end()).is_ok());
        for wrong in [
            "",
            "hunter2",
            &whole.replace("JWT", "TXT"),
            &whole.replace("\nSU", "\nXX"),
        ] {
            assert_eq!(credentials(wrong).err(), Some(NO_CREDENTIALS), "{wrong}");
        }
        Ok(())
    }
}
