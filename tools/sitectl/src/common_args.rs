//! Arguments that most commands share.

use clap::Args;
use site_service::nats::NatsSettings;

/// Broker and output format.
#[derive(Args, Debug)]
pub struct CommonArgs {
    #[command(flatten)]
    pub nats: NatsSettings,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

/// An item of a list.
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
    /// If the work fails.
    pub async fn apply<T, E>(self, work: impl Future<Output = Result<T, E>>) -> Result<Option<T>, E> {
        if self.yes { work.await.map(Some) } else { Ok(None) }
    }
}
