//! Users of the broker, as `users.conf` names them.

use std::collections::HashMap;

/// A user of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// The contact service.
    Contact,
    /// The newsletter service.
    Newsletter,
    /// The careers service.
    Careers,
    /// The notifier.
    Notifier,
    /// Whoever reads events for other purposes.
    Reader,
    /// Whoever makes backups.
    Backup,
    /// `sitectl`.
    Operator,
    /// Whoever watches the servers.
    Monitor,
}

impl User {
    /// Every user there is.
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

/// The passwords of all users.
pub(super) struct Passwords {
    /// Of whoever has no other.
    pub(super) usual: String,
    /// Of users who have another one by now.
    changed: HashMap<&'static str, String>,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self {
            usual: new_password(),
            changed: HashMap::new(),
        }
    }

    pub(super) fn of(&self, user: User) -> &str {
        self.changed.get(user.name()).unwrap_or(&self.usual)
    }

    pub(super) fn change(&mut self, users: &[User]) {
        self.changed
            .extend(users.iter().map(|user| (user.name(), new_password())));
    }

    /// As the servers' environment, where `users.conf` looks for them.
    pub(super) fn env(&self) -> impl Iterator<Item = (String, &str)> {
        User::ALL.into_iter().map(|user| {
            let name = format!("NATS_{}_PASSWORD", user.name().to_uppercase());
            (name, self.of(user))
        })
    }
}

/// It begins with a letter and has no other characters than letters and digits: the server reads its variables as
/// configuration.
pub(super) fn new_password() -> String {
    format!("p{}", uuid::Uuid::new_v4().simple())
}
