//! What most commands need to know.

use clap::Args;
use site_service::nats::NatsSettings;

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

/// One of a list, by its name.
#[derive(Args, Debug)]
pub struct NamedArgs {
    /// Its name in the list
    pub name: String,
    #[command(flatten)]
    pub common: CommonArgs,
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

impl Mode {
    /// Does the work where it is to be done; what is not awaited does nothing.
    ///
    /// # Errors
    ///
    /// As the work.
    pub async fn apply<T, E>(self, work: impl Future<Output = Result<T, E>>) -> Result<Option<T>, E> {
        match self {
            Self::Apply => work.await.map(Some),
            Self::DryRun => Ok(None),
        }
    }
}

impl ModeArgs {
    /// As `--yes` says.
    pub fn mode(self) -> Mode {
        if self.yes { Mode::Apply } else { Mode::DryRun }
    }
}
