//! Users of the broker, as `users.conf` names them.

use std::collections::HashMap;

/// A user of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// Every user.
    pub const ALL: [Self; 8] = [
        Self::Contact,
        Self::Newsletter,
        Self::Careers,
        Self::Notifier,
        Self::Reader,
        Self::Backup,
        Self::Operator,
        Self::Monitor,
    ];

    /// The name to log in with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Newsletter => "newsletter",
            Self::Careers => "careers",
            Self::Notifier => "notifier",
            Self::Reader => "reader",
            Self::Backup => "backup",
            Self::Operator => "operator",
            Self::Monitor => "monitor",
        }
    }
}

/// Passwords of all users.
pub(super) struct Passwords {
    /// Of each user that has no other.
    pub(super) usual: String,
    changed: HashMap<User, String>,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self {
            usual: new_password(),
            changed: HashMap::new(),
        }
    }

    pub(super) fn of(&self, user: User) -> &str {
        self.changed.get(&user).unwrap_or(&self.usual)
    }

    pub(super) fn change(&mut self, users: &[User]) {
        self.changed
            .extend(users.iter().map(|user| (*user, new_password())));
    }

    /// The environment variables that `users.conf` reads.
    pub(super) fn env(&self) -> impl Iterator<Item = (String, &str)> {
        User::ALL.into_iter().map(|user| {
            let name = format!("NATS_{}_PASSWORD", user.name().to_uppercase());
            (name, self.of(user))
        })
    }
}

/// Begins with a letter and has only letters and digits: the server parses its variables as configuration.
fn new_password() -> String {
    format!("p{}", uuid::Uuid::new_v4().simple())
}
