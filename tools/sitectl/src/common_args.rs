//! Arguments that most commands share.

use std::time::Duration;

use clap::Args;
use site_service::{drain, error_line, nats::NatsSettings};
use tokio::time::sleep;

const RETRY: Duration = Duration::from_secs(60);

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
    /// Name in the list
    pub name: String,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Repetition of a command that no scheduler runs.
#[derive(Args, Debug, Clone, Copy)]
pub struct Repeat {
    /// Repeats the command after this many hours; prints a failure, and retries after a minute
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(1..))]
    every_hours: Option<u32>,
}

impl Repeat {
    /// Runs the work once, or repeats it until SIGTERM.
    ///
    /// # Errors
    ///
    /// If the work fails and is not repeated.
    pub async fn run(self, work: impl AsyncFn() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let Some(hours) = self.every_hours else {
            return work().await;
        };
        let stop = drain::on_signal()?;
        let repeating = async {
            loop {
                let pause = match work().await {
                    Ok(()) => Duration::from_secs(u64::from(hours) * 60 * 60),
                    Err(error) => {
                        eprintln!("{}", crate::printable(&error_line(error.as_ref())));
                        RETRY
                    }
                };
                sleep(pause).await;
            }
        };
        let _stopped: Option<()> = stop.run_until_cancelled(repeating).await;
        Ok(())
    }
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
