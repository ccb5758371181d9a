//! Users of the broker, as in `users.conf`.

use std::collections::HashMap;

use clap::ValueEnum;
use uuid::Uuid;

/// Accounts and permissions as in production.
pub(super) const USERS: &str = include_str!("../../../../crates/broker/nats/users.conf");

/// A user of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum)]
pub enum User {
    /// The contact service
    Contact,
    /// The newsletter service
    Newsletter,
    /// The careers service
    Careers,
    /// The notifier
    Notifier,
    /// Other readers of events
    Reader,
    /// Backups
    Backup,
    /// `sitectl`
    Operator,
    /// Monitoring of the servers
    Monitor,
}

impl User {
    /// All users.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        Self::value_variants().iter().copied()
    }

    /// Login name.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

pub(super) type Passwords = HashMap<User, String>;

/// The server parses its variables as configuration, so passwords start with a letter and have only letters and digits.
pub(super) fn new_passwords() -> Passwords {
    let password = || format!("p{}", Uuid::new_v4().simple());
    User::all().map(|user| (user, password())).collect()
}

pub(super) fn variables(passwords: &Passwords) -> impl Iterator<Item = (String, &String)> {
    let name = |user: &User| format!("NATS_{}_PASSWORD", user.name().to_uppercase());
    passwords
        .iter()
        .map(move |(user, password)| (name(user), password))
}
