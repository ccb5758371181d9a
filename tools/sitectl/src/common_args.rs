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

/// Whether a command with irreversible effects makes changes.
#[derive(Args, Debug, Clone, Copy)]
pub struct Mode {
    /// Makes the changes; without this it is a dry run
    #[arg(long)]
    pub yes: bool,
}

impl Mode {
    /// Awaits the work, or drops it in a dry run.
    ///
    /// # Errors
    ///
    /// As the work.
    pub async fn apply<T, E>(self, work: impl Future<Output = Result<T, E>>) -> Result<Option<T>, E> {
        if self.yes { work.await.map(Some) } else { Ok(None) }
    }
}
