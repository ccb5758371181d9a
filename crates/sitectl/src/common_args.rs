//! What most commands need to know.

use clap::Args;
use site_service::nats::NatsSettings;
use visitor::{EmailAddress, PersonIds, PersonKey, PersonKeys};

/// The broker, and how to answer.
#[derive(Args, Debug)]
pub struct CommonArgs {
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// Answers in JSON
    #[arg(long)]
    pub json: bool,
}

/// Whether something is done that cannot be undone: what takes this is named in `docs/operations.md`.
#[derive(Args, Debug, Clone, Copy)]
pub struct ModeArgs {
    /// Does it; without this it is a dry run
    #[arg(long)]
    yes: bool,
}

/// Whether something that cannot be undone is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It is.
    Apply,
    /// It is only told what would be done.
    DryRun,
}

impl ModeArgs {
    /// As `--yes` says.
    pub fn mode(self) -> Mode {
        if self.yes { Mode::Apply } else { Mode::DryRun }
    }
}

/// What finds a person.
#[derive(Args, Debug)]
pub struct PersonKeyArgs {
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    person_key: PersonKey,
    /// The key of person ids before it, while it changes: who is known under it is found
    #[arg(long, env = "PERSON_KEY_FORMER", hide_env_values = true, value_parser = PersonKey::new)]
    person_key_former: Option<PersonKey>,
}

impl PersonKeyArgs {
    /// The ids of the person behind an address.
    pub fn person(&self, email: &EmailAddress) -> PersonIds {
        PersonKeys::new(self.person_key.clone(), self.person_key_former.clone()).person(email)
    }
}
