//! `sitectl subscribers`: exports and imports subscribers, and lifts suppressions.

mod export;
mod import;
mod lift;
mod lines;

use clap::Subcommand;

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Writes all subscribers to stdout, as CSV
    Export(export::ExportArgs),
    /// Imports people who consented or unsubscribed elsewhere; sends no mail
    Import(import::ImportArgs),
    /// Lifts the suppression of an address that bounced
    Lift(lift::LiftArgs),
}

/// # Errors
///
/// If the broker is unavailable, a record or a line of a table cannot be read, or an address to lift is not suppressed.
pub async fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Export(args) => export::export(args).await,
        Command::Import(args) => import::import(args).await,
        Command::Lift(args) => lift::lift(args).await,
    }
}
